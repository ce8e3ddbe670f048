//! Bytes of a trace: decompressed as they are read, cut into lines or records.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::error::{InputError, ZstdError};
use crate::error::{Location, WorkloadError};

/// Longest line, in bytes; no format comes near it.
const MAX_LINE_BYTES: usize = 16 << 10;
/// Bytes asked of the decompressor at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// How a trace is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Plain bytes.
    None,
    /// gzip: begins 1f 8b.
    Gzip,
    /// Zstandard: begins 28 b5 2f fd, or with a skippable frame.
    Zstd,
    /// xz: begins fd 37 7a 58 5a 00.
    Xz,
    /// bzip2: begins `BZh`, a digit, and the mark of a block or of the end.
    Bzip2,
}

enum Decoder<R: Read> {
    Plain(BufReader<R>),
    Gzip(MultiGzDecoder<BufReader<R>>),
    Zstd(Zstd<BufReader<R>>),
    Xz(Box<XzReader<BufReader<R>>>),
    Bzip2(MultiBzDecoder<BufReader<R>>),
}

/// The frames of a Zstandard file, one after the other, checksums verified.
struct Zstd<B> {
    input: B,
    frame: Box<FrameDecoder>,
    /// Whether the frame has begun.
    open: bool,
}

/// A trace that is being read.
pub(super) struct Source<R: Read> {
    file: String,
    decoder: Decoder<R>,
    compression: Compression,
    buf: Vec<u8>,
    /// Bytes of `buf` that are used up.
    start: usize,
    /// Offset of `buf[start]` in the decompressed trace.
    offset: u64,
    line: u64,
    ended: bool,
}

impl<R: Read> Source<R> {
    pub(super) fn open(file: &str, input: R) -> Result<Source<R>, WorkloadError> {
        let mut input = BufReader::with_capacity(CHUNK_BYTES, input);
        let head = input
            .fill_buf()
            .map_err(|error| input_error(Location::whole(file), InputError::Open(error)))?;
        let compression = match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x31,
                0x41,
                0x59,
                0x26,
                0x53,
                0x59,
                ..,
            ]
            | [
                b'B',
                b'Z',
                b'h',
                b'1'..=b'9',
                0x17,
                0x72,
                0x45,
                0x38,
                0x50,
                0x90,
                ..,
            ] => Compression::Bzip2,
            _ => Compression::None,
        };
        let decoder = match compression {
            Compression::None => Decoder::Plain(input),
            Compression::Gzip => Decoder::Gzip(MultiGzDecoder::new(input)),
            Compression::Zstd => Decoder::Zstd(Zstd {
                input,
                frame: Box::new(FrameDecoder::new()),
                open: false,
            }),
            Compression::Xz => Decoder::Xz(Box::new(XzReader::new(input, true))),
            Compression::Bzip2 => Decoder::Bzip2(MultiBzDecoder::new(input)),
        };
        Ok(Source {
            file: file.to_owned(),
            decoder,
            compression,
            buf: Vec::new(),
            start: 0,
            offset: 0,
            line: 0,
            ended: false,
        })
    }

    pub(super) fn compression(&self) -> Compression {
        self.compression
    }

    /// Where the line or record lies that was given out last, where `record_bytes` is 0 for lines.
    pub(super) fn place(&self, record_bytes: u64) -> Location {
        match record_bytes {
            0 => Location::line(&self.file, self.line),
            bytes => Location::byte(&self.file, self.offset.saturating_sub(bytes)),
        }
    }

    pub(super) fn whole(&self) -> Location {
        Location::whole(&self.file)
    }

    /// The next bytes, at least `wanted` of them unless the trace ends before; nothing is used up.
    pub(super) fn peek(&mut self, wanted: usize) -> Result<&[u8], WorkloadError> {
        while self.buf.len() - self.start < wanted && !self.ended {
            self.more()?;
        }
        Ok(&self.buf[self.start..])
    }

    /// Leaves out the mark of UTF-8 at the beginning of a text, as editors and spreadsheets write it.
    pub(super) fn skip_mark(&mut self) -> Result<(), WorkloadError> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        if self.offset == 0 && self.peek(MARK.len())?.starts_with(MARK) {
            self.start += MARK.len();
            self.offset += MARK.len() as u64;
        }
        Ok(())
    }

    fn more(&mut self) -> Result<(), WorkloadError> {
        self.buf.drain(..self.start);
        self.start = 0;
        let used = self.buf.len();
        self.buf.resize(used + CHUNK_BYTES, 0);
        let target = &mut self.buf[used..];
        let read = match &mut self.decoder {
            Decoder::Plain(input) => read_some(input, target).map_err(InputError::Read),
            Decoder::Gzip(input) => read_some(input, target).map_err(InputError::Gzip),
            Decoder::Zstd(input) => input.read(target).map_err(InputError::Zstd),
            Decoder::Xz(input) => read_some(input, target).map_err(InputError::Xz),
            Decoder::Bzip2(input) => read_some(input, target).map_err(InputError::Bzip2),
        };
        let n = *read.as_ref().unwrap_or(&0);
        self.buf.truncate(used + n);
        self.ended = n == 0;
        match read {
            Ok(_) => Ok(()),
            Err(why) => {
                let at = self.offset + self.buf.len() as u64;
                Err(input_error(Location::byte(&self.file, at), why))
            }
        }
    }

    /// The next line without its end, or `None` at the end of the trace.
    pub(super) fn next_line(&mut self) -> Result<Option<&[u8]>, WorkloadError> {
        let mut searched = 0;
        let end = loop {
            let bytes = &self.buf[self.start..];
            if let Some(at) = bytes[searched..].iter().position(|&b| b == b'\n') {
                break searched + at;
            }
            searched = bytes.len();
            if searched > MAX_LINE_BYTES {
                return Err(input_error(
                    Location::line(&self.file, self.line + 1),
                    InputError::LongLine(MAX_LINE_BYTES),
                ));
            }
            if self.ended {
                if bytes.is_empty() {
                    return Ok(None);
                }
                break searched;
            }
            self.more()?;
        };
        let from = self.start;
        let used = (end + 1).min(self.buf.len() - from);
        self.start += used;
        self.offset += used as u64;
        self.line += 1;
        let line = &self.buf[from..from + end];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The next `bytes` bytes; fewer at the end of the trace, none after it.
    pub(super) fn next_record(&mut self, bytes: usize) -> Result<&[u8], WorkloadError> {
        let n = self.peek(bytes)?.len().min(bytes);
        let from = self.start;
        self.start += n;
        self.offset += n as u64;
        Ok(&self.buf[from..from + n])
    }
}

fn input_error(place: Location, why: InputError) -> WorkloadError {
    WorkloadError::Input { place, why }
}

fn read_some(input: &mut impl Read, target: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(target) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl<B: BufRead> Zstd<B> {
    fn read(&mut self, target: &mut [u8]) -> Result<usize, ZstdError> {
        loop {
            if !self.open {
                if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                match self.frame.reset(&mut self.input) {
                    Ok(()) => self.open = true,
                    Err(FrameDecoderError::ReadFrameHeaderError(
                        ReadFrameHeaderError::SkipFrame { length, .. },
                    )) => {
                        let length = u64::from(length);
                        let mut frame = self.input.by_ref().take(length);
                        if io::copy(&mut frame, &mut io::sink())? < length {
                            return Err(ZstdError::CutShort);
                        }
                        continue;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            if self.frame.can_collect() > 0 {
                return Ok(self.frame.read(target)?);
            }
            if self.frame.is_finished() {
                let (stored, computed) = (
                    self.frame.get_checksum_from_data(),
                    self.frame.get_calculated_checksum(),
                );
                if stored.is_some() && stored != computed {
                    return Err(ZstdError::Checksum);
                }
                self.open = false;
            } else {
                self.frame
                    .decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1))?;
            }
        }
    }
}

//! Content of a file as it was when it was first read, and a reader that refuses another one.
//!
//! A trace is read for its checksum, and again by every run. A result is kept by that checksum, so it has to be of the
//! bytes that the runs have read.

use std::io::{self, Read};

use thiserror::Error;

use crate::files;

/// Length of the pieces that have checksums of their own (bytes).
const BLOCK_BYTES: u64 = 1 << 20;

/// The content of a file: a checksum of each of its blocks.
#[derive(Debug)]
pub(crate) struct Content {
    blocks: Vec<[u8; 16]>,
}

/// A file that is read again has other bytes.
#[derive(Debug, Error)]
#[error("the file was changed after the command had begun; run the command again")]
struct Changed;

impl Content {
    /// The content of `input`, which is read to its end.
    pub(crate) fn of(mut input: impl Read) -> io::Result<Content> {
        let (mut blocks, mut block) = (Vec::new(), Vec::new());
        while fill(&mut input, &mut block)? {
            blocks.push(files::checksum_bytes(&block));
        }
        Ok(Content { blocks })
    }

    /// A checksum of all of it.
    pub(crate) fn checksum(&self) -> String {
        files::checksum(self.blocks.as_flattened())
    }

    /// Reads `input`, which has to have this content: of a block that has not, no byte is read.
    pub(crate) fn again<R: Read>(&self, input: R) -> Again<'_, R> {
        Again {
            content: self,
            input,
            block: Vec::new(),
            used: 0,
            read: 0,
        }
    }
}

/// The next block of `input`. Whether there is one.
fn fill(input: &mut impl Read, block: &mut Vec<u8>) -> io::Result<bool> {
    block.clear();
    input.take(BLOCK_BYTES).read_to_end(block)?;
    Ok(!block.is_empty())
}

/// A reader of a content that is known.
pub(crate) struct Again<'a, R> {
    content: &'a Content,
    input: R,
    block: Vec<u8>,
    /// Bytes of `block` that are used up.
    used: usize,
    read: usize,
}

impl<R: Read> Read for Again<'_, R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if self.used == self.block.len() {
            self.used = 0;
            let known = self.content.blocks.get(self.read);
            let read = fill(&mut self.input, &mut self.block)?;
            let found = read.then(|| files::checksum_bytes(&self.block));
            if found.as_ref() != known {
                self.block.clear();
                return Err(io::Error::other(Changed));
            }
            self.read += usize::from(read);
        }
        let bytes = &self.block[self.used..];
        let n = bytes.len().min(target.len());
        target[..n].copy_from_slice(&bytes[..n]);
        self.used += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i * 7 % 251) as u8).collect()
    }

    /// A content is read as it is, however it ends; one byte more, less or other is noticed before it is read.
    #[test]
    fn model_what_is_read_again_is_what_was_read_first() {
        let block = BLOCK_BYTES as usize;
        for len in [0, 1, block - 1, block, block + 1, 3 * block + 7] {
            let first = bytes(len);
            let content = Content::of(&first[..]).unwrap();
            let read = |input: &[u8]| {
                let mut all = Vec::new();
                let end = content.again(input).read_to_end(&mut all);
                (all, end.map_err(|error| error.to_string()))
            };
            let (all, end) = read(&first);
            assert!(end.is_ok() && all == first, "{len} bytes");
            let longer = [&first[..], b"x"].concat();
            let mut others = vec![longer];
            if len > 0 {
                let mut other = first.clone();
                other[len - 1] ^= 1;
                others.extend([first[..len - 1].to_vec(), other]);
            }
            for other in others {
                let checksum = Content::of(&other[..]).unwrap().checksum();
                assert_ne!(checksum, content.checksum(), "{len} bytes");
                let (all, end) = read(&other);
                assert!(end.unwrap_err().contains("changed"), "{len} bytes");
                assert!(first.starts_with(&all), "{len} bytes");
            }
        }
    }
}

//! Damage to a text or binary input, as files get it: bytes lost, doubled, replaced; numbers that fit no range.

use firstread_core::Stream;

/// What stands in place of a number, or among the text.
const PIECES: [&[u8]; 22] = [
    b"0",
    b"-1",
    b"1",
    b"511",
    b"4294967296",
    b"18446744073709551615",
    b"18446744073709551616",
    b"99999999999999999999999999",
    b"1e400",
    b"-0.0",
    b"NaN",
    b"inf",
    b"0x1000",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\r\n",
    b"\xff\xfe",
    b"\"",
    b"[",
    b"=",
    b",,",
    b"\xf0\x9f\x92\xa5",
];

/// The damage of one seed.
#[derive(Clone, Copy, Debug)]
pub struct Damage(Stream);

impl Damage {
    /// The damage that `draws` gives.
    pub fn new(draws: Stream) -> Damage {
        Damage(draws)
    }

    /// `sample`, damaged in one to four places.
    pub fn of(&self, sample: &[u8]) -> Vec<u8> {
        let mut bytes = sample.to_vec();
        for i in 0..1 + self.0.named("places").below(4) {
            once(&mut bytes, self.0.at(i));
        }
        bytes
    }
}

/// Damages `bytes` once.
fn once(bytes: &mut Vec<u8>, draws: Stream) {
    let draw = |n: u64, below: usize| draws.at(n).below(below.max(1) as u64) as usize;
    let at = draw(0, bytes.len() + 1);
    let end = (at + draw(1, 24)).min(bytes.len());
    match draw(2, 9) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        3 if at < bytes.len() => bytes[at] = draw(3, 256) as u8,
        4 if at < bytes.len() => bytes[at] ^= 1 << draw(3, 8),
        5 => drop(bytes.splice(at..at, PIECES[draw(3, PIECES.len())].iter().copied())),
        // A number goes for one that fits nowhere.
        6 | 7 => {
            let from = bytes[at..].iter().position(u8::is_ascii_digit);
            let from = at + from.unwrap_or(0);
            let digits = bytes[from..].iter().take_while(|b| b.is_ascii_digit());
            let to = from + digits.count();
            let piece = PIECES[draw(3, PIECES.len())].iter().copied();
            bytes.splice(from..to, piece);
        }
        // A line goes elsewhere.
        _ => {
            let mut lines: Vec<Vec<u8>> =
                bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            let n = lines.len();
            lines.swap(draw(3, n), draw(4, n));
            *bytes = lines.join(&b'\n');
        }
    }
}

/// How a failure of `seed` is repeated.
pub fn say(seed: u64) -> String {
    format!("seed {seed} (FIRSTREAD_DAMAGE_SEED={seed} repeats it alone)")
}

/// The first seed and how many follow: the one seed that the environment names, or `inputs` from `first` on.
#[allow(
    clippy::disallowed_methods,
    reason = "a failure is repeated by its seed"
)]
pub fn range(first: u64, inputs: u64) -> (u64, u64) {
    let seed = std::env::var("FIRSTREAD_DAMAGE_SEED").ok();
    match seed.and_then(|seed| seed.parse().ok()) {
        Some(seed) => (seed, 1),
        None => (first, inputs),
    }
}

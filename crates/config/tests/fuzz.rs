//! Runs every fuzz target for a moment on mutated samples, without any tool but the compiler.
//!
//! `WHARF_FUZZ_SECONDS` is the time for each target. A failure names the seed of the case, and
//! `WHARF_FUZZ_SEED` begins with that case again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use wharf_config::fuzz::{BODIES, Body};

/// Even a slow machine that does other things as well reads a few kilobytes faster.
const TOO_SLOW: Duration = Duration::from_secs(10);

/// No input grows beyond this, so that many can be tried.
const MAX_LENGTH: usize = 16 * 1024;

/// Pieces with a meaning in at least one notation.
const PIECES: &[&str] = &[
    "{", "}", "[", "]", ":", ",", "\"", "'", "\\", "\n", "\r\n", "\r", "\t", " ", "  ", "#", "//",
    "/*", "*/", "&a ", "*a", "<<: ", "!t ", "|\n", ">-\n", "- ", "? ", ": ", "---\n", "...\n",
    "%YAML", "=", ".", "[[", "]]", "\"\"\"", "'''", "\u{feff}", "\u{a0}", "\u{2028}", "é", "😀",
    "\0", "\\ud83d", "\\u0000", "0x1", "1e9", "-", "+", "null", "~", "true", "${A:-b}", "{{", "}}",
];

#[test]
fn every_target_keeps_its_promises() {
    let seconds = number_from_env("WHARF_FUZZ_SECONDS").unwrap_or(1);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let first_seed =
        number_from_env("WHARF_FUZZ_SEED").unwrap_or(u64::from(clock.subsec_nanos()) << 20);
    for body in BODIES {
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut seed = first_seed;
        while Instant::now() < end {
            run_case(body, seed);
            seed += 1;
        }
        println!("{}: {} cases", body.name, seed - first_seed);
    }
}

#[test]
fn every_sample_keeps_the_promises_as_it_is() {
    for body in BODIES {
        for sample in body.samples {
            (body.run)(sample.as_bytes());
        }
    }
}

#[test]
fn every_target_can_be_run_by_libfuzzer() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(path).unwrap();
    let listed = manifest.lines().filter_map(|line| {
        let (name, _) = line.trim().strip_prefix("{ name = \"")?.split_once('"')?;
        Some(name.to_owned())
    });
    let names: Vec<_> = BODIES.iter().map(|body| body.name.to_owned()).collect();
    assert_eq!(listed.collect::<Vec<_>>(), names);
}

fn run_case(body: &Body, seed: u64) {
    let input = mutate(body.samples, &mut Random::new(seed));
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (body.run)(&input)));
    let (name, duration, shown) = (body.name, start.elapsed(), input.escape_ascii());
    assert!(result.is_ok(), "{name} fails with WHARF_FUZZ_SEED={seed}: {shown}");
    assert!(duration < TOO_SLOW, "{name} takes {duration:?} with WHARF_FUZZ_SEED={seed}: {shown}");
}

fn mutate(samples: &[&str], random: &mut Random) -> Vec<u8> {
    let mut input = random.pick(samples).as_bytes().to_vec();
    if random.below(4) == 0 {
        input.clear();
    }
    for _ in 0..=random.below(8) {
        let start = random.below(input.len() + 1);
        let end = input.len().min(start + random.below(32));
        match random.below(8) {
            0 => drop(input.drain(start..end)),
            1 => input.truncate(start),
            2 => insert(&mut input, start, &[random.byte()]),
            3 if start < input.len() => input[start] ^= 1 << random.below(8),
            4 => {
                let copy = input[start..end].repeat(1 + random.below(4));
                insert(&mut input, random.below(start + 1), &copy);
            }
            5 => {
                let nested = random.pick(PIECES).repeat(random.below(300));
                insert(&mut input, start, nested.as_bytes());
            }
            6 => {
                let other = random.pick(samples).as_bytes();
                let from = random.below(other.len());
                let to = other.len().min(from + random.below(64));
                insert(&mut input, start, &other[from..to]);
            }
            _ => insert(&mut input, start, random.pick(PIECES).as_bytes()),
        }
    }
    input.truncate(MAX_LENGTH);
    input
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

#[expect(clippy::disallowed_methods, reason = "a setting of the test run, not of a test")]
fn number_from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The generator xorshift64*: small, and good enough to choose mutations.
struct Random(u64);

impl Random {
    /// Spreads the bits, because neighbouring seeds would begin with similar numbers.
    fn new(seed: u64) -> Self {
        Self((seed ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9) | 1)
    }

    /// Returns 31 bits, which fit into every `usize`.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap_or_default() % bound.max(1)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

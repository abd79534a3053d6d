//! Runs every fuzz target for a second on mutated samples, without external tools.
//!
//! `WHARF_FUZZ_SECONDS` is the time for each target; `WHARF_FUZZ_TARGET` selects one target. A
//! failure prints the seed of the case; `WHARF_FUZZ_SEED` starts with that case. The samples of a
//! target and the files of the golden tests are mutated.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use super::{ConfigFuzzTarget, FOLDER, FUZZ_TARGETS};

/// Even a slow, busy machine reads a few kilobytes faster.
const TOO_SLOW: Duration = Duration::from_secs(10);

/// The length limit of an input, so that many can be tried.
const MAX_LENGTH: usize = 16 * 1024;

/// Pieces with a meaning in at least one notation.
const PIECES: &[&str] = &[
    "{", "}", "[", "]", ":", ",", "\"", "'", "\\", "\n", "\r\n", "\r", "\t", " ", "  ", "#", "//",
    "/*", "*/", "&a ", "*a", "<<: ", "!t ", "|\n", ">-\n", "- ", "? ", ": ", "---\n", "...\n",
    "%YAML", "=", ".", "[[", "]]", "\"\"\"", "'''", "\u{feff}", "\u{a0}", "\u{2028}", "é", "😀",
    "\0", "\\ud83d", "\\u0000", "0x1", "1e9", "-", "+", "null", "~", "true", "${A:-b}", "{{", "}}",
];

/// Values of every type, in JSON, which the other notations can also read.
const VALUES: &[&str] = &[
    "null",
    "true",
    "-1",
    "1e400",
    "\"\"",
    "[]",
    "{}",
    "[\"a\", 1]",
    "[[]]",
    "{\"A\": \"b\"}",
    "\"${A}\"",
    "\"https://u:p@h/?k=v\"",
    "\"=[]\"",
    "\"a\\u001b\\u202e\"",
];

#[test]
fn every_target_holds_its_invariants_on_mutated_samples() {
    let seconds = number_from_env("WHARF_FUZZ_SECONDS").unwrap_or(1);
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let first_seed =
        number_from_env("WHARF_FUZZ_SEED").unwrap_or(u64::from(clock.subsec_nanos()) << 20);
    let only = from_env("WHARF_FUZZ_TARGET");
    for target in
        FUZZ_TARGETS.iter().filter(|target| only.as_ref().is_none_or(|name| name == target.name))
    {
        let corpus = corpus(target);
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut seed = first_seed;
        while Instant::now() < end {
            run_case(target, &corpus, seed);
            seed += 1;
        }
        println!("{}: {} cases", target.name, seed - first_seed);
    }
}

#[test]
fn every_target_holds_its_invariants_on_every_sample() {
    for target in FUZZ_TARGETS {
        for sample in corpus(target) {
            (target.run)(sample.as_bytes());
        }
    }
}

#[test]
fn every_target_can_be_run_by_libfuzzer() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(path).unwrap();
    for target in FUZZ_TARGETS {
        assert!(manifest.contains(&format!("{{ name = \"{}\"", target.name)), "{}", target.name);
    }
}

/// Returns the samples of a target and its golden files.
fn corpus(target: &ConfigFuzzTarget) -> Vec<String> {
    let mut corpus: Vec<String> = target.samples.iter().map(|&sample| sample.to_owned()).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/cases");
    let mut cases: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|case| case.unwrap().path()).collect();
    cases.sort_unstable();
    for case in cases {
        let text = std::fs::read_to_string(case).unwrap().replace("[project]", FOLDER);
        for (places, content) in
            text.split("\n=== ").skip(1).filter_map(|file| file.split_once('\n'))
        {
            if target.golden.iter().any(|ending| places.ends_with(ending)) {
                corpus.push(format!("{content}\n"));
            }
        }
    }
    corpus
}

fn run_case(target: &ConfigFuzzTarget, corpus: &[String], seed: u64) {
    let input = mutate(corpus, &mut Random::new(seed));
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
    let (name, duration, rendered) = (target.name, start.elapsed(), input.escape_ascii());
    assert!(result.is_ok(), "{name} fails with WHARF_FUZZ_SEED={seed}: {rendered}");
    assert!(
        duration < TOO_SLOW,
        "{name} takes {duration:?} with WHARF_FUZZ_SEED={seed}: {rendered}"
    );
}

fn mutate(samples: &[String], random: &mut Random) -> Vec<u8> {
    let mut input = random.pick(samples).as_bytes().to_vec();
    if random.below(4) == 0 {
        input.clear();
    }
    // Many changes test the parsers; few changes keep the text valid for the later stages.
    let changes = if random.below(2) == 0 { 1 } else { 1 + random.below(8) };
    for _ in 0..changes {
        let start = random.below(input.len() + 1);
        let end = input.len().min(start + random.below(32));
        match random.below(12) {
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
            7..=10 => replace_text(&mut input, start, samples, random),
            _ => insert(&mut input, start, random.pick(PIECES).as_bytes()),
        }
    }
    input.truncate(MAX_LENGTH);
    input
}

/// Replaces a quoted text by a value or by a quoted text of another sample.
fn replace_text(input: &mut Vec<u8>, start: usize, samples: &[String], random: &mut Random) {
    let Some(range) = quoted(input, start) else { return };
    let other = random.pick(samples).as_bytes();
    let from = random.below(other.len());
    let value = match quoted(other, from) {
        Some(range) if random.below(2) == 0 => &other[range],
        _ => random.pick(VALUES).as_bytes(),
    };
    input.splice(range, value.iter().copied());
}

/// Finds the first quoted text after a position.
fn quoted(input: &[u8], start: usize) -> Option<std::ops::Range<usize>> {
    let quote =
        |from: usize| Some(from + input.get(from..)?.iter().position(|byte| *byte == b'"')?);
    // After an odd number of quotes the position is inside a quoted text.
    let is_inside = input[..start].split(|byte| *byte == b'"').count() % 2 == 0;
    let open = if is_inside { quote(quote(start)? + 1)? } else { quote(start)? };
    Some(open..quote(open + 1)? + 1)
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

fn number_from_env(name: &str) -> Option<u64> {
    from_env(name)?.parse().ok()
}

#[expect(clippy::disallowed_methods, reason = "a setting of the test run, not of a test")]
fn from_env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The generator xorshift64*: small, and good enough to choose mutations.
struct Random(u64);

impl Random {
    /// Mixes the bits of the seed: otherwise neighbouring seeds start with similar numbers.
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

    fn pick<'a, T: AsRef<str>>(&mut self, choices: &'a [T]) -> &'a str {
        choices[self.below(choices.len())].as_ref()
    }
}

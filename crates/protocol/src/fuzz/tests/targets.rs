//! Runs every fuzz target briefly on mutated samples; needs no tools besides the compiler.
//!
//! `PROPTEST_CASES` sets the number of cases; libFuzzer runs the same targets from `fuzz`.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::fuzz::{ProtocolFuzzTarget, TARGETS};

/// Tokens that at least one target treats specially.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    "data:",
    "id:",
    "event:",
    "retry:",
    "\u{feff}",
    "\0",
    "null",
    "1e400",
    "\\ud800",
    "é",
    "=?base64?",
    "?=",
    "\"id\":1,",
    "x-mcp-header",
    " ",
    "0",
    "-",
    "true",
    "{}",
    "[]",
    "\"\"",
];

#[derive(Debug, Clone)]
enum Change {
    Insert(Index, Index),
    Byte(Index, u8),
    Remove(Index, usize),
    Repeat(Index, usize),
    Nest(Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), any::<Index>()).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (any::<Index>(), 1_usize..40).prop_map(|(at, count)| Change::Remove(at, count)),
        (any::<Index>(), 1_usize..40).prop_map(|(at, count)| Change::Repeat(at, count)),
        (any::<Index>(), 1_usize..300).prop_map(|(at, depth)| Change::Nest(at, depth)),
    ]
}

fn mutated(fuzz_target: &ProtocolFuzzTarget, sample: Index, changes: Vec<Change>) -> Vec<u8> {
    let mut input =
        fuzz_target.samples[sample.index(fuzz_target.samples.len())].as_bytes().to_vec();
    for change in changes {
        let place = |at: Index, input: &[u8]| at.index(input.len() + 1);
        match change {
            Change::Insert(at, piece) => {
                let at = place(at, &input);
                let piece = PIECES[piece.index(PIECES.len())];
                input.splice(at..at, piece.bytes());
            }
            Change::Byte(at, byte) if !input.is_empty() => {
                let at = at.index(input.len());
                input[at] = byte;
            }
            Change::Byte(_, byte) => input.push(byte),
            Change::Remove(at, count) => {
                let at = place(at, &input);
                let end = input.len().min(at + count);
                input.drain(at..end);
            }
            Change::Repeat(at, count) => {
                let at = place(at, &input);
                let copy = input[at..input.len().min(at + count)].to_vec();
                input.splice(at..at, copy);
            }
            Change::Nest(at, depth) => {
                let at = place(at, &input);
                input.splice(at..at, "[".repeat(depth).bytes());
            }
        }
    }
    input
}

#[test]
fn no_target_panics_on_its_samples() {
    for fuzz_target in TARGETS {
        for sample in fuzz_target.samples {
            (fuzz_target.run)(sample.as_bytes());
        }
    }
}

#[test]
fn every_target_is_in_the_libfuzzer_manifest() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/Cargo.toml");
    let manifest = std::fs::read_to_string(path).unwrap();
    for fuzz_target in TARGETS {
        assert!(
            manifest.contains(&format!("{{ name = \"{}\"", fuzz_target.name)),
            "{}",
            fuzz_target.name
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn no_target_panics_on_mutated_samples(
        target in any::<Index>(),
        sample in any::<Index>(),
        changes in proptest::collection::vec(change(), 0..9),
    ) {
        let fuzz_target = &TARGETS[target.index(TARGETS.len())];
        (fuzz_target.run)(&mutated(fuzz_target, sample, changes));
    }

    #[test]
    fn no_target_panics_on_arbitrary_bytes(
        target in any::<Index>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        (TARGETS[target.index(TARGETS.len())].run)(&bytes);
    }
}

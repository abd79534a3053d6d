//! Runs the body that is called like this binary.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| wharf_config::fuzz::run(env!("CARGO_BIN_NAME"), bytes));

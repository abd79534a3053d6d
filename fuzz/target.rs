//! Runs the fuzz target that has the name of this binary.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let name = env!("CARGO_BIN_NAME");
    if !wharf_protocol::fuzz::run(name, bytes) {
        wharf_config::fuzz::run(name, bytes);
    }
});

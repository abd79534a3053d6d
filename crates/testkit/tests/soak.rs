//! A short run of `cargo xtask soak`: thousands of random operations leave nothing behind.

#![cfg(target_os = "linux")]

use std::process::Command;

#[test]
#[expect(clippy::disallowed_methods, reason = "the driver is a program of this package")]
fn thousands_of_random_operations_leave_nothing_behind() {
    let output = Command::new(env!("CARGO_BIN_EXE_wharf-soak")).arg("4000").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("4000 operations"), "{said}");
}

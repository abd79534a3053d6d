//! Checks that the documentation shows the programs as they are.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the blocks of Rust code in a text.
fn rust_blocks(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let blocks = text.split("\n```rust\n").skip(1);
    blocks.filter_map(|rest| Some(rest.split_once("\n```")?.0.to_owned())).collect()
}

/// Returns a program without its header.
fn program(name: &str) -> String {
    let path = root().join("examples/embedding/src/bin").join(name).with_extension("rs");
    let text = fs::read_to_string(path).unwrap().replace("\r\n", "\n");
    let lines: Vec<&str> = text.lines().skip_while(|line| line.starts_with("//!")).collect();
    lines.join("\n").trim().to_owned()
}

#[test]
fn the_page_about_embedding_shows_every_program_in_order() {
    let page = fs::read_to_string(root().join("docs/embedding.md")).unwrap();
    let names = [
        "load_and_call",
        "servers_from_code",
        "approvals",
        "events",
        "subagents",
        "native_tools",
        "openai",
    ];
    assert_eq!(rust_blocks(&page), names.map(program));
}

#[test]
fn the_readme_and_the_front_page_of_the_crate_show_the_first_program() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert_eq!(rust_blocks(&readme), [program("load_and_call")]);
    let source = fs::read_to_string(root().join("crates/runtime/src/lib.rs")).unwrap();
    let header: Vec<&str> = source
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or_default())
        .collect();
    let page = header.join("\n").replace("\n```no_run\n", "\n```rust\n");
    assert_eq!(rust_blocks(&page), [program("load_and_call")]);
}

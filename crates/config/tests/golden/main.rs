//! Golden tests: loads sample files of every program, as Linux, macOS and Windows, and compares the
//! catalog with a snapshot.
//!
//! A case is a text file in `cases/`, named after its program (`zed.txt`, `claude-managed.txt`);
//! `case.rs` documents the format. The paths in a case are those that the programs document, never
//! copied from the tables under test.
//!
//! After a change: `INSTA_UPDATE=always cargo test -p wharf-config --test golden`, then read the
//! diff as a person who has these files would.

#![expect(clippy::expect_used, reason = "a sample that cannot be created ends the test")]

mod case;
mod render;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use wharf_config::{LoadOptions, Platform, load};

use case::Case;

const PLATFORMS: [(Platform, &str); 3] =
    [(Platform::Linux, "linux"), (Platform::MacOs, "macos"), (Platform::Windows, "windows")];

#[test]
fn every_sample_matches_its_snapshot() {
    let failed: Vec<String> = names_in("cases", "txt")
        .into_iter()
        .filter(|name| catch_unwind(AssertUnwindSafe(|| check(name))).is_err())
        .collect();
    assert!(failed.is_empty(), "not as expected: {}", failed.join(", "));
}

#[test]
fn every_program_has_a_sample() {
    let cases = names_in("cases", "txt");
    let ids: Vec<&str> = wharf_config::providers().map(|(id, _)| id).collect();
    // A case belongs to the longest id with which it begins: `claude-desktop` is not `claude`.
    let covered: BTreeSet<&str> = cases.iter().filter_map(|case| owner(case, &ids)).collect();
    let missing: Vec<&&str> = ids
        .iter()
        .filter(|id| !["env", "defaults"].contains(*id) && !covered.contains(*id))
        .collect();
    assert!(missing.is_empty(), "no case in tests/golden/cases for {missing:?}");
}

#[test]
fn every_sample_belongs_to_a_program_and_every_snapshot_to_a_sample() {
    let ids: Vec<&str> = wharf_config::providers().map(|(id, _)| id).collect();
    let cases = names_in("cases", "txt");
    let unknown: Vec<&String> = cases.iter().filter(|case| owner(case, &ids).is_none()).collect();
    assert!(unknown.is_empty(), "no such program: {unknown:?}");
    let snapshots = names_in("snapshots", "snap");
    let left: Vec<_> = snapshots.difference(&cases).collect();
    assert!(left.is_empty(), "snapshots without a case: {left:?}");
}

fn check(name: &str) {
    let path = folder("cases").join(format!("{name}.txt"));
    let case = Case::parse(&std::fs::read_to_string(path).expect("a case"));
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (platform, word) in PLATFORMS {
        let output = output_on(&case, platform);
        match groups.iter_mut().find(|(_, other)| *other == output) {
            Some((words, _)) => words.push(word),
            None => groups.push((vec![word], output)),
        }
    }
    let blocks = groups.iter().map(|(words, output)| format!("{}:\n{output}", words.join(", ")));
    let whole = blocks.collect::<Vec<_>>().join("\n\n");
    insta::with_settings!({
        snapshot_path => folder("snapshots"),
        prepend_module_to_snapshot => false,
        omit_expression => true,
        description => case.about.clone(),
    }, {
        insta::assert_snapshot!(name, whole);
    });
}

fn output_on(case: &Case, platform: Platform) -> String {
    let machine = case.create_on(platform);
    let options =
        LoadOptions { trust_project: true, with_defaults: true, ..LoadOptions::default() };
    let catalog = load(&machine.env, options).expect("a catalog");
    render::catalog(&catalog, &machine)
}

fn owner<'a>(case: &str, ids: &[&'a str]) -> Option<&'a str> {
    let fits = |id: &&&str| {
        case.strip_prefix(**id).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    ids.iter().filter(fits).max_by_key(|id| id.len()).copied()
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Returns the names of the files in a folder with an extension, without it.
fn names_in(folder_name: &str, ending: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder(folder_name)).expect("a folder of the tests").flatten();
    let paths = entries.map(|entry| entry.path());
    let fitting = paths.filter(|path| path.extension().is_some_and(|own| own == ending));
    fitting.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

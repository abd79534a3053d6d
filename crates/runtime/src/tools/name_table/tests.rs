//! Tests that names are valid, unique, complete, and independent of the order of servers.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;
use wharf_config::store::private_file;

use super::super::naming::{Namer, Naming};
use super::*;
use crate::store::folder_lock::{FolderLock, LOCK_TIMEOUT};
use crate::store::tool_names::ToolNamesFile;

type Pairs = BTreeSet<(String, String)>;
type ByTool = BTreeMap<(String, String), String>;

/// Assigns names to the tools, server by server in the order of `pairs`.
fn assign_in_order(table: &mut NameTable, naming: Naming, pairs: &[(String, String)]) -> ByTool {
    let servers: Vec<&String> = pairs.iter().map(|(server, _)| server).collect();
    let mut seen = HashSet::new();
    let servers: Vec<&String> = servers.into_iter().filter(|server| seen.insert(*server)).collect();
    let tools: Vec<Vec<(&str, PreferredName)>> = servers
        .iter()
        .map(|server| {
            let mut namer = Namer::new(naming, server, None);
            let own = pairs.iter().filter(|(name, _)| name == *server);
            own.map(|(_, tool)| (tool.as_str(), namer.preferred_name(tool))).collect()
        })
        .collect();
    let requests: Vec<NameRequest<'_>> = servers
        .iter()
        .zip(&tools)
        .map(|(server, tools)| NameRequest {
            server,
            tools: tools.iter().map(|(tool, preferred)| (*tool, preferred)).collect(),
        })
        .collect();
    let assigned = table.assign(&requests);
    let mut result = ByTool::new();
    for (request, names) in requests.iter().zip(assigned) {
        for ((tool, _), name) in request.tools.iter().zip(names) {
            result.insert((request.server.to_owned(), (*tool).to_owned()), name.to_string());
        }
    }
    result
}

fn assign(names: &mut NameTable, pairs: &[(&str, &str)]) -> String {
    let pairs: Vec<(String, String)> =
        pairs.iter().map(|(server, tool)| ((*server).into(), (*tool).into())).collect();
    let assigned = assign_in_order(names, Naming::Classic, &pairs);
    let lines = assigned.iter().map(|((server, tool), name)| format!("{server}/{tool} → {name}"));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_smaller_raw_name_gets_the_name_and_the_other_a_suffix() {
    let assigned = assign(&mut NameTable::default(), &[("my.server", "a"), ("my-server", "a")]);
    insta::assert_snapshot!(assigned, @"
    my-server/a → mcp_my_server_a
    my.server/a → mcp_my_server_a_oqtkbt
    ");
}

#[test]
fn the_tool_whose_raw_name_is_unchanged_gets_the_name() {
    let assigned = assign(
        &mut NameTable::default(),
        &[("My_Server", "a"), ("my_server", "a"), ("my_server", "my_server_a")],
    );
    insta::assert_snapshot!(assigned, @"
    My_Server/a → mcp_my_server_a_xltqbc
    my_server/a → mcp_my_server_a
    my_server/my_server_a → mcp_my_server_a_rnxxxf
    ");
}

#[test]
fn a_new_tool_never_takes_a_name_that_is_in_use() {
    let mut names = NameTable::default();
    assert_eq!(assign(&mut names, &[("my-server", "a")]), "my-server/a → mcp_my_server_a");
    // The new tool would have a smaller rank, and the other tool is not even requested now.
    insta::assert_snapshot!(assign(&mut names, &[("my_server", "a")]), @"my_server/a → mcp_my_server_a_otevhx");
}

#[test]
fn a_raw_name_that_looks_like_a_suffix_causes_no_duplicate() {
    let preferred = Namer::new(Naming::Classic, "my.server", None).preferred_name("a");
    let suffixed = preferred.with_suffix("my.server", "a", 0);
    let squatter = suffixed.strip_prefix("mcp_my_server_").unwrap();
    let mut names = NameTable::default();
    let assigned =
        assign(&mut names, &[("my.server", "a"), ("my-server", "a"), ("my-server", squatter)]);
    assert!(assigned.contains(&format!("my-server/{squatter} → {suffixed}")), "{assigned}");
    assert!(assigned.contains(&*preferred.with_suffix("my.server", "a", 1)), "{assigned}");
}

#[test]
fn another_naming_gives_new_names_and_frees_the_old() {
    let mut names = NameTable::default();
    let pair = [("a7".to_owned(), "b".to_owned())];
    assign_in_order(&mut names, Naming::Classic, &pair);
    let assigned = assign_in_order(&mut names, Naming::Precise, &pair);
    assert_eq!(assigned.values().next().unwrap(), "mcp__a7__b");
    assert_eq!(assign(&mut names, &[("a", "b")]), "a/b → mcp_a_b");
}

#[test]
fn stored_names_are_reused_unless_they_are_invalid() {
    let folder = tempfile::tempdir().unwrap();
    let file = ToolNamesFile::open(Some(folder.path()));
    let path = folder.path().join("names.json");
    let today = today();
    let put = |text: &str| private_file::replace(&path, text.as_bytes()).unwrap();
    put(&format!(
        r#"{{"version":1,"servers":{{
            "a":{{"seen":{today},"tools":{{"x":"mcp_a_x_qqqqqq","y":"No name","z":"mcp_a_x_qqqqqq"}}}},
            "old":{{"seen":{},"tools":{{"x":"mcp_a_y"}}}}}}}}"#,
        today - 200
    ));
    let assigned = assign(&mut file.load(), &[("a", "x"), ("a", "y"), ("a", "z")]);
    insta::assert_snapshot!(assigned, @"
    a/x → mcp_a_x_qqqqqq
    a/y → mcp_a_y
    a/z → mcp_a_z
    ");
    for text in ["", "{", "[]", r#"{"version":2,"servers":{}}"#] {
        put(text);
        assert_eq!(assign(&mut file.load(), &[("a", "x")]), "a/x → mcp_a_x", "{text}");
    }
}

#[test]
fn saving_keeps_the_names_of_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let file = ToolNamesFile::open(Some(folder.path()));
    let [mut one, mut two] = [file.load(), file.load()];
    assign(&mut one, &[("my-server", "a"), ("one", "a")]);
    assign(&mut two, &[("my.server", "a"), ("two", "a")]);
    for names in [&mut one, &mut two] {
        let lock = FolderLock::new(Some(folder.path()), LOCK_TIMEOUT);
        file.save(&lock, &names.take_unsaved().unwrap()).unwrap();
        assert!(!names.is_changed && names.take_unsaved().is_none());
        names.mark_unsaved();
        assert!(names.take_unsaved().is_some(), "unsaved names are returned again");
    }
    let mut names = file.load();
    let all = [("my-server", "a"), ("my.server", "a"), ("one", "a"), ("two", "a")];
    insta::assert_snapshot!(assign(&mut names, &all), @"
    my-server/a → mcp_my_server_a
    my.server/a → mcp_my_server_a_oqtkbt
    one/a → mcp_one_a
    two/a → mcp_two_a
    ");
}

#[test]
fn a_server_that_renames_its_tools_all_the_time_does_not_fill_the_memory() {
    let mut names = NameTable::default();
    for round in 0..4 {
        let pairs: Vec<_> = (0..9_000_u32)
            .map(|number| ("s".to_owned(), letters(round * 10_000 + number)))
            .collect();
        assign_in_order(&mut names, Naming::Classic, &pairs);
    }
    assert!(names.taken.len() <= 19_000, "{}", names.taken.len());
    assert_eq!(names.taken.len(), names.servers["s"].tools.len());
}

fn letters(number: u32) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

fn raw_name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[ab]{0,2}[._ -]{0,2}[ab7A]{0,2}",
        1 => "\\PC{0,8}",
        1 => "[a-c_]{50,80}",
    ]
}

fn pairs() -> impl Strategy<Value = Pairs> {
    prop::collection::btree_set((raw_name(), raw_name()), 1..40)
}

fn naming() -> impl Strategy<Value = Naming> {
    prop_oneof![Just(Naming::Classic), Just(Naming::Precise)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn names_are_valid_and_unique_and_none_is_lost(pairs in pairs(), naming in naming()) {
        let list: Vec<_> = pairs.iter().cloned().collect();
        let assigned = assign_in_order(&mut NameTable::default(), naming, &list);
        prop_assert_eq!(assigned.keys().cloned().collect::<Pairs>(), pairs);
        let unique: HashSet<&String> = assigned.values().collect();
        prop_assert_eq!(unique.len(), assigned.len());
        for name in assigned.values() {
            let is_allowed = |c: char| c == '_' || c.is_ascii_lowercase()
                || (naming == Naming::Precise && c.is_ascii_digit());
            prop_assert!((1..=64).contains(&name.len()) && name.chars().all(is_allowed), "{name}");
        }
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(
        (one, other) in pairs().prop_flat_map(|pairs| {
            let list: Vec<_> = pairs.into_iter().collect();
            (Just(list.clone()), Just(list).prop_shuffle())
        }),
        naming in naming(),
    ) {
        let one = assign_in_order(&mut NameTable::default(), naming, &one);
        prop_assert_eq!(one, assign_in_order(&mut NameTable::default(), naming, &other));
    }

    #[test]
    fn a_new_tool_changes_no_name(first in pairs(), more in pairs(), naming in naming()) {
        let mut names = NameTable::default();
        let before = assign_in_order(&mut names, naming, &first.iter().cloned().collect::<Vec<_>>());
        let all: Vec<_> = first.union(&more).cloned().collect();
        let after = assign_in_order(&mut names, naming, &all);
        for (identity, name) in &before {
            prop_assert_eq!(&after[identity], name);
        }
    }

    #[test]
    fn names_are_read_back_unchanged(first in pairs(), more in pairs(), naming in naming()) {
        let folder = tempfile::tempdir().unwrap();
        let file = ToolNamesFile::open(Some(folder.path()));
        let mut names = file.load();
        let before = assign_in_order(&mut names, naming, &first.iter().cloned().collect::<Vec<_>>());
        let lock = FolderLock::new(Some(folder.path()), LOCK_TIMEOUT);
        file.save(&lock, &names.take_unsaved().unwrap()).unwrap();
        let all: Vec<_> = first.union(&more).cloned().collect();
        let in_memory = assign_in_order(&mut names, naming, &all);
        let from_disk = assign_in_order(&mut file.load(), naming, &all);
        prop_assert_eq!(&in_memory, &from_disk);
        for (identity, name) in &before {
            prop_assert_eq!(&from_disk[identity], name);
        }
    }
}

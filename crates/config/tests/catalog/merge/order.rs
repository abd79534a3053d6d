//! The catalog does not depend on the times of files or on the order in which a folder lists them.

use proptest::prelude::*;

use crate::world::World;

/// Files of several programs and levels; some patterns match many of them.
const PLACES: [&str; 12] = [
    "~/.wharf/mcp.json",
    ".wharf/mcp.json",
    "~/.omp/mcp.json",
    "~/.claude.json",
    ".claude/mcp.json",
    ".cursor/mcp.json",
    "~/.cursor/mcp.json",
    "~/.agents/plugins/one/mcp.json",
    "~/.agents/plugins/two/mcp.json",
    "~/.continue/mcpServers/one.json",
    "~/.continue/mcpServers/two.json",
    ".mcp.json",
];

/// Entries of every kind: valid, duplicate, invalid, disabled.
const ENTRIES: [&str; 6] = [
    r#"{ "command": "x" }"#,
    r#"{ "command": "y", "args": ["${NOBODY}"] }"#,
    r#"{ "url": "https://a.example/mcp" }"#,
    r#"{ "type": "nothing" }"#,
    r#"{ "command": "x", "disabled": true }"#,
    "5",
];

fn files() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let entry = (prop::sample::select(&["a", "b", "c"][..]), prop::sample::select(&ENTRIES[..]));
    let text = prop::collection::vec(entry, 0..4).prop_map(|entries| {
        let entries: Vec<String> =
            entries.iter().map(|(name, entry)| format!("\"{name}\": {entry}")).collect();
        format!("{{ \"mcpServers\": {{\n{}\n}} }}", entries.join(",\n"))
    });
    let places = prop::sample::subsequence(&PLACES[..], 0..=PLACES.len());
    places.prop_flat_map(move |places| {
        let texts = prop::collection::vec(text.clone(), places.len());
        texts.prop_map(move |texts| places.clone().into_iter().zip(texts).collect())
    })
}

fn render(files: &[(&str, String)], trust_project: bool) -> String {
    let empty = World::new();
    let mut world = files.iter().fold(empty, |world, (place, text)| world.with(place, text));
    world.options.trust_project = trust_project;
    let rendered = world.show();
    assert_eq!(world.show(), rendered, "the second load");
    rendered
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_files_are_written_does_not_matter(
        (files, shuffled) in files().prop_flat_map(|files| {
            (Just(files.clone()), Just(files).prop_shuffle())
        }),
        trust_project in any::<bool>(),
    ) {
        prop_assert_eq!(render(&files, trust_project), render(&shuffled, trust_project));
    }

    #[test]
    fn each_name_has_exactly_one_winner(files in files(), trust_project in any::<bool>()) {
        let mut world = files.iter().fold(World::new(), |world, (place, text)| world.with(place, text));
        world.options.trust_project = trust_project;
        let catalog = world.load();
        for server in &catalog.servers {
            let name = server.definition.name.as_str();
            let winners = catalog.candidates(name).filter(|own| own.shadowed_by.is_none()).count();
            prop_assert_eq!(winners, 1, "{}", name);
            let first = catalog.candidates(name).next().map(|own| &own.definition.source);
            prop_assert_eq!(catalog.winner(name).map(|own| &own.definition.source), first);
        }
    }
}

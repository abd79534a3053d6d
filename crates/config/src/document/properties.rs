//! Property tests of the parsers, with random texts.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::{Node, Notation, Value, parse};
use crate::fuzz;

proptest! {
    #[test]
    fn any_serialized_json_is_parsed_to_the_same_value(json in any_json()) {
        for text in [json.to_string(), serde_json::to_string_pretty(&json).unwrap()] {
            let parsed = parse(&text, Notation::Json).unwrap();
            prop_assert_eq!(to_json(&parsed.root), json.to_string());
            prop_assert!(parsed.duplicate_keys.is_empty());
        }
    }

    #[test]
    fn pretty_printed_json_has_correct_lines(json in any_json()) {
        let text = serde_json::to_string_pretty(&json).unwrap();
        let parsed = parse(&text, Notation::Json).unwrap();
        let mut line = 1;
        check_lines(&parsed.root, &mut line);
        prop_assert_eq!(line as usize, text.lines().count());
    }

    #[test]
    fn json_is_read_as_yaml_too(json in any_json()) {
        // YAML does not accept all control characters and line ends that JSON accepts.
        let text = serde_json::to_string_pretty(&json).unwrap();
        prop_assume!(!text.contains(|c: char| c.is_control() && c != '\n' || !is_plain(c)));
        let as_yaml = parse(&text, Notation::Yaml);
        prop_assert_eq!(as_yaml.map(|parsed| to_json(&parsed.root)), Ok(json.to_string()));
    }

    #[test]
    fn the_invariants_hold_for_any_text(text in any::<String>()) {
        for target in targets() {
            (target.run)(text.as_bytes());
        }
    }

    #[test]
    fn the_invariants_hold_for_text_of_special_characters(
        text in "[\\[\\]{}:,\"'#&*!|>%@`\\-?=.\\\\/ \t\r\nau0e1~<é]{0,60}",
    ) {
        for target in targets() {
            (target.run)(text.as_bytes());
        }
    }

    #[test]
    fn the_invariants_hold_for_damaged_samples(
        sample in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        length in 0_usize..40,
        patch in "\\PC{0,5}|[\\[\\]{}:,\"'\n ]{1,3}",
    ) {
        for target in targets() {
            let mut text = (*sample.get(target.samples)).as_bytes().to_vec();
            let start = cut.index(text.len());
            let end = text.len().min(start + length);
            text.splice(start..end, patch.bytes());
            (target.run)(&text);
        }
    }
}

fn targets() -> impl Iterator<Item = &'static fuzz::ConfigFuzzTarget> {
    fuzz::FUZZ_TARGETS.iter().filter(|target| ["json", "toml", "yaml"].contains(&target.name))
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        "[a-z\"\\\\\n]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 64, 12, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Json::from),
            prop::collection::vec((any::<String>(), inner), 0..12)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

/// Writes a value as `serde_json` does, with the digits of the file.
fn to_json(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(digits) => digits.clone(),
        Value::String(text) => Json::from(text.as_str()).to_string(),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(to_json).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(key, value)| {
                format!("{}:{}", Json::from(key.text.as_str()), to_json(value))
            });
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
    }
}

/// Checks lines: pretty JSON has each item, entry and closing bracket on its own line, except the
/// brackets of empty containers.
fn check_lines(node: &Node, line: &mut u32) {
    assert_eq!(node.line, *line);
    for item in node.as_list().unwrap_or_default() {
        *line += 1;
        check_lines(item, line);
    }
    for (key, value) in node.as_map().iter().flat_map(|map| map.iter()) {
        *line += 1;
        assert_eq!(key.line, *line);
        check_lines(value, line);
    }
    let is_empty_list = node.as_list().is_none_or(<[_]>::is_empty);
    let is_empty_map = node.as_map().is_none_or(super::Map::is_empty);
    if !(is_empty_list && is_empty_map) {
        *line += 1;
    }
}

fn is_plain(c: char) -> bool {
    !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}'..='\u{ffff}')
}

//! Fuzz targets for edits: a change is applied, is idempotent, and changes nothing else.

use serde_json::json;

use crate::document::{self, Map, Node, Notation, Value};
use crate::edit::{CONTENT_NOT_SHOWN, Change, EditError, JsonValue, apply, diff, redact};

use super::canary::{self, CANARY};
use super::documents::is_same;
use super::seeded_choice::SeededChoice;

/// Up to this depth of a file, no change exceeds the nesting limit.
const SAFE_DEPTH: usize = 70;

/// How many changes are tried on one text.
const CHANGES: usize = 4;

/// Keys with a special meaning, or that need quotes.
const KEYS: &[&str] = &[
    "mcpServers",
    "mcp_servers",
    "a",
    "env",
    "headers",
    "args",
    "credentialId",
    "token_env_var",
    "",
    "x.y",
    "é \"q\"\\",
    "\n\u{7f}#",
];

/// Changes JSON.
pub(super) fn json(bytes: &[u8]) {
    edit(bytes, Notation::Json);
}

/// Changes TOML.
pub(super) fn toml(bytes: &[u8]) {
    edit(bytes, Notation::Toml);
}

fn edit(bytes: &[u8], notation: Notation) {
    let text = String::from_utf8_lossy(bytes);
    if canary::is_in(&text) {
        return;
    }
    let mut choice = SeededChoice::of(bytes);
    let Ok(parsed) = document::parse(&text, notation) else {
        let refused = apply(&text, notation, &[Change::Remove { path: vec!["a".to_owned()] }]);
        assert!(matches!(refused, Err(EditError::Syntax(_))), "invalid text was changed");
        assert_eq!(redact(&text, notation), CONTENT_NOT_SHOWN);
        return;
    };
    let file = File { text: &text, notation, root: &parsed.root };
    let mut paths = vec![Vec::new()];
    collect(&parsed.root, &mut Vec::new(), &mut paths);
    for _ in 0..CHANGES {
        let path = any_path(&paths, &text, &mut choice);
        file.check(&any_change(path, &text, &mut choice));
    }
    let above = any_path(&paths, &text, &mut choice);
    file.check_redaction(above, &mut choice);
}

struct File<'a> {
    text: &'a str,
    notation: Notation,
    root: &'a Node,
}

impl File<'_> {
    fn apply(&self, text: &str, change: &Change) -> Option<String> {
        match apply(text, self.notation, std::slice::from_ref(change)) {
            Ok(after) => Some(after),
            Err(EditError::NotAnObject { .. } | EditError::NotAList { .. }) => None,
            Err(EditError::WouldBreak { .. }) if self.is_deep(change) => None,
            Err(error) => panic!("{change:?} failed: {error}"),
        }
    }

    /// Tells whether a new value could exceed the nesting limit.
    fn is_deep(&self, change: &Change) -> bool {
        let below = self.root.as_map().into_iter().flat_map(Map::iter);
        let deepest = below.map(|(_, value)| depth(value)).max().unwrap_or_default();
        deepest.max(path_of(change).len()) > SAFE_DEPTH
    }

    /// Applies a change and checks the invariants of the result.
    fn check(&self, change: &Change) {
        let Some(after) = self.apply(self.text, change) else { return };
        let parsed = document::parse(&after, self.notation);
        assert!(parsed.is_ok(), "{change:?} broke the file: {after}");
        let Ok(parsed) = parsed else { return };
        assert!(self.is_done(change, &parsed.root), "{change:?} was not made: {after}");
        let others = self.root.as_map().into_iter().flat_map(Map::iter);
        let first = path_of(change).first();
        for (key, value) in others.filter(|(key, _)| Some(&key.text) != first) {
            let left = parsed.root.get(&key.text);
            assert!(
                left.is_some_and(|left| is_equal(left, value)),
                "{change:?} changed {:?}: {after}",
                key.text
            );
        }
        assert_eq!(self.apply(&after, change).as_ref(), Some(&after), "{change:?} again");
        let rendered = diff(self.text, &after, self.notation, "file");
        assert_eq!(rendered.is_empty(), self.text == after, "the diff does not show {change:?}");
    }

    fn is_done(&self, change: &Change, root: &Node) -> bool {
        let at = path_of(change).iter().try_fold(root, |node, key| node.get(key));
        let has = |item: &str| {
            let items = at.and_then(Node::as_list).unwrap_or_default();
            items.iter().any(|own| own.as_str() == Some(item))
        };
        match change {
            Change::Set { value: JsonValue::Null, .. } if self.notation == Notation::Toml => {
                at.is_none()
            }
            Change::Set { value, .. } => {
                at.is_some_and(|node| is_same(node, &value.clone().into()))
            }
            Change::Remove { .. } => at.is_none(),
            Change::Include { item, .. } => has(item),
            Change::Exclude { item, .. } => !has(item),
        }
    }

    /// Puts a secret below some keys, and checks that the redacted text and the diff hide it.
    fn check_redaction(&self, above: Vec<String>, choice: &mut SeededChoice) {
        let group = if choice.below(2) == 0 { "env" } else { "headers" };
        let path = [above, vec![group.to_owned(), "KEY".to_owned()]].concat();
        let set = |value: &str| Change::Set { path: path.clone(), value: value.into() };
        let Some(one) = self.apply(self.text, &set(CANARY)) else { return };
        let Some(other) = self.apply(&one, &set(&CANARY.repeat(2))) else { return };
        for (before, after) in [(self.text, &*one), (&*one, self.text), (&*one, &*other)] {
            canary::assert_hidden(&redact(after, self.notation), "a redacted text");
            let rendered = diff(before, after, self.notation, "file");
            canary::assert_hidden(&rendered, "a diff");
            assert!(!rendered.is_empty(), "the diff does not show a changed secret");
        }
    }
}

fn any_path(paths: &[Vec<String>], text: &str, choice: &mut SeededChoice) -> Vec<String> {
    let mut path = choice.pick(paths).cloned().unwrap_or_default();
    let further = match choice.below(4) {
        0 | 1 if !path.is_empty() => 0,
        3 => 2,
        _ => 1,
    };
    for _ in 0..further {
        path.push(match choice.below(4) {
            0 => choice.part_of(text),
            _ => choice.pick(KEYS).copied().unwrap_or_default().to_owned(),
        });
    }
    path
}

fn any_change(path: Vec<String>, text: &str, choice: &mut SeededChoice) -> Change {
    let part = choice.part_of(text);
    match choice.below(8) {
        0 | 1 => Change::Remove { path },
        2 => Change::Include { path, item: part },
        3 => Change::Exclude { path, item: part },
        _ => Change::Set { path, value: any_value(&part, choice) },
    }
}

fn any_value(part: &str, choice: &mut SeededChoice) -> JsonValue {
    let value = match choice.below(8) {
        0 => json!(null),
        1 => json!(5),
        2 => json!([]),
        3 => json!({}),
        4 => json!([part, { "a": part }]),
        5 => json!({ "command": "npx", "args": ["-y", part], "env": { "A": part } }),
        6 => json!({ "a": { "b": { "c": true } } }),
        _ => json!(part),
    };
    value.into()
}

fn path_of(change: &Change) -> &[String] {
    match change {
        Change::Set { path, .. }
        | Change::Remove { path }
        | Change::Include { path, .. }
        | Change::Exclude { path, .. } => path,
    }
}

/// Collects the paths of all values.
fn collect(node: &Node, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    for (key, value) in node.as_map().into_iter().flat_map(Map::iter) {
        path.push(key.text.clone());
        found.push(path.clone());
        collect(value, path, found);
        path.pop();
    }
}

fn depth(node: &Node) -> usize {
    let items = node.as_list().unwrap_or_default().iter();
    let values = node.as_map().into_iter().flat_map(Map::iter).map(|(_, value)| value);
    1 + items.chain(values).map(depth).max().unwrap_or_default()
}

/// Tells whether two values are equal, ignoring lines.
fn is_equal(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_equal(a, b))
        }
        (Value::Map(one), Value::Map(other)) => {
            let keys = |map: &Map| map.iter().map(|(key, _)| key.text.clone()).collect::<Vec<_>>();
            keys(one) == keys(other)
                && one.iter().zip(other.iter()).all(|((_, a), (_, b))| is_equal(a, b))
        }
        (one, other) => one == other,
    }
}

//! Fuzz target for trust: it holds for exactly one entry, and the stored record has no secrets.

use crate::document::{Node, Notation, Value};
use crate::named_files::NamedFiles;
use crate::server::Definition;
use crate::source::Level;
use crate::trust::{Trust, TrustStore, TrustSubject};

use super::canary;
use super::program_readers::{EMPTY_MACHINE, PROGRAM_READERS, ProgramReader, parse_with_canary};
use super::seeded_choice::SeededChoice;

/// Trusts each entry of a text, read as a project file of some program.
pub(super) fn trust(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut choice = SeededChoice::of(bytes);
    for notation in [Notation::Json, Notation::Toml, Notation::Yaml] {
        let Some(parsed) = parse_with_canary(&text, notation) else { continue };
        let fits =
            |own: &&ProgramReader| own.file.level == Level::Project && own.notation() == notation;
        let readers: Vec<&ProgramReader> = PROGRAM_READERS.iter().filter(fits).collect();
        let found = choice.pick(&readers).map(|reader| reader.read(&parsed));
        for definition in found.into_iter().flat_map(|found| found.definitions) {
            check(&definition, &mut choice);
        }
    }
}

fn check(definition: &Definition, choice: &mut SeededChoice) {
    let (mut store, files) = (TrustStore::default(), NamedFiles::default());
    assert_eq!(store.check(definition, &EMPTY_MACHINE, &files), Trust::Unknown);
    store.accept(&TrustSubject::of(definition, &EMPTY_MACHINE));
    // A server may be named "env", so that its fields look like variables.
    let name = definition.name.as_str().rsplit(':').next().unwrap_or_default();
    if !canary::is_group(name) {
        canary::assert_hidden(&format!("{store:?}"), "the record of trust");
    }
    assert_eq!(store.check(definition, &EMPTY_MACHINE, &files), Trust::Accepted);
    let Some(raw) = &definition.raw else { return };
    let mut places = Vec::new();
    collect(raw, &mut Vec::new(), &mut places);
    let Some(place) = choice.pick(&places) else { return };
    for change in [change_value, replace_by_text] {
        let mut changed = definition.clone();
        let value = changed.raw.as_mut().and_then(|raw| value_at(raw, place));
        if !value.is_some_and(change) {
            continue;
        }
        let Trust::Changed(differences) = store.check(&changed, &EMPTY_MACHINE, &files) else {
            panic!("a change at {place:?} is not detected");
        };
        assert!(!differences.is_empty(), "a change at {place:?} is not reported");
    }
}

/// Changes a value to another one of its type.
fn change_value(value: &mut Value) -> bool {
    match value {
        Value::String(text) => text.insert(0, 'x'),
        Value::Number(digits) => digits.push('1'),
        Value::Bool(truth) => *truth = !*truth,
        Value::Null => *value = Value::Bool(false),
        Value::List(_) | Value::Map(_) => return false,
    }
    true
}

/// Replaces a value by a string that the record could confuse with it.
fn replace_by_text(value: &mut Value) -> bool {
    let text = match value {
        Value::String(_) => return false,
        Value::Number(digits) => format!("={digits}"),
        Value::Bool(truth) => format!("={truth}"),
        Value::Null => "=null".to_owned(),
        Value::List(_) => "=[]".to_owned(),
        Value::Map(_) => "={}".to_owned(),
    };
    *value = Value::String(text);
    true
}

/// Collects the paths of all values, as indexes in lists and maps.
fn collect(node: &Node, way: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    found.push(way.clone());
    for index in 0.. {
        let Some(below) = child(node, index) else { return };
        way.push(index);
        collect(below, way, found);
        way.pop();
    }
}

fn child(node: &Node, index: usize) -> Option<&Node> {
    match &node.value {
        Value::List(items) => items.get(index),
        Value::Map(map) => map.0.get(index).map(|(_, value)| value),
        _ => None,
    }
}

fn value_at<'a>(node: &'a mut Node, way: &[usize]) -> Option<&'a mut Value> {
    let mut node = node;
    for &index in way {
        node = match &mut node.value {
            Value::List(items) => items.get_mut(index)?,
            Value::Map(map) => map.0.get_mut(index).map(|(_, value)| value)?,
            _ => return None,
        };
    }
    Some(&mut node.value)
}

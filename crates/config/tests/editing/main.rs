//! Property tests of edits: applies random changes to random files and compares with a model.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod json_text;
mod model;
mod toml_text;

use proptest::prelude::*;
use wharf_config::document::{Notation, parse};
use wharf_config::edit::{Change, EditError, JsonObject, JsonValue as Value, apply};

use json_text::Text;
use model::Expected;

fn read_json(text: &str) -> Value {
    model::of_node(&parse(text, Notation::Json).unwrap().root)
}

fn read_toml(text: &str) -> Value {
    model::of_toml(text.parse::<toml_edit::DocumentMut>().unwrap().as_item())
}

/// Returns the comments of a generated text: only comments contain a `§`.
fn comments(text: &str) -> Vec<&str> {
    text.split('§').skip(1).step_by(2).collect()
}

/// Returns the edited text, or `None` if both the model and the edit refuse the change.
fn edited(
    text: &str,
    notation: Notation,
    change: &Change,
    expected: &Expected,
) -> Result<Option<String>, TestCaseError> {
    let after = apply(text, notation, std::slice::from_ref(change));
    match (after, expected) {
        (Ok(after), Expected::Value(_)) => {
            let again = apply(&after, notation, std::slice::from_ref(change)).unwrap();
            prop_assert_eq!(&again, &after, "the same change again changed something");
            Ok(Some(after))
        }
        (Err(EditError::NotAnObject { .. }), Expected::NotAnObject)
        | (Err(EditError::NotAList { .. }), Expected::NotAList) => Ok(None),
        (after, expected) => {
            prop_assert!(false, "{after:?} where {expected:?} was expected");
            Ok(None)
        }
    }
}

/// Checks that line ends and the byte-order mark are kept.
fn check_layout(before: &str, after: &str) -> Result<(), TestCaseError> {
    prop_assert_eq!(before.starts_with('\u{feff}'), after.starts_with('\u{feff}'));
    if before.contains('\n') {
        let is_windows = before.contains("\r\n");
        let others = if is_windows { after.replace("\r\n", "") } else { after.replace('\n', "") };
        prop_assert!(!others.contains(['\r', '\n']), "other line ends were added");
    }
    Ok(())
}

fn check_json(generated: &Text, change: &Change) -> Result<(), TestCaseError> {
    let Text { text, has_duplicates } = generated;
    let before = read_json(text);
    let expected = model::json(&before, change);
    let Some(after) = edited(text, Notation::Json, change, &expected)? else { return Ok(()) };
    let Expected::Value(expected) = expected else { return Ok(()) };
    prop_assert_eq!(&read_json(&after), &expected);
    if !has_duplicates {
        prop_assert_eq!(read_json(&after).to_string(), expected.to_string(), "the order changed");
    }
    check_layout(text, &after)?;
    prop_assert!(before.is_null() || text.ends_with('\n') == after.ends_with('\n'));
    if before == expected {
        // Removing a duplicate key also removes the values that were not used.
        prop_assert!(*has_duplicates || *text == after, "{after}");
    }
    let (all, left) = (comments(text), comments(&after));
    let removable = json_text::removable_comments(text, change);
    let kept: Vec<&str> = all.into_iter().filter(|own| !removable.contains(own)).collect();
    let left: Vec<&str> = left.into_iter().filter(|own| !removable.contains(own)).collect();
    prop_assert_eq!(kept, left);
    if let Some(undo) = model::undo(&before, change)
        && !has_duplicates
    {
        prop_assert_eq!(&apply(&after, Notation::Json, &[undo]).unwrap(), text);
    }
    Ok(())
}

fn check_toml(text: &str, change: &Change) -> Result<(), TestCaseError> {
    let before = read_toml(text);
    let expected = model::toml(&before, change);
    let Some(after) = edited(text, Notation::Toml, change, &expected)? else { return Ok(()) };
    let Expected::Value(expected) = expected else { return Ok(()) };
    // A table that contained only the removed key may also be removed.
    let (read, expected) =
        (model::without_empty_objects(read_toml(&after)), model::without_empty_objects(expected));
    prop_assert_eq!(&read, &expected);
    check_layout(text, &after)?;
    let nothing = Value::Object(JsonObject::new());
    let had_nothing = before == nothing || read_toml(&after) == nothing;
    prop_assert!(had_nothing || !text.ends_with('\n') || after.ends_with('\n'));
    if let Some(undo) = model::undo(&before, change) {
        prop_assert_eq!(comments(text), comments(&after));
        prop_assert_eq!(&apply(&after, Notation::Toml, &[undo]).unwrap(), text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn editing_json_changes_what_was_asked_for_and_nothing_else(
        text in json_text::text(),
        changes in prop::collection::vec(model::change(), 1..4),
    ) {
        for change in &changes {
            check_json(&text, change)?;
        }
    }

    #[test]
    fn editing_toml_changes_what_was_asked_for_and_nothing_else(
        text in toml_text::text(),
        changes in prop::collection::vec(model::change(), 1..4),
    ) {
        for change in &changes {
            check_toml(&text, change)?;
        }
    }

    #[test]
    fn applying_changes_at_once_equals_applying_them_one_by_one(
        text in json_text::text(),
        changes in prop::collection::vec(model::change(), 0..5),
    ) {
        let at_once = apply(&text.text, Notation::Json, &changes);
        let one_by_one = changes.iter().try_fold(text.text, |text, change| {
            apply(&text, Notation::Json, std::slice::from_ref(change))
        });
        prop_assert_eq!(at_once, one_by_one);
    }
}

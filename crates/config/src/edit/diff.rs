//! Shows what a change does to a file, line by line and without its secrets.

use std::collections::HashMap;

use similar::TextDiff;

use super::redact::{self, CONTENT_NOT_SHOWN, SecretSpan};
use crate::document::Notation;
use crate::secret::REDACTED;

/// Returns the unified diff of the masked texts, with three lines around each change.
///
/// A secret that gets another value is shown as `••• (changed)`, so that its line is not missing.
/// The result is empty if nothing changes. A text that cannot be parsed is not shown.
pub fn diff(before: &str, after: &str, notation: Notation, label: &str) -> String {
    let old = redact::find_secrets(before, notation);
    let new = redact::find_secrets(after, notation);
    let shown_before = redact::redact(before, notation);
    let shown_after = match (old, new) {
        (Some(old), Some(new)) => redact_with_changes((before, old), (after, new)),
        (None, Some(_)) => redact::redact(after, notation),
        (_, None) => CONTENT_NOT_SHOWN.to_owned(),
    };
    TextDiff::from_lines(&shown_before, &shown_after)
        .unified_diff()
        .context_radius(3)
        .header(label, label)
        .to_string()
}

fn redact_with_changes(
    (before, old): (&str, Vec<SecretSpan>),
    (after, new): (&str, Vec<SecretSpan>),
) -> String {
    // A comment has no place of its own, so it cannot be said to be another one.
    let known: HashMap<_, &SecretSpan> =
        with_occurrence(&old).filter(|(_, own)| !own.path.is_empty()).collect();
    let parts = with_occurrence(&new).map(|(place, own)| {
        let is_changed = known.get(&place).is_some_and(|known| {
            before[known.range.clone()] != after[own.range.clone()]
                && known.replacement == own.replacement
        });
        let shown =
            if is_changed { mark_changed(&own.replacement) } else { own.replacement.clone() };
        (own.range.clone(), shown)
    });
    redact::replace_ranges(after, parts)
}

/// Says of each secret where it is: the keys, and how often they came before, since an object may
/// have the same key twice.
fn with_occurrence(all: &[SecretSpan]) -> impl Iterator<Item = ((&[String], usize), &SecretSpan)> {
    let mut seen: HashMap<&[String], usize> = HashMap::new();
    all.iter().map(move |own| {
        let count = seen.entry(&own.path).or_default();
        *count += 1;
        ((own.path.as_slice(), *count), own)
    })
}

/// Says behind the last mask that it stands for another value now.
fn mark_changed(shown: &str) -> String {
    match shown.rfind(REDACTED) {
        Some(at) => {
            let (start, end) = shown.split_at(at + REDACTED.len());
            format!("{start} (changed){end}")
        }
        None => format!("{shown} (changed)"),
    }
}

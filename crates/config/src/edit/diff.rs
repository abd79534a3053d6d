//! Shows the unified diff of a change to a file, with secrets redacted.

use std::collections::HashMap;

use similar::TextDiff;

use super::redact::{self, CONTENT_NOT_SHOWN, SecretSpan};
use crate::document::Notation;
use crate::secret::REDACTED;

/// Returns the unified diff of the redacted texts, with three lines of context.
///
/// A changed secret is shown as `••• (changed)`, so that its line is in the diff. The result is
/// empty if nothing changes. A text that cannot be parsed is not shown.
pub fn diff(before: &str, after: &str, notation: Notation, label: &str) -> String {
    let old = redact::find_secrets(before, notation);
    let new = redact::find_secrets(after, notation);
    let redacted_before = redact::redact(before, notation);
    let redacted_after = match (old, new) {
        (Some(old), Some(new)) => redact_with_changes(before, &old, after, &new),
        (None, Some(_)) => redact::redact(after, notation),
        (_, None) => CONTENT_NOT_SHOWN.to_owned(),
    };
    TextDiff::from_lines(&redacted_before, &redacted_after)
        .unified_diff()
        .context_radius(3)
        .header(label, label)
        .to_string()
}

fn redact_with_changes(
    before: &str,
    old: &[SecretSpan],
    after: &str,
    new: &[SecretSpan],
) -> String {
    // A comment has no path, so it cannot be matched with one of the old text.
    let known: HashMap<_, &SecretSpan> =
        with_occurrence(old).filter(|(_, own)| !own.path.is_empty()).collect();
    let parts = with_occurrence(new).map(|(place, own)| {
        let is_changed = known.get(&place).is_some_and(|known| {
            before[known.range.clone()] != after[own.range.clone()]
                && known.replacement == own.replacement
        });
        let redacted =
            if is_changed { mark_changed(&own.replacement) } else { own.replacement.clone() };
        (own.range.clone(), redacted)
    });
    redact::replace_ranges(after, parts)
}

/// Identifies each secret by its path and the number of its occurrence, because an object may have
/// duplicate keys.
fn with_occurrence(all: &[SecretSpan]) -> impl Iterator<Item = ((&[String], usize), &SecretSpan)> {
    let mut seen: HashMap<&[String], usize> = HashMap::new();
    all.iter().map(move |own| {
        let count = seen.entry(&own.path).or_default();
        *count += 1;
        ((own.path.as_slice(), *count), own)
    })
}

/// Adds `(changed)` after the last `•••`.
fn mark_changed(redacted: &str) -> String {
    match redacted.rfind(REDACTED) {
        Some(at) => {
            let (start, end) = redacted.split_at(at + REDACTED.len());
            format!("{start} (changed){end}")
        }
        None => format!("{redacted} (changed)"),
    }
}

//! Shows what a change does to a file, line by line and without its secrets.

use std::collections::HashMap;

use similar::TextDiff;

use super::mask::{self, Hidden, NOT_SHOWN};
use crate::document::Notation;
use crate::secret::MASK;

/// Returns the unified diff of the masked texts, with three lines around each change.
///
/// A secret that gets another value is shown as `••• (changed)`, so that its line is not missing.
/// The result is empty if nothing changes. A text that cannot be parsed is not shown.
pub fn diff(before: &str, after: &str, notation: Notation, label: &str) -> String {
    let old = mask::find(before, notation);
    let new = mask::find(after, notation);
    let shown_before = mask::mask(before, notation);
    let shown_after = match (old, new) {
        (Some(old), Some(new)) => show_changed((before, old), (after, new)),
        (None, Some(_)) => mask::mask(after, notation),
        (_, None) => NOT_SHOWN.to_owned(),
    };
    TextDiff::from_lines(&shown_before, &shown_after)
        .unified_diff()
        .context_radius(3)
        .header(label, label)
        .to_string()
}

fn show_changed((before, old): (&str, Vec<Hidden>), (after, new): (&str, Vec<Hidden>)) -> String {
    // A comment has no place of its own, so it cannot be said to be another one.
    let known: HashMap<_, &Hidden> =
        numbered(&old).filter(|(_, own)| !own.path.is_empty()).collect();
    let parts = numbered(&new).map(|(place, own)| {
        let is_changed = known.get(&place).is_some_and(|known| {
            before[known.range.clone()] != after[own.range.clone()] && known.shown == own.shown
        });
        let shown = if is_changed { mark(&own.shown) } else { own.shown.clone() };
        (own.range.clone(), shown)
    });
    mask::show(after, parts)
}

/// Says of each secret where it is: the keys, and how often they came before, since an object may
/// have the same key twice.
fn numbered(all: &[Hidden]) -> impl Iterator<Item = ((&[String], usize), &Hidden)> {
    let mut seen: HashMap<&[String], usize> = HashMap::new();
    all.iter().map(move |own| {
        let count = seen.entry(&own.path).or_default();
        *count += 1;
        ((own.path.as_slice(), *count), own)
    })
}

/// Says behind the last mask that it stands for another value now.
fn mark(shown: &str) -> String {
    match shown.rfind(MASK) {
        Some(at) => {
            let (start, end) = shown.split_at(at + MASK.len());
            format!("{start} (changed){end}")
        }
        None => format!("{shown} (changed)"),
    }
}

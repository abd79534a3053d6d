//! Removes duplicate keys of an object.
//!
//! The last of several equal keys is used, as in every JSON reader. It moves to the position of the
//! first, as in JavaScript, so that a duplicate does not change the order of the other keys.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{DuplicateKey, Key};

/// Up to this size, comparing all keys with each other is cheaper than hashing them.
const SMALL: usize = 8;

/// Keeps the last of equal keys and reports the others.
pub(super) fn keep_last<V>(
    entries: Vec<(Key, V)>,
    duplicate_keys: &mut Vec<DuplicateKey>,
) -> Vec<(Key, V)> {
    let repeats = find_repeats(&entries);
    if repeats.is_empty() {
        return entries;
    }
    let mut slots: Vec<Option<(Key, V)>> = entries.into_iter().map(Some).collect();
    for (first, later) in repeats {
        let moved = slots[later].take();
        if let (Some((earlier, _)), Some((key, _))) = (&slots[first], &moved) {
            let (line, first_line) = (key.line, earlier.line);
            duplicate_keys.push(DuplicateKey { key: key.text.clone(), line, first_line });
        }
        slots[first] = moved;
    }
    slots.into_iter().flatten().collect()
}

/// Returns the index of the first occurrence and the index of each repetition of a key.
fn find_repeats<V>(entries: &[(Key, V)]) -> Vec<(usize, usize)> {
    let mut repeats = Vec::new();
    if entries.len() <= SMALL {
        for (later, (key, _)) in entries.iter().enumerate() {
            let first = entries[..later].iter().position(|(earlier, _)| earlier.text == key.text);
            repeats.extend(first.map(|first| (first, later)));
        }
        return repeats;
    }
    let mut firsts = HashMap::with_capacity(entries.len());
    for (later, (key, _)) in entries.iter().enumerate() {
        match firsts.entry(key.text.as_str()) {
            Entry::Occupied(first) => repeats.push((*first.get(), later)),
            Entry::Vacant(free) => {
                free.insert(later);
            }
        }
    }
    repeats
}

#[cfg(test)]
mod tests {
    use super::{Key, keep_last};

    /// Takes one key per line; compares the remaining keys and the reported duplicates.
    fn check(keys: &str, left: &str, reported: &str) {
        let entries = keys.split_whitespace().zip(1..).map(|(text, line)| {
            let key = Key { text: text.to_owned(), line };
            (key, ())
        });
        let mut duplicates = Vec::new();
        let entries = keep_last(entries.collect(), &mut duplicates);
        let rendered: Vec<_> =
            entries.iter().map(|(key, ())| format!("{}{}", key.text, key.line)).collect();
        assert_eq!(rendered.join(" "), left);
        let rendered: Vec<_> =
            duplicates.iter().map(|d| format!("{}{}>{}", d.key, d.first_line, d.line)).collect();
        assert_eq!(rendered.join(" "), reported);
    }

    #[test]
    fn different_keys_stay() {
        check("a b c", "a1 b2 c3", "");
    }

    #[test]
    fn the_last_value_takes_the_position_of_the_first() {
        check("a b a c", "a3 b2 c4", "a1>3");
    }

    #[test]
    fn each_ignored_key_is_reported_once() {
        check("a a b a b", "a4 b5", "a1>2 a2>4 b3>5");
    }

    #[test]
    fn large_objects_follow_the_same_rule() {
        check(
            "a b c d e f g h i j a b a",
            "a13 b12 c3 d4 e5 f6 g7 h8 i9 j10",
            "a1>11 b2>12 a11>13",
        );
    }
}

//! Values that several aliases may share, with the cost of copying them.
//!
//! The weight and height of a value are computed when it is complete, so checking an alias does not
//! traverse its value.

use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

use super::scalar;
use crate::document::{Key, Map, Node, Value};

/// Text of this length counts as one value; otherwise a long text could be copied a million times.
const TEXT_BYTES_PER_WEIGHT: usize = 64;

/// A complete value.
#[derive(Clone)]
pub(super) struct SharedValue<'text> {
    line: u32,
    content: Content<'text>,
    /// How many values it expands to.
    pub(super) weight: usize,
    /// The depth of nested lists and objects.
    pub(super) height: usize,
}

#[derive(Clone)]
enum Content<'text> {
    Scalar { text: Cow<'text, str>, is_plain: bool },
    List(Vec<Rc<SharedValue<'text>>>),
    Map(Vec<SharedEntry<'text>>),
}

/// A key and its value.
pub(super) type SharedEntry<'text> = (Key, Rc<SharedValue<'text>>);

impl<'text> SharedValue<'text> {
    pub(super) fn scalar(line: u32, text: Cow<'text, str>, is_plain: bool) -> Self {
        let weight = 1 + text.len() / TEXT_BYTES_PER_WEIGHT;
        Self { line, content: Content::Scalar { text, is_plain }, weight, height: 0 }
    }

    pub(super) fn list(line: u32, items: Vec<Rc<Self>>) -> Self {
        let weight = items.iter().map(|item| item.weight).fold(1, usize::saturating_add);
        let height = 1 + items.iter().map(|item| item.height).max().unwrap_or_default();
        Self { line, content: Content::List(items), weight, height }
    }

    pub(super) fn map(line: u32, entries: Vec<SharedEntry<'text>>) -> Self {
        let weights = entries
            .iter()
            .map(|(key, value)| value.weight + key.text.len() / TEXT_BYTES_PER_WEIGHT);
        let weight = weights.fold(1, usize::saturating_add);
        let height = 1 + entries.iter().map(|(_, value)| value.height).max().unwrap_or_default();
        Self { line, content: Content::Map(entries), weight, height }
    }

    /// Returns the text of a scalar, as written.
    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Returns the objects to merge, if this is a valid value of a merge key.
    pub(super) fn merge_sources(self: &Rc<Self>) -> Option<Vec<Rc<Self>>> {
        match &self.content {
            Content::Map(_) => Some(vec![Rc::clone(self)]),
            Content::List(items) => items
                .iter()
                .map(|item| matches!(item.content, Content::Map(_)).then(|| Rc::clone(item)))
                .collect(),
            Content::Scalar { .. } => None,
        }
    }

    /// Converts to a node: copies shared values and moves others.
    pub(super) fn unfold(self: Rc<Self>) -> Node {
        let Self { line, content, .. } = Rc::unwrap_or_clone(self);
        let value = match content {
            Content::Scalar { text, is_plain } => scalar::to_value(text, is_plain),
            Content::List(items) => Value::List(items.into_iter().map(Self::unfold).collect()),
            Content::Map(entries) => Value::Map(Map(entries
                .into_iter()
                .map(|(key, value)| (key, value.unfold()))
                .collect())),
        };
        Node::new(line, value)
    }
}

/// Appends the missing keys of the merged objects; earlier objects take precedence.
pub(super) fn merge<'text>(
    entries: &mut Vec<SharedEntry<'text>>,
    sources: &[Rc<SharedValue<'text>>],
) {
    let mut seen: HashSet<&str> = entries.iter().map(|(key, _)| key.text.as_str()).collect();
    let mut added = Vec::new();
    for source in sources {
        let Content::Map(merged) = &source.content else { continue };
        let fresh = merged.iter().filter(|(key, _)| seen.insert(&key.text));
        added.extend(fresh.cloned());
    }
    entries.extend(added);
}

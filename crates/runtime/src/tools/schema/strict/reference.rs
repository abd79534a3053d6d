//! Resolves references inside one schema: `#`, `#/$defs/…` and any other JSON pointer into it.

use std::collections::HashMap;

use super::parsed_values::{Keywords, ParsedValues};

/// The maximum number of bytes that references may add: nested references can grow exponentially.
const MAX_BYTES: usize = 128 * 1024;

/// The references of one schema.
pub(super) struct References<'a> {
    root: &'a str,
    known: HashMap<String, Option<&'a str>>,
    /// The targets that are being written, to detect recursion.
    open: Vec<&'a str>,
    budget: usize,
}

impl<'a> References<'a> {
    pub(super) fn new(root: &'a str) -> Self {
        Self { root, known: HashMap::new(), open: vec![root], budget: MAX_BYTES }
    }

    /// Returns the schema that a reference points to, and marks it as being expanded until
    /// `close_to`; `None` for a reference to another document.
    pub(super) fn follow(
        &mut self,
        reference: &str,
        parsed: &mut ParsedValues<'a>,
    ) -> Option<Keywords<'a>> {
        let pointer: String = serde_json::from_str(reference).ok()?;
        let pointer = pointer.strip_prefix('#')?;
        let root = self.root;
        let found = self.known.entry(pointer.to_owned());
        let target = *found.or_insert_with(|| resolve(root, pointer, parsed));
        let Some(target) = target else { return Some(Vec::new()) };
        let Some(members) = parsed.object(target) else { return Some(Vec::new()) };
        let is_open = self.open.iter().any(|open| std::ptr::eq(*open, target));
        if is_open || self.budget < target.len() {
            // The type alone is correct, and ends the recursion.
            return Some(
                members.get("type").map(|kind| ("type".into(), kind)).into_iter().collect(),
            );
        }
        self.budget -= target.len();
        self.open.push(target);
        Some(members.members().clone())
    }

    /// Returns the number of open references.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Closes the references that were opened since `depth()` returned `depth`.
    pub(super) fn close_to(&mut self, depth: usize) {
        self.open.truncate(depth);
    }
}

/// Resolves a JSON pointer (RFC 6901) in a URI fragment.
fn resolve<'a>(root: &'a str, pointer: &str, parsed: &mut ParsedValues<'a>) -> Option<&'a str> {
    let pointer = percent_decoded(pointer)?;
    let mut at = root;
    if pointer.is_empty() {
        return Some(at);
    }
    for part in pointer.strip_prefix('/')?.split('/') {
        let part = part.replace("~1", "/").replace("~0", "~");
        at = match parsed.object(at) {
            Some(members) => members.get(&part)?,
            None => parsed.items(at)?.get(part.parse::<usize>().ok()?).copied()?,
        };
    }
    Some(at)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
            let code = digit(rest.next())? * 16 + digit(rest.next())?;
            bytes.push(u8::try_from(code).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

//! Reads an ordinary page in one pass: an object with an array of objects in it.
//!
//! Splitting a page and naming its entries are one walk, because a walk over the text is nearly
//! all that a long list costs. Whatever is not ordinary ends the walk, and `odd` begins again.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Entry, Rejected, named};
use crate::Json;
use crate::view::fields::is_key;

/// A page in pieces.
pub(super) struct Pieces<'a, T> {
    pub(super) items: Vec<T>,
    pub(super) rejected: Vec<Rejected>,
    pub(super) cursor: Option<&'a RawValue>,
    pub(super) ttl: Option<&'a RawValue>,
    pub(super) scope: Option<&'a RawValue>,
    pub(super) meta: Option<&'a RawValue>,
}

impl<T> Default for Pieces<'_, T> {
    fn default() -> Self {
        let (items, rejected) = (Vec::new(), Vec::new());
        Self { items, rejected, cursor: None, ttl: None, scope: None, meta: None }
    }
}

impl<T> Pieces<'_, T> {
    pub(super) fn add(&mut self, entry: Result<T, Rejected>) {
        match entry {
            Ok(item) => self.items.push(item),
            Err(rejected) => self.rejected.push(rejected),
        }
    }
}

/// Reads a page; `None` if it is not an ordinary one.
pub(super) fn read<T: Entry>(page: &Json) -> Option<Pieces<'_, T>> {
    let mut deserializer = serde_json::Deserializer::from_str(page.as_str());
    deserializer.deserialize_map(Walk { page, kind: PhantomData }).ok()
}

/// Walks through a page, or through one of its parts.
struct Walk<'a, K> {
    page: &'a Json,
    kind: PhantomData<K>,
}

impl<'de, T: Entry> Visitor<'de> for Walk<'_, T> {
    type Value = Pieces<'de, T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a page")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pieces = Pieces::default();
        let mut has_list = false;
        while let Some(written) = map.next_key::<&RawValue>()? {
            let is = |key: &str| is_key(written, key);
            if is(T::LIST) {
                let list = List { page: self.page, kind: PhantomData };
                (pieces.items, pieces.rejected) = map.next_value_seed(list)?;
                has_list = true;
            } else if is("nextCursor") {
                pieces.cursor = Some(map.next_value()?);
            } else if is("ttlMs") {
                pieces.ttl = Some(map.next_value()?);
            } else if is("cacheScope") {
                pieces.scope = Some(map.next_value()?);
            } else if is("_meta") {
                pieces.meta = Some(map.next_value()?);
            } else {
                let IgnoredAny = map.next_value()?;
            }
        }
        if has_list { Ok(pieces) } else { Err(A::Error::missing_field(T::LIST)) }
    }
}

struct List<'a, T> {
    page: &'a Json,
    kind: PhantomData<T>,
}

impl<'de, T: Entry> DeserializeSeed<'de> for List<'_, T> {
    type Value = (Vec<T>, Vec<Rejected>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Entry> Visitor<'de> for List<'_, T> {
    type Value = (Vec<T>, Vec<Rejected>);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let (mut items, mut rejected) = (Vec::new(), Vec::new());
        while let Some(object) = sequence.next_element_seed(Object { key: T::KEY })? {
            let whole = object.surrounded_in(self.page.as_str());
            let raw = self.page.part_at(whole.ok_or_else(|| Error::custom("an empty entry"))?);
            let name = object.name.map(|name| self.page.part(name));
            match named(raw, name.as_ref(), None) {
                Ok(item) => items.push(item),
                Err(refused) => rejected.push(refused),
            }
        }
        // The list may be kept for long, so it should not keep room for twice as many.
        items.shrink_to_fit();
        Ok((items, rejected))
    }
}

/// Finds the name of one entry, and where the entry begins and ends.
struct Object {
    key: &'static str,
}

/// The first key, the last value and the name of an entry.
struct Found<'a> {
    first: Option<&'a RawValue>,
    last: Option<&'a RawValue>,
    name: Option<&'a RawValue>,
}

impl Found<'_> {
    /// Returns the text of the entry: from the brace before its first key to the one after its
    /// last value. There is nothing but space in between.
    fn surrounded_in<'p>(&self, page: &'p str) -> Option<&'p str> {
        let place = |part: &str| part.as_ptr().addr().checked_sub(page.as_ptr().addr());
        let start = page.get(..place(self.first?.get())?)?.trim_ascii_end().len().checked_sub(1)?;
        let end = place(self.last?.get())? + self.last?.get().len();
        let rest = page.get(end..)?;
        let end = end + (rest.len() - rest.trim_ascii_start().len()) + 1;
        page.get(start..end).filter(|text| text.starts_with('{') && text.ends_with('}'))
    }
}

impl<'de> DeserializeSeed<'de> for Object {
    type Value = Found<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object {
    type Value = Found<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an entry")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = Found { first: None, last: None, name: None };
        while let Some(written) = map.next_key::<&RawValue>()? {
            let value = map.next_value()?;
            if is_key(written, self.key) {
                found.name = Some(value);
            }
            found.first = found.first.or(Some(written));
            found.last = Some(value);
        }
        Ok(found)
    }
}

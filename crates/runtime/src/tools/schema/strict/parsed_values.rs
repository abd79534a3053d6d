//! The members and items of the values in one schema, each parsed at most once.
//!
//! A reference can be followed thousands of times. Without this, each time would parse the text of
//! its target again, and a small schema could take seconds.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::value::RawValue;
use wharf_protocol::Members;

/// The members of a schema with unique keys.
pub(super) type Keywords<'a> = Vec<(Rc<str>, &'a str)>;

/// A value, by the place of its text.
type Place = (*const u8, usize);

/// The members of one object.
pub(super) struct ParsedObject<'a> {
    members: Keywords<'a>,
    /// The index of each key.
    places: HashMap<Rc<str>, usize>,
}

#[derive(Default)]
pub(super) struct ParsedValues<'a> {
    objects: HashMap<Place, Option<Rc<ParsedObject<'a>>>>,
    lists: HashMap<Place, Option<Rc<[&'a str]>>>,
}

impl<'a> ParsedValues<'a> {
    /// Returns the members of an object; of equal keys the last counts.
    pub(super) fn object(&mut self, text: &'a str) -> Option<Rc<ParsedObject<'a>>> {
        let new = || ParsedObject::of(text).map(Rc::new);
        self.objects.entry(place(text)).or_insert_with(new).clone()
    }

    /// Returns the items of a list.
    pub(super) fn items(&mut self, text: &'a str) -> Option<Rc<[&'a str]>> {
        self.lists.entry(place(text)).or_insert_with(|| items(text)).clone()
    }
}

impl<'a> ParsedObject<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let all = Members::of(text)?;
        let mut object = Self { members: Vec::new(), places: HashMap::new() };
        for (key, value) in all.iter() {
            if let Some(place) = object.places.get(key) {
                object.members[*place].1 = value.get();
                continue;
            }
            let key: Rc<str> = key.into();
            object.places.insert(Rc::clone(&key), object.members.len());
            object.members.push((key, value.get()));
        }
        Some(object)
    }

    pub(super) fn members(&self) -> &Keywords<'a> {
        &self.members
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.places.get(key).map(|place| self.members[*place].1)
    }
}

fn place(text: &str) -> Place {
    (text.as_ptr(), text.len())
}

fn items(text: &str) -> Option<Rc<[&str]>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

//! What one server was given, to be redacted in whatever Wharf tells or keeps of it.
//!
//! Servers like to repeat what they do not like: an error message may hold the token that it is
//! about. What a tool returns is not touched, only what becomes part of Wharf's own words and files.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use wharf_protocol::Json;
use wharf_protocol::redact::Redactor;
use wharf_protocol::view::ListEntry;

use super::authorizer::ServerHeaders;
use super::hidden::Hidden;

/// Members by which something is called or fetched: without them it could not be used.
const IDENTIFIERS: [&str; 3] = ["name", "uri", "uriTemplate"];

/// Members in which a value that is only likely to be a secret, such as a region, may be needed.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// The secrets of one connection; the default has none.
#[derive(Default)]
pub(crate) struct Secrets {
    given: Hidden,
    /// What is sent changes when it is renewed.
    headers: Option<Arc<ServerHeaders>>,
    /// What was made of them, once somebody needed it.
    made: Mutex<Option<Made>>,
}

#[derive(Clone)]
struct Made {
    /// The headers that it was made for.
    sent: Option<Arc<Hidden>>,
    /// Finds everything.
    all: Redactor,
    /// Finds what is certain to be a secret.
    certain: Redactor,
}

impl Secrets {
    #[cfg(test)]
    pub(crate) fn of_texts(texts: &[&str]) -> Self {
        let mut given = Hidden::default();
        for text in texts {
            given.value(text, super::hidden::Certainty::Certain);
        }
        Self { given, ..Self::default() }
    }

    /// Knows what a program was given.
    pub(super) fn of_program(given: Hidden) -> Self {
        Self { given, ..Self::default() }
    }

    /// Knows what is secret in an address, and all headers that are sent to it.
    pub(super) fn of_address(url: &str, headers: &Arc<ServerHeaders>) -> Self {
        let mut given = Hidden::default();
        given.url(url);
        Self { given, headers: Some(Arc::clone(headers)), made: Mutex::default() }
    }

    /// Returns what finds all of them.
    pub(crate) fn redactor(&self) -> Redactor {
        self.made().all
    }

    /// Returns a text with a mask in place of each secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.redactor().redact(text).into_owned()
    }

    /// Like [`Secrets::hide`], but of a long text only about the first `most` characters, and never
    /// more. The rest costs nothing, however long it is.
    pub(crate) fn hide_in_start(&self, text: &str, most: usize) -> String {
        self.redactor().redact_start(text, most)
    }

    /// Returns a value with a mask in place of each secret.
    pub(crate) fn hide_in_json(&self, json: Json) -> Json {
        in_json(&self.made().all, json)
    }

    /// Does the same with those alone that are certain to be secrets.
    pub(crate) fn hide_certain_in_json(&self, json: Json) -> Json {
        in_json(&self.made().certain, json)
    }

    /// Redacts what a server says about the things that it offers. What they are called by stays, and
    /// in schemas what is not certain to be a secret.
    pub(crate) fn hide_in_entries<T: ListEntry>(&self, entries: &mut [T]) {
        let made = self.made();
        if made.all.is_empty() {
            return;
        }
        for entry in entries {
            if let Some(read) = made.definition(entry.raw()).and_then(|raw| T::read(raw).ok()) {
                *entry = read;
            }
        }
    }

    fn made(&self) -> Made {
        let sent = self.headers.as_ref().map(|headers| headers.secrets());
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |made: &&mut Made| match (&made.sent, &sent) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        if let Some(made) = made.as_mut().filter(is_same) {
            return made.clone();
        }
        let (all, certain) = self.given.redactors(sent.as_deref());
        made.insert(Made { sent, all, certain }).clone()
    }
}

fn in_json(redactor: &Redactor, json: Json) -> Json {
    if !redactor.finds_in(json.as_str()) {
        return json;
    }
    redactor.redact_json(json.as_str()).parse().unwrap_or_else(|_| Json::null())
}

impl Made {
    /// Returns a definition without secrets; nothing if there are none in it.
    fn definition(&self, raw: &Json) -> Option<Json> {
        if !self.all.finds_in(raw.as_str()) {
            return None;
        }
        let members = raw.members()?;
        let mut text = String::with_capacity(raw.as_str().len());
        for (key, value) in members.iter() {
            let value = match key {
                key if IDENTIFIERS.contains(&key) => value.get().into(),
                key if SCHEMAS.contains(&key) => self.certain.redact_json(value.get()),
                _ => self.all.redact_json(value.get()),
            };
            let key = serde_json::to_string(key).ok()?;
            text.push(if text.is_empty() { '{' } else { ',' });
            text.extend([key.as_str(), ":", &*value]);
        }
        text.push('}');
        text.parse().ok()
    }
}

/// Shows nothing.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use wharf_protocol::view::Tool;

    use super::super::hidden::Certainty;
    use super::*;

    fn secrets() -> Secrets {
        let mut given = Hidden::default();
        given.value("tiger-4711", Certainty::Certain);
        given.value("eu-west-1", Certainty::Likely);
        Secrets::of_program(given)
    }

    #[test]
    fn a_definition_keeps_its_name_and_what_its_schema_needs() {
        let raw = r#"{"name":"tiger-4711","n":1.00,"description":"in eu-west-1 with tiger-4711","inputSchema":{"type":"object","x":"tiger-4711","enum":["eu-west-1"]}}"#;
        let mut tools: Vec<Tool> = vec![Tool::read(raw.parse().unwrap()).unwrap()];
        secrets().hide_in_entries(&mut tools);
        assert_eq!(
            tools[0].raw().as_str(),
            r#"{"name":"tiger-4711","n":1.00,"description":"in ••• with •••","inputSchema":{"type":"object","x":"•••","enum":["eu-west-1"]}}"#
        );
    }

    #[test]
    fn secrets_show_nothing() {
        assert!(!format!("{:?}", secrets()).contains("tiger"));
    }
}

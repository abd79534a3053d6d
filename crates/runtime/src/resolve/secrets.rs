//! The secrets of one connection, and their redaction in every message and file of Wharf.
//!
//! Servers repeat secrets: an error message may contain the rejected token. Results of tools are
//! not redacted, only text that becomes part of messages and files of Wharf.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use wharf_protocol::Json;
use wharf_protocol::redact::Redactor;
use wharf_protocol::view::ListEntry;

#[cfg(feature = "http")]
use super::authorizer::ServerHeaders;
use super::secret_texts::SecretTexts;

/// Members that identify an item: redacted, the item could not be used.
const IDENTIFIERS: [&str; 3] = ["name", "uri", "uriTemplate"];

/// Members in which only certain secrets are redacted: a likely one, such as a region, may be
/// needed.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// The secrets of one connection; the default is empty.
#[derive(Default)]
pub(crate) struct Secrets {
    texts: SecretTexts,
    /// The headers change when they are renewed.
    #[cfg(feature = "http")]
    headers: Option<Arc<ServerHeaders>>,
    /// The redactors, created on first use.
    redactors: Mutex<Option<Redactors>>,
}

#[derive(Clone)]
struct Redactors {
    /// The headers for which they were created.
    sent: Option<Arc<SecretTexts>>,
    /// Redacts all secrets.
    all: Redactor,
    /// Redacts certain secrets only.
    certain: Redactor,
}

impl Secrets {
    #[cfg(test)]
    pub(crate) fn of_texts(strings: &[&str]) -> Self {
        let mut texts = SecretTexts::default();
        for text in strings {
            texts.value(text, super::secret_texts::Certainty::Certain);
        }
        Self { texts, ..Self::default() }
    }

    /// Returns the secrets of a program.
    pub(super) fn of_program(texts: SecretTexts) -> Self {
        Self { texts, ..Self::default() }
    }

    /// Returns the secrets of a URL, and of all headers that are sent to it.
    #[cfg(feature = "http")]
    pub(super) fn of_address(url: &str, headers: &Arc<ServerHeaders>) -> Self {
        let mut texts = SecretTexts::default();
        texts.url(url);
        Self { texts, headers: Some(Arc::clone(headers)), redactors: Mutex::default() }
    }

    /// Returns a redactor for all secrets.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactors().all
    }

    /// Redacts a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.redactor().redact(text).into_owned()
    }

    /// Like [`Secrets::redact`], but redacts and returns only the start of a long text, at most
    /// `most` characters. The rest is not read.
    pub(crate) fn redact_start(&self, text: &str, most: usize) -> String {
        self.redactor().redact_start(text, most)
    }

    /// Redacts a JSON value.
    pub(crate) fn redact_json(&self, json: Json) -> Json {
        in_json(&self.redactors().all, json)
    }

    /// Redacts only certain secrets in a JSON value.
    pub(crate) fn redact_certain_in_json(&self, json: Json) -> Json {
        in_json(&self.redactors().certain, json)
    }

    /// Redacts items of a list, such as tools. Keeps their identifiers, and in schemas the secrets
    /// that are only likely.
    pub(crate) fn redact_entries<T: ListEntry>(&self, entries: &mut [T]) {
        let redactors = self.redactors();
        if redactors.all.is_empty() {
            return;
        }
        for entry in entries {
            if let Some(read) = redactors.definition(entry.raw()).and_then(|raw| T::read(raw).ok())
            {
                *entry = read;
            }
        }
    }

    /// Returns the secrets in the headers that are sent now.
    #[cfg(feature = "http")]
    fn sent_headers(&self) -> Option<Arc<SecretTexts>> {
        self.headers.as_ref().map(|headers| headers.secrets())
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "without HTTP there are no headers")]
    fn sent_headers(&self) -> Option<Arc<SecretTexts>> {
        None
    }

    fn redactors(&self) -> Redactors {
        let sent = self.sent_headers();
        let mut redactors = self.redactors.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |redactors: &&mut Redactors| match (&redactors.sent, &sent) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        if let Some(redactors) = redactors.as_mut().filter(is_same) {
            return redactors.clone();
        }
        let (all, certain) = self.texts.redactors(sent.as_deref());
        redactors.insert(Redactors { sent, all, certain }).clone()
    }
}

fn in_json(redactor: &Redactor, json: Json) -> Json {
    if !redactor.finds_in(json.as_str()) {
        return json;
    }
    redactor.redact_json(json.as_str()).parse().unwrap_or_else(|_| Json::null())
}

impl Redactors {
    /// Redacts the definition of an item; `None` if it contains no secret.
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
    use wharf_protocol::view::ToolDefinition;

    use super::super::secret_texts::Certainty;
    use super::*;

    #[test]
    fn config_and_protocol_redact_with_the_same_text() {
        assert_eq!(wharf_config::secret::REDACTED, wharf_protocol::redact::REDACTED);
    }

    fn secrets() -> Secrets {
        let mut texts = SecretTexts::default();
        texts.value("tiger-4711", Certainty::Certain);
        texts.value("eu-west-1", Certainty::Likely);
        Secrets::of_program(texts)
    }

    #[test]
    fn a_redacted_definition_keeps_its_name_and_the_values_its_schema_needs() {
        let raw = r#"{"name":"tiger-4711","n":1.00,"description":"in eu-west-1 with tiger-4711","inputSchema":{"type":"object","x":"tiger-4711","enum":["eu-west-1"]}}"#;
        let mut tools: Vec<ToolDefinition> =
            vec![ToolDefinition::read(raw.parse().unwrap()).unwrap()];
        secrets().redact_entries(&mut tools);
        assert_eq!(
            tools[0].raw().as_str(),
            r#"{"name":"tiger-4711","n":1.00,"description":"in ••• with •••","inputSchema":{"type":"object","x":"•••","enum":["eu-west-1"]}}"#
        );
    }

    #[test]
    fn debug_output_of_secrets_is_empty() {
        assert!(!format!("{:?}", secrets()).contains("tiger"));
    }
}

//! Requests of a server to the client or the person: input requests, elicitation, roots.
//!
//! Before 2026-07-28 each is a JSON-RPC request of the server. Since then they are in a result of
//! type `input_required`. Method and params are the same in both.

use bytestring::ByteString;

use super::fields::view;
use crate::{Json, Members, scan};

/// One input request in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputRequest {
    /// The key of the answer in `inputResponses`.
    pub(crate) key: ByteString,
    /// The method, such as `elicitation/create`; empty if missing.
    pub(crate) method: ByteString,
    /// The parameters.
    pub(crate) params: Option<Json>,
}

impl InputRequest {
    /// Reads the input requests in a result or in a task.
    pub(crate) fn list(raw: &Json) -> Vec<Self> {
        let Some(requests) = raw.object_at("inputRequests") else { return Vec::new() };
        let read = |(key, request): (&str, &serde_json::value::RawValue)| {
            let [method, params] = scan::find(request.get(), ["method", "params"]);
            let part = |found: Option<_>| found.map(|found| raw.part_at(found));
            Self {
                key: key.into(),
                method: part(method).and_then(|method| method.to_shared_text()).unwrap_or_default(),
                params: part(params).filter(|params| !params.is_null()),
            }
        };
        requests.members().iter().flat_map(Members::iter).map(read).collect()
    }
}

view! {
    /// A question of the server to the person: the parameters of `elicitation/create`.
    Elicitation
}

/// The mode of an elicitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElicitationMode {
    /// A form.
    Form {
        /// The schema of the form; without one, only an empty object is allowed.
        schema: Json,
    },
    /// A page in a browser.
    Url {
        /// The URL: untrusted, must be displayed before it is opened.
        url: ByteString,
        /// The id in the notification of its completion (2025-11-25).
        id: Option<ByteString>,
    },
    /// An unknown mode, or one without a required member.
    Unknown,
}

impl Elicitation {
    /// Returns the question: untrusted text.
    pub fn message(&self) -> ByteString {
        self.raw.text_at("message").unwrap_or_default()
    }

    /// Returns the mode; the default is a form.
    pub fn mode(&self) -> ElicitationMode {
        let mode = self.raw.text_at("mode");
        match mode.as_deref().unwrap_or("form") {
            "form" => ElicitationMode::Form {
                schema: self
                    .raw
                    .object_at("requestedSchema")
                    .unwrap_or_else(|| Json::trusted(r#"{"type":"object","properties":{}}"#)),
            },
            "url" => match self.raw.text_at("url") {
                Some(url) => ElicitationMode::Url { url, id: self.raw.text_at("elicitationId") },
                None => ElicitationMode::Unknown,
            },
            _ => ElicitationMode::Unknown,
        }
    }
}

view! {
    /// The data of the error `URL elicitation required` (-32042, 2025-11-25).
    UrlElicitationRequired
}

impl UrlElicitationRequired {
    /// Returns the elicitations that must be completed first.
    pub fn elicitations(&self) -> Vec<Elicitation> {
        self.raw.items_at("elicitations").into_iter().map(Elicitation::read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        text.parse().unwrap()
    }

    #[test]
    fn input_requests_keep_their_order_and_may_be_missing() {
        let check = |text: &str, expected: &[&str]| {
            let requests = InputRequest::list(&json(text)).into_iter();
            let rendered: Vec<_> = requests
                .map(|it| format!("{} {} {}", it.key, it.method, it.params.is_some()))
                .collect();
            assert_eq!(rendered, expected, "{text}");
        };
        check(
            r#"{"inputRequests":{"z":{"method":"roots/list"},
            "a":{"method":"elicitation/create","params":{"message":"m"}},"bad":7}}"#,
            &["z roots/list false", "a elicitation/create true", "bad  false"],
        );
        for text in ["{}", r#"{"inputRequests":null}"#, r#"{"inputRequests":[1]}"#] {
            check(text, &[]);
        }
    }

    #[test]
    fn an_elicitation_without_a_mode_is_a_form() {
        let mode = |text: &str| Elicitation::read(json(text)).mode();
        let form = ElicitationMode::Form { schema: json(r#"{"type":"object"}"#) };
        assert_eq!(mode(r#"{"requestedSchema":{"type":"object"}}"#), form);
        assert!(matches!(mode(r#"{"mode":"form"}"#), ElicitationMode::Form { .. }));
        let url = ElicitationMode::Url { url: "https://a.example".into(), id: None };
        assert_eq!(mode(r#"{"mode":"url","url":"https://a.example"}"#), url);
        assert_eq!(mode(r#"{"mode":"url"}"#), ElicitationMode::Unknown);
        assert_eq!(mode(r#"{"mode":"telepathy"}"#), ElicitationMode::Unknown);
    }
}

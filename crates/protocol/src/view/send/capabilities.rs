//! The capabilities of the client, written for each revision.
//!
//! The tools of a server may depend on them, so a session cannot change them.

use super::{Object, object};
use crate::Json;
use crate::era::{Era, Revision};

/// The capabilities of the client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientCapabilities {
    /// It reports roots.
    pub roots: Option<RootsSupport>,
    /// It supports sampling.
    pub sampling: Option<SamplingSupport>,
    /// It supports elicitation (from 2025-06-18 on).
    pub elicitation: Option<ElicitationSupport>,
    /// It runs requests of the server as tasks (2025-11-25 only).
    pub tasks: Option<TasksSupport>,
    /// Experimental capabilities, by name.
    pub experimental: Vec<(String, Object)>,
    /// Extensions and their settings, by name (from 2026-07-28 on).
    pub extensions: Vec<(String, Object)>,
}

/// How the client supports roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RootsSupport {
    /// It notifies when they change (before 2026-07-28).
    pub list_changed: bool,
}

/// How the client supports sampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SamplingSupport {
    /// The model may use tools (from 2025-11-25 on).
    pub tools: bool,
    /// The model may get more context of the session (from 2025-11-25 on).
    pub context: bool,
}

/// How the client supports elicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElicitationSupport {
    /// With forms.
    pub form: bool,
    /// With URLs that are opened in a browser (from 2025-11-25 on).
    pub url: bool,
}

/// How the client supports tasks.
#[expect(clippy::struct_excessive_bools, reason = "four independent capabilities")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TasksSupport {
    /// It lists tasks.
    pub list: bool,
    /// It cancels tasks.
    pub cancel: bool,
    /// It runs sampling as a task.
    pub sampling: bool,
    /// It runs elicitation as a task.
    pub elicitation: bool,
}

impl ClientCapabilities {
    /// Writes the capabilities that the revision knows.
    pub fn render(&self, revision: Revision) -> Json {
        let has_modes = revision >= Revision::V2025_11_25;
        let is_modern = revision.era() == Era::Modern;
        let list_changed =
            |roots: RootsSupport| (roots.list_changed && !is_modern).then(|| Json::trusted("true"));
        object([
            ("experimental", settings(&self.experimental)),
            ("roots", self.roots.map(|roots| object([("listChanged", list_changed(roots))]))),
            (
                "sampling",
                self.sampling.map(|sampling| {
                    object([
                        ("context", flag(sampling.context && has_modes)),
                        ("tools", flag(sampling.tools && has_modes)),
                    ])
                }),
            ),
            ("elicitation", self.elicitation.and_then(|support| elicitation(support, revision))),
            ("tasks", self.tasks.filter(|_| revision == Revision::V2025_11_25).map(tasks)),
            ("extensions", settings(&self.extensions).filter(|_| is_modern)),
        ])
    }
}

/// Writes a capability that is declared by presence.
fn flag(is_there: bool) -> Option<Json> {
    is_there.then(Json::object)
}

/// Writes the capability for elicitation; before 2025-11-25 it has no modes and means forms.
fn elicitation(support: ElicitationSupport, revision: Revision) -> Option<Json> {
    if revision < Revision::V2025_06_18 {
        None
    } else if revision < Revision::V2025_11_25 {
        flag(support.form)
    } else {
        let modes = [("form", flag(support.form)), ("url", flag(support.url))];
        (support.form || support.url).then(|| object(modes))
    }
}

fn tasks(support: TasksSupport) -> Json {
    let method = |is_there: bool, name| is_there.then(|| object([(name, Some(Json::object()))]));
    let requests = [
        ("sampling", method(support.sampling, "createMessage")),
        ("elicitation", method(support.elicitation, "create")),
    ];
    object([
        ("list", flag(support.list)),
        ("cancel", flag(support.cancel)),
        ("requests", (support.sampling || support.elicitation).then(|| object(requests))),
    ])
}

fn settings(pairs: &[(String, Object)]) -> Option<Json> {
    let members = pairs.iter().map(|(key, value)| (key.as_str(), Some(value.as_json().clone())));
    (!pairs.is_empty()).then(|| object(members.collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> ClientCapabilities {
        ClientCapabilities {
            roots: Some(RootsSupport { list_changed: true }),
            sampling: Some(SamplingSupport { tools: true, context: false }),
            elicitation: Some(ElicitationSupport { form: true, url: true }),
            tasks: Some(TasksSupport { cancel: true, sampling: true, ..TasksSupport::default() }),
            experimental: Vec::new(),
            extensions: vec![("a/b".into(), Object::default())],
        }
    }

    fn check(capabilities: &ClientCapabilities, revision: Revision, expected: &str) {
        assert_eq!(capabilities.render(revision).as_str(), expected, "{revision}");
    }

    #[test]
    fn each_revision_gets_only_the_capabilities_that_it_knows() {
        let old = r#"{"roots":{"listChanged":true},"sampling":{}}"#;
        check(&all(), Revision::V2024_11_05, old);
        check(&all(), Revision::V2025_03_26, old);
        let forms = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;
        check(&all(), Revision::V2025_06_18, forms);
        check(
            &all(),
            Revision::V2025_11_25,
            r#"{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"tasks":{"cancel":{},"requests":{"sampling":{"createMessage":{}}}}}"#,
        );
        check(
            &all(),
            Revision::V2026_07_28,
            r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"a/b":{}}}"#,
        );
    }

    #[test]
    fn url_elicitation_alone_is_not_declared_before_2025_11_25() {
        let support = ElicitationSupport { form: false, url: true };
        let pages = ClientCapabilities { elicitation: Some(support), ..Default::default() };
        check(&pages, Revision::V2025_06_18, "{}");
        check(&pages, Revision::V2025_11_25, r#"{"elicitation":{"url":{}}}"#);
    }

    #[test]
    fn no_capabilities_are_an_empty_object() {
        for revision in Revision::ALL {
            check(&ClientCapabilities::default(), revision, "{}");
        }
    }
}

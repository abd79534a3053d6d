//! What the client can do, written for each revision.
//!
//! The tools that a server offers may depend on this, so it is part of what makes a session.

use serde::Serialize;

use super::{Object, Pairs, Present, written};
use crate::Json;
use crate::era::{Era, Revision};

/// What the client can do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientCapabilities {
    /// It tells servers about folders.
    pub roots: Option<RootsSupport>,
    /// It lets a model speak.
    pub sampling: Option<SamplingSupport>,
    /// It asks the person (from 2025-06-18 on).
    pub elicitation: Option<ElicitationSupport>,
    /// It runs requests of the server as tasks (2025-11-25 only).
    pub tasks: Option<TasksSupport>,
    /// Experiments, by name.
    pub experimental: Vec<(String, Object)>,
    /// Extensions and their settings, by name (from 2026-07-28 on).
    pub extensions: Vec<(String, Object)>,
}

/// How the client deals with folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RootsSupport {
    /// It tells when they change (before 2026-07-28).
    pub list_changed: bool,
}

/// What the client lets a model do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SamplingSupport {
    /// Use tools (from 2025-11-25 on).
    pub tools: bool,
    /// See more of the session (from 2025-11-25 on).
    pub context: bool,
}

/// How the client asks the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElicitationSupport {
    /// With forms.
    pub form: bool,
    /// With pages in a browser (from 2025-11-25 on).
    pub url: bool,
}

/// What the client does with tasks.
#[expect(clippy::struct_excessive_bools, reason = "four promises that do not depend on each other")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TasksSupport {
    /// It lists them.
    pub list: bool,
    /// It cancels them.
    pub cancel: bool,
    /// It lets a model speak as a task.
    pub sampling: bool,
    /// It asks the person as a task.
    pub elicitation: bool,
}

impl ClientCapabilities {
    /// Writes what the revision knows.
    pub fn render(&self, revision: Revision) -> Json {
        let has_modes = revision >= Revision::V2025_11_25;
        let has_tasks = revision == Revision::V2025_11_25;
        let is_modern = revision.era() == Era::Modern;
        written(&Wire {
            experimental: some_pairs(&self.experimental),
            roots: self.roots.map(|roots| Roots { list_changed: roots.list_changed && !is_modern }),
            sampling: self.sampling.map(|sampling| Sampling {
                context: Present::when(sampling.context && has_modes),
                tools: Present::when(sampling.tools && has_modes),
            }),
            elicitation: self.elicitation.and_then(|support| elicitation(support, revision)),
            tasks: self.tasks.filter(|_| has_tasks).map(tasks),
            extensions: some_pairs(&self.extensions).filter(|_| is_modern),
        })
    }
}

/// Before pages existed, the capability alone promised forms.
fn elicitation(support: ElicitationSupport, revision: Revision) -> Option<Elicitation> {
    if revision < Revision::V2025_06_18 {
        None
    } else if revision < Revision::V2025_11_25 {
        support.form.then_some(Elicitation { form: None, url: None })
    } else {
        let is_any = support.form || support.url;
        is_any.then(|| Elicitation {
            form: Present::when(support.form),
            url: Present::when(support.url),
        })
    }
}

fn tasks(support: TasksSupport) -> Tasks {
    let sampling = support.sampling.then_some(SamplingTasks { create_message: Present {} });
    let elicitation = support.elicitation.then_some(ElicitationTasks { create: Present {} });
    let is_any = support.sampling || support.elicitation;
    Tasks {
        list: Present::when(support.list),
        cancel: Present::when(support.cancel),
        requests: is_any.then_some(TaskRequests { sampling, elicitation }),
    }
}

fn some_pairs(pairs: &[(String, Object)]) -> Option<Pairs<'_, Object>> {
    (!pairs.is_empty()).then_some(Pairs(pairs))
}

#[derive(Serialize)]
struct Wire<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    experimental: Option<Pairs<'a, Object>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roots: Option<Roots>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<Sampling>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<Elicitation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Tasks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Pairs<'a, Object>>,
}

#[derive(Serialize)]
struct Roots {
    #[serde(rename = "listChanged", skip_serializing_if = "std::ops::Not::not")]
    list_changed: bool,
}

#[derive(Serialize)]
struct Sampling {
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Present>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Present>,
}

#[derive(Serialize)]
struct Elicitation {
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<Present>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Present>,
}

#[derive(Serialize)]
struct Tasks {
    #[serde(skip_serializing_if = "Option::is_none")]
    list: Option<Present>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel: Option<Present>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<TaskRequests>,
}

#[derive(Serialize)]
struct TaskRequests {
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<SamplingTasks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<ElicitationTasks>,
}

#[derive(Serialize)]
struct SamplingTasks {
    #[serde(rename = "createMessage")]
    create_message: Present,
}

#[derive(Serialize)]
struct ElicitationTasks {
    create: Present,
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
    fn each_revision_is_told_what_it_knows() {
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
    fn pages_alone_are_not_promised_where_they_would_mean_forms() {
        let support = ElicitationSupport { form: false, url: true };
        let pages = ClientCapabilities { elicitation: Some(support), ..Default::default() };
        check(&pages, Revision::V2025_06_18, "{}");
        check(&pages, Revision::V2025_11_25, r#"{"elicitation":{"url":{}}}"#);
    }

    #[test]
    fn nothing_is_written_as_nothing() {
        for revision in Revision::ALL {
            check(&ClientCapabilities::default(), revision, "{}");
        }
    }
}

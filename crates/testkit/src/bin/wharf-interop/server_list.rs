//! The JSON file that lists the servers: how each is started, and what is expected of it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::Deserialize;
use wharf_protocol::Json;
use wharf_protocol::transport::process::ProcessLaunch;
use wharf_protocol::view::ClientCapabilities;
use wharf_protocol::view::send::{ElicitationSupport, RootsSupport, SamplingSupport, TasksSupport};

/// The contents of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerList {
    pub(crate) servers: Vec<InteropServer>,
}

/// One server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InteropServer {
    pub(crate) name: String,
    pub(crate) kind: ServerTransport,
    command: String,
    args: Vec<String>,
    /// Variables that are added to the environment of this process.
    env: BTreeMap<String, String>,
    /// The path of the URL.
    #[serde(default)]
    pub(crate) path: String,
    client_capabilities: CapabilitiesJson,
    pub(crate) era: ExpectedEra,
    pub(crate) revision: String,
    /// Whether to start with `initialize`, although the server supports the modern era.
    #[serde(default)]
    pub(crate) force_legacy: bool,
    pub(crate) tools: ExpectedCount,
    #[serde(default)]
    pub(crate) resources_at_least: usize,
    #[serde(default)]
    pub(crate) templates_at_least: usize,
    #[serde(default)]
    pub(crate) prompts_at_least: usize,
    /// Whether there must be a call, because it needs no network.
    pub(crate) calls_offline: bool,
    pub(crate) call: Option<ExpectedCall>,
    pub(crate) read: Option<ExpectedResource>,
}

/// The transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ServerTransport {
    Stdio,
    Http,
    Sse,
}

/// The expected era.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ExpectedEra {
    Legacy,
    Modern,
}

/// The expected number of tools.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExpectedCount {
    Exactly(usize),
    AtLeast(usize),
}

/// A call and its expected result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedCall {
    pub(crate) tool: String,
    pub(crate) arguments: Json,
    pub(crate) contains: String,
    #[serde(default)]
    pub(crate) is_error: bool,
}

/// A resource and its expected contents.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedResource {
    pub(crate) uri: String,
    pub(crate) contains: String,
}

impl ServerTransport {
    /// Returns the name that the peer uses for the transport.
    pub(crate) fn transport(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

impl InteropServer {
    /// Returns the command to start; an HTTP server gets the port as a variable.
    pub(crate) fn launch(&self, port: Option<u16>) -> ProcessLaunch {
        let mut environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        environment.extend(self.env.iter().map(|(name, value)| (name.into(), value.into())));
        environment.extend(port.map(|port| ("PORT".into(), port.to_string().into())));
        let arguments = self.args.iter().map(Into::into).collect();
        ProcessLaunch { arguments, environment, ..ProcessLaunch::new(&self.command) }
    }

    /// Returns the capabilities that the client declares.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let CapabilitiesJson { roots, sampling, elicitation, tasks } = &self.client_capabilities;
        ClientCapabilities {
            roots: roots.as_ref().map(|it| RootsSupport { list_changed: it.list_changed }),
            sampling: sampling.as_ref().map(|it| SamplingSupport {
                tools: it.tools.is_some(),
                context: it.context.is_some(),
            }),
            // Without a mode, forms are meant.
            elicitation: elicitation.as_ref().map(|it| ElicitationSupport {
                form: it.form.is_some() || it.url.is_none(),
                url: it.url.is_some(),
            }),
            tasks: tasks.as_ref().map(|it| TasksSupport {
                list: it.list.is_some(),
                cancel: it.cancel.is_some(),
                sampling: it.requests.sampling.is_some(),
                elicitation: it.requests.elicitation.is_some(),
            }),
            ..ClientCapabilities::default()
        }
    }
}

/// The client capabilities in the JSON of the protocol.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CapabilitiesJson {
    roots: Option<RootsJson>,
    sampling: Option<SamplingJson>,
    elicitation: Option<ElicitationJson>,
    tasks: Option<TasksJson>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RootsJson {
    #[serde(default)]
    list_changed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SamplingJson {
    tools: Option<EmptyObject>,
    context: Option<EmptyObject>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ElicitationJson {
    form: Option<EmptyObject>,
    url: Option<EmptyObject>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TasksJson {
    list: Option<EmptyObject>,
    cancel: Option<EmptyObject>,
    #[serde(default)]
    requests: TaskRequestsJson,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskRequestsJson {
    sampling: Option<CreateMessageJson>,
    elicitation: Option<CreateJson>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateMessageJson {
    #[serde(rename = "createMessage")]
    _create_message: EmptyObject,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateJson {
    #[serde(rename = "create")]
    _create: EmptyObject,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EmptyObject {}

#[cfg(test)]
mod tests {
    use wharf_protocol::era::Revision;

    use super::*;

    fn server(capabilities: &str) -> Result<InteropServer, serde_json::Error> {
        serde_json::from_str(&format!(
            r#"{{"name":"n","kind":"stdio","command":"c","args":[],"env":{{"A":"b"}},
            "client_capabilities":{capabilities},"era":"legacy","revision":"2025-11-25",
            "tools":{{"at_least":1}},"calls_offline":false}}"#
        ))
    }

    fn check(capabilities: &str) {
        let declared = server(capabilities).unwrap().capabilities().render(Revision::LATEST_LEGACY);
        assert_eq!(declared.as_str(), capabilities);
    }

    #[test]
    fn the_capabilities_of_the_file_are_declared() {
        check("{}");
        check(r#"{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}"#);
        check(r#"{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}}}"#);
        check(
            r#"{"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}"#,
        );
        assert!(server(r#"{"magic":{}}"#).is_err());
    }

    #[test]
    fn a_server_gets_the_environment_of_this_process_and_its_own_variables() {
        let launch = server("{}").unwrap().launch(Some(80));
        let last: Vec<_> = launch.environment.iter().rev().take(2).collect();
        assert_eq!(last, [&("PORT".into(), "80".into()), &("A".into(), "b".into())]);
        assert!(launch.environment.len() > 2);
    }
}

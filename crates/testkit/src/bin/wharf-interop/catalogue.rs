//! The file that names the servers: how each is started, and what is known about it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::Deserialize;
use wharf_protocol::Json;
use wharf_protocol::transport::process::ProcessLaunch;
use wharf_protocol::view::ClientCapabilities;
use wharf_protocol::view::send::{ElicitationSupport, RootsSupport, SamplingSupport, TasksSupport};

/// All servers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Catalogue {
    pub(crate) servers: Vec<Server>,
}

/// One server.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    command: String,
    args: Vec<String>,
    /// Added to our own environment.
    env: BTreeMap<String, String>,
    /// What follows the port in the address.
    #[serde(default)]
    pub(crate) path: String,
    client_capabilities: Capabilities,
    pub(crate) era: EraName,
    pub(crate) revision: String,
    /// Begin with `initialize`, although the server knows more.
    #[serde(default)]
    pub(crate) force_legacy: bool,
    pub(crate) tools: Count,
    #[serde(default)]
    pub(crate) resources_at_least: usize,
    #[serde(default)]
    pub(crate) templates_at_least: usize,
    #[serde(default)]
    pub(crate) prompts_at_least: usize,
    /// Whether there is a call that needs no network.
    pub(crate) calls_offline: bool,
    pub(crate) call: Option<Call>,
    pub(crate) read: Option<Read>,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Stdio,
    Http,
    Sse,
}

/// The era that has to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EraName {
    Legacy,
    Modern,
}

/// How many there have to be.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Count {
    Exactly(usize),
    AtLeast(usize),
}

/// A call and what comes of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) arguments: Json,
    pub(crate) contains: String,
    #[serde(default)]
    pub(crate) is_error: bool,
}

/// A resource and what is in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    pub(crate) uri: String,
    pub(crate) contains: String,
}

impl Kind {
    /// Returns what the peer calls the transport.
    pub(crate) fn transport(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

impl Server {
    /// Returns what to start; servers on a network are told the port.
    pub(crate) fn launch(&self, port: Option<u16>) -> ProcessLaunch {
        let mut environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        environment.extend(self.env.iter().map(|(name, value)| (name.into(), value.into())));
        environment.extend(port.map(|port| ("PORT".into(), port.to_string().into())));
        let arguments = self.args.iter().map(Into::into).collect();
        ProcessLaunch { arguments, environment, ..ProcessLaunch::new(&self.command) }
    }

    /// Returns what we say that we can do.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let Capabilities { roots, sampling, elicitation, tasks } = &self.client_capabilities;
        ClientCapabilities {
            roots: roots.as_ref().map(|it| RootsSupport { list_changed: it.list_changed }),
            sampling: sampling.as_ref().map(|it| SamplingSupport {
                tools: it.tools.is_some(),
                context: it.context.is_some(),
            }),
            // Without a word about the way, forms are meant.
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

/// The capabilities as they are written on the wire.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Capabilities {
    roots: Option<Roots>,
    sampling: Option<Sampling>,
    elicitation: Option<Elicitation>,
    tasks: Option<Tasks>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Roots {
    #[serde(default)]
    list_changed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sampling {
    tools: Option<Empty>,
    context: Option<Empty>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Elicitation {
    form: Option<Empty>,
    url: Option<Empty>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tasks {
    list: Option<Empty>,
    cancel: Option<Empty>,
    #[serde(default)]
    requests: TaskRequests,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskRequests {
    sampling: Option<CreateMessage>,
    elicitation: Option<Create>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateMessage {
    #[serde(rename = "createMessage")]
    _create_message: Empty,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    #[serde(rename = "create")]
    _create: Empty,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

#[cfg(test)]
mod tests {
    use wharf_protocol::era::Revision;

    use super::*;

    fn server(capabilities: &str) -> Result<Server, serde_json::Error> {
        serde_json::from_str(&format!(
            r#"{{"name":"n","kind":"stdio","command":"c","args":[],"env":{{"A":"b"}},
            "client_capabilities":{capabilities},"era":"legacy","revision":"2025-11-25",
            "tools":{{"at_least":1}},"calls_offline":false}}"#
        ))
    }

    fn check(capabilities: &str) {
        let shown = server(capabilities).unwrap().capabilities().render(Revision::LATEST_LEGACY);
        assert_eq!(shown.as_str(), capabilities);
    }

    #[test]
    fn what_the_file_says_is_what_we_declare() {
        check("{}");
        check(r#"{"roots":{},"sampling":{},"elicitation":{"form":{},"url":{}}}"#);
        check(r#"{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}}}"#);
        check(
            r#"{"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}"#,
        );
        assert!(server(r#"{"magic":{}}"#).is_err());
    }

    #[test]
    fn a_server_gets_our_environment_and_its_own() {
        let launch = server("{}").unwrap().launch(Some(80));
        let last: Vec<_> = launch.environment.iter().rev().take(2).collect();
        assert_eq!(last, [&("PORT".into(), "80".into()), &("A".into(), "b".into())]);
        assert!(launch.environment.len() > 2);
    }
}

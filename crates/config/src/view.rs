//! The JSON form of the catalog, as printed with `--json`; secrets are redacted.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::catalog::{Catalog, Server};
use crate::env::Env;
use crate::problem::Problem;
use crate::secret::{REDACTED, redact_args, redact_command};
use crate::server::{
    Approval, ConfigValue, DEFAULT_TIMEOUT_MS, ServerName, Transport, WrittenText,
};
use crate::source::Source;

/// A server in a listing.
#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogServerView<'a> {
    /// The name.
    pub name: &'a ServerName,
    /// Its state.
    pub state: &'static str,
    /// Its transport.
    pub transport: &'static str,
    /// The program, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its arguments, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// The working folder of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its environment variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<NamedValues>,
    /// The address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<NamedValues>,
    /// The general timeout.
    pub timeout_ms: u64,
    /// The timeout for connecting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_timeout_ms: Option<u64>,
    /// The timeout for calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_timeout_ms: Option<u64>,
    /// Whether calls need approval.
    pub approval: Approval,
    /// The prefix of tool names, instead of the server's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<&'a str>,
    /// Globs of the tools to offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_tools: Option<&'a [String]>,
    /// Globs of the tools to leave out.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub exclude_tools: &'a [String],
    /// Variables passed on by name.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub pass_env: &'a [String],
    /// The protocol revision that it is pinned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<&'a str>,
    /// The file that contains it.
    pub source: &'a Source,
    /// The line of its name.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
    /// Why it is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The source of the definition that shadows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<&'a Source>,
    /// The name of the server that it duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<&'a ServerName>,
    /// The number of its tools in the cache; set by the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_known: Option<usize>,
    /// The error of the last attempt to connect; set by the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// Whether a credential is stored for it: `stored` or `expired`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential: Option<&'static str>,
    /// Approvals granted in another program, which are not applied.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub hints: &'a [String],
    /// What is wrong with it.
    pub problems: &'a [Problem],
}

/// Names and values in the order of the file; an object in JSON.
#[derive(Clone, PartialEq, Eq)]
pub struct NamedValues(Vec<(String, String)>);

impl NamedValues {
    /// Iterates over names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Of equal names the last value is kept.
impl FromIterator<(String, String)> for NamedValues {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        let mut named: Vec<(String, String)> = Vec::new();
        for (name, value) in pairs {
            match named.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => named.push((name, value)),
            }
        }
        Self(named)
    }
}

/// Shows the names only: a revealed value may be a secret.
impl fmt::Debug for NamedValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

impl Serialize for NamedValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// A listing of servers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CatalogView<'a> {
    /// The servers.
    pub servers: Vec<CatalogServerView<'a>>,
    /// What is wrong with files and settings.
    pub problems: &'a [Problem],
}

impl<'a> CatalogView<'a> {
    /// Lists the winners, or all definitions.
    pub fn of(catalog: &'a Catalog, all: bool) -> Self {
        let servers = if all { catalog.all() } else { catalog.winners() };
        let listed = servers.into_iter().filter(|server| all || server.duplicate_of.is_none());
        Self { servers: listed.map(CatalogServerView::of).collect(), problems: &catalog.problems }
    }
}

impl<'a> CatalogServerView<'a> {
    /// Makes the view of a server, with secrets redacted.
    pub fn of(server: &'a Server) -> Self {
        let definition = &server.definition;
        let fields = &definition.fields;
        let text = |written: &WrittenText| written.text.clone();
        let hidden = |pairs: &[(String, WrittenText)]| -> Option<NamedValues> {
            let redacted = pairs.iter().map(|(name, _)| (name.clone(), REDACTED.to_owned()));
            (!pairs.is_empty()).then(|| redacted.collect())
        };
        let is_local = fields.command.is_some();
        let args = redact_args(fields.args.iter().map(|arg| arg.text.as_str()));
        Self {
            name: &definition.name,
            state: server.state.word(),
            transport: server.transport.map_or("unknown", |kind| kind.word()),
            command: fields.command.as_ref().map(|command| redact_command(&command.text)),
            args: is_local.then_some(args),
            cwd: fields.cwd.as_ref().map(text),
            env: hidden(&fields.env),
            url: fields.render_url(),
            headers: hidden(&fields.headers),
            timeout_ms: fields.timeouts.both.unwrap_or(DEFAULT_TIMEOUT_MS),
            connect_timeout_ms: fields.timeouts.connect,
            call_timeout_ms: fields.timeouts.call,
            approval: fields.policy.approval,
            prefix: fields.policy.prefix.as_deref(),
            include_tools: fields.policy.include_tools.as_deref(),
            exclude_tools: &fields.policy.exclude_tools,
            pass_env: &fields.policy.pass_env,
            protocol_version: fields.policy.protocol_version.as_deref(),
            source: &definition.source,
            line: definition.line,
            reason: server.reason.as_deref(),
            shadowed_by: server.shadowed_by.as_deref(),
            duplicate_of: server.duplicate_of.as_ref(),
            tools_known: None,
            last_error: None,
            credential: None,
            hints: &definition.hints,
            problems: &server.problems,
        }
    }

    /// Makes the view of a server with its expanded values. The output of commands stays redacted.
    pub fn revealed(server: &'a Server, env: &Env) -> Self {
        let mut view = Self::of(server);
        let revealed = |pairs: &[(String, ConfigValue)]| -> Option<NamedValues> {
            let sent = pairs.iter().filter(|(_, value)| !matches!(value, ConfigValue::Omitted(_)));
            let revealed = sent.map(|(name, value)| (name.clone(), reveal(value, env)));
            (!pairs.is_empty()).then(|| revealed.collect())
        };
        match server.spec.as_ref().map(|spec| &spec.transport) {
            Some(Transport::Stdio(launch)) => {
                view.command = Some(launch.command.expose().to_owned());
                view.args = Some(launch.args.iter().map(|arg| arg.expose().to_owned()).collect());
                view.cwd = launch.cwd.as_ref().map(|cwd| cwd.expose().to_owned());
                view.env = revealed(&launch.env);
            }
            Some(Transport::Http(endpoint) | Transport::Sse(endpoint)) => {
                view.url = Some(endpoint.url.expose());
                view.headers = revealed(&endpoint.headers);
            }
            Some(Transport::Custom(_)) | None => {}
        }
        view
    }
}

/// Omits the entry: a revealed one has secrets.
impl fmt::Debug for CatalogServerView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogServerView")
            .field("name", &self.name)
            .field("state", &self.state)
            .field("transport", &self.transport)
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}

/// Tells whether there is no line, because the server is defined in code.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(line: &u32) -> bool {
    *line == 0
}

fn reveal(value: &ConfigValue, env: &Env) -> String {
    let text = value.text().expose();
    match value {
        ConfigValue::Command(_) => REDACTED,
        ConfigValue::NameOrLiteral(_) => env.nonempty_variable(text).unwrap_or(text),
        ConfigValue::Literal(_) | ConfigValue::Unset(_) => text,
        ConfigValue::Omitted(_) => "",
    }
    .to_owned()
}

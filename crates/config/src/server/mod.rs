//! A server at the two stages of this crate: a [`Definition`], which has the fields as written in a
//! file, and a [`ServerSpec`], which is expanded, valid and ready to be resolved and connected.
//!
//! `name` has the names of servers, `transport` how a server is started or reached.

mod name;
mod transport;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::custom_transport::CustomTransport;
use crate::document::Node;
use crate::expand::Syntax;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::server_url::render_written;
use crate::source::{Rank, Source};

pub use name::{NameError, NewServerName, ServerName};
pub use transport::{ConfigValue, Endpoint, LaunchCommand, Transport, TransportKind};

/// A text from a file, before expansion, with the placeholder syntax of its program.
#[derive(Clone, PartialEq, Eq)]
pub struct WrittenText {
    /// The text as written in the file.
    pub text: String,
    /// The placeholders that are replaced in it.
    pub syntax: Syntax,
}

/// Redacts the text: it may be a secret.
impl fmt::Debug for WrittenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(crate::secret::REDACTED)
    }
}

/// An entry of a config file, with Wharf's field names and every text as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The name.
    pub name: ServerName,
    /// The file that contains it, or the embedding program.
    pub source: Arc<Source>,
    /// The line of its name; 0 for a server of the embedding program.
    pub line: u32,
    /// Its precedence.
    pub rank: Rank,
    /// The base of its relative paths and of `${workspaceFolder}`: the folder of the project, of
    /// the plugin, or of the file.
    pub folder: Arc<PathBuf>,
    /// The folder of the plugin or extension it belongs to.
    pub plugin: Option<Arc<PathBuf>>,
    /// Its fields; boxed, because definitions are moved often while they are sorted.
    pub fields: Box<EntryFields>,
    /// Why it is switched off, if it is.
    pub off: Option<SwitchedOff>,
    /// The managed file, or the map of servers, that replaces its whole file; names do not matter.
    pub replaced_by: Option<Arc<Source>>,
    /// Approvals granted in another program (`autoApprove` and similar): shown, but not applied.
    pub hints: Vec<String>,
    /// The whole entry as written; kept if trust depends on it.
    pub raw: Option<Node>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// Why a definition is switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    /// Words that continue "it is …".
    pub reason: String,
    /// Whether `enabledServers` in Wharf's user file overrides it.
    pub by_other_program: bool,
}

/// The fields of an entry, before expansion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryFields {
    /// The transport's name.
    pub kind: Option<String>,
    /// The program to start.
    pub command: Option<WrittenText>,
    /// Its arguments.
    pub args: Vec<WrittenText>,
    /// Environment variables of the program.
    pub env: Vec<(String, WrittenText)>,
    /// A file with more variables.
    pub env_file: Option<WrittenText>,
    /// The working folder of the program.
    pub cwd: Option<WrittenText>,
    /// The address of the server.
    pub url: Option<WrittenText>,
    /// The transport that `url` implies if the entry does not name one.
    pub url_kind: Option<TransportKind>,
    /// Headers to send.
    pub headers: Vec<(String, WrittenText)>,
    /// The transport that the embedding program brings.
    pub custom: Option<CustomTransport>,
    /// A command that prints headers; this crate never runs it.
    pub headers_helper: Option<Secret>,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// How much of it is read.
    pub limits: ServerLimits,
    /// A stored credential.
    pub auth: Option<Auth>,
    /// OAuth options.
    pub oauth: Option<OAuth>,
    /// Which of several stored accounts.
    pub account: Option<String>,
    /// Approval, tool filters and other options.
    pub policy: Policy,
    /// The placeholder syntax of the fields that are plain strings.
    pub syntax: Syntax,
}

impl EntryFields {
    /// Renders the address, with secrets redacted: the parsed one, or as written if it has
    /// placeholders.
    pub fn render_url(&self) -> Option<String> {
        self.url.as_ref().map(render_written)
    }

    /// Returns every text in which placeholders are replaced.
    pub(crate) fn texts(&self) -> Vec<WrittenText> {
        let syntax = self.syntax;
        let oauth = self.oauth.as_ref();
        let written = [&self.command, &self.cwd, &self.url, &self.env_file].into_iter().flatten();
        let signing_in =
            oauth.into_iter().flat_map(|it| [&it.client_id, &it.client_secret]).flatten();
        let pairs = self.env.iter().chain(&self.headers).map(|(_, value)| value);
        let plain = [&self.account, &self.policy.prefix].into_iter().flatten();
        let plain = plain.chain(
            oauth
                .into_iter()
                .flat_map(|it| [&it.issuer, &it.scope, &it.redirect_uri, &it.client_metadata_url])
                .flatten(),
        );
        let written = written.chain(signing_in).chain(&self.args).chain(pairs).cloned();
        written.chain(plain.map(|text| WrittenText { text: text.clone(), syntax })).collect()
    }
}

/// Timeouts in milliseconds; none means the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting, and the idle timeout of requests. Zero: no idle timeout.
    pub both: Option<u64>,
    /// For connecting only.
    pub connect: Option<u64>,
    /// For calls only.
    pub call: Option<u64>,
    /// For listing the tools only; none means the one for connecting. Only code sets it.
    pub list: Option<u64>,
}

/// How much of a server is read; none means the default. Only code sets them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerLimits {
    /// The entries of one list, such as that of the tools.
    pub list_entries: Option<usize>,
    /// The bytes of one message.
    pub message_bytes: Option<usize>,
}

/// The timeout of definitions that set none.
pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// A reference to a stored credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// `oauth` or `bearer`.
    #[serde(rename = "type")]
    pub kind: AuthKind,
    /// Its id in the credential store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential_id: Option<String>,
}

/// The kind of a stored credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AuthKind {
    /// Signed in with OAuth.
    Oauth,
    /// A fixed token.
    Bearer,
}

/// OAuth options, for servers whose metadata is incomplete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuth {
    /// The id of a client that is registered already.
    pub client_id: Option<WrittenText>,
    /// The secret of that client.
    pub client_secret: Option<WrittenText>,
    /// The address of the client ID metadata document.
    pub client_metadata_url: Option<String>,
    /// The only issuer to sign in at.
    pub issuer: Option<String>,
    /// The requested scopes, separated by spaces.
    pub scope: Option<String>,
    /// The port of the callback.
    pub callback_port: Option<u16>,
    /// The callback address.
    pub redirect_uri: Option<String>,
    /// The grant type.
    pub grant: Option<String>,
    /// OAuth is switched off.
    pub off: bool,
}

/// Options that do not affect how a server is started: a change needs no new connection.
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own in the file")]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policy {
    /// Whether calls need approval.
    pub approval: Approval,
    /// Approval by tool; the keys may be globs.
    pub tool_approval: Vec<(String, Approval)>,
    /// The prefix of tool names, instead of the server's name.
    pub prefix: Option<String>,
    /// Globs of the tools to offer; none means all.
    pub include_tools: Option<Vec<String>>,
    /// Globs of the tools to leave out; they override `include_tools`.
    pub exclude_tools: Vec<String>,
    /// The server's process inherits the whole environment.
    pub inherit_env: bool,
    /// More variables that the server's process inherits.
    pub pass_env: Vec<String>,
    /// A value that cannot be resolved is an error.
    pub strict: bool,
    /// Calls are retried if the tool's annotations allow it.
    pub retry_on_hints: bool,
    /// Connect on the first call.
    pub lazy: bool,
    /// Runs without a terminal fail if it is not connected.
    pub required: bool,
    /// Keep the server's instructions out of the prompt.
    pub without_instructions: bool,
    /// The only protocol revision to offer, one of [`PROTOCOL_VERSIONS`].
    pub protocol_version: Option<String>,
}

/// The protocol revisions that an entry can be pinned to.
pub const PROTOCOL_VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Whether a call needs approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// Each call needs approval; `auto` means the same.
    #[default]
    Ask,
    /// A call needs approval unless the tool only reads.
    Writes,
    /// No call needs approval.
    Never,
    /// The tool is not offered.
    Deny,
}

impl Approval {
    /// Returns the word used in files and output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Writes => "writes",
            Self::Never => "never",
            Self::Deny => "deny",
        }
    }

    /// Parses the word in a file.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "ask" | "auto" => Some(Self::Ask),
            "writes" => Some(Self::Writes),
            "never" => Some(Self::Never),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

/// A valid definition after expansion, which the runtime resolves and connects.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec {
    /// The name.
    pub name: ServerName,
    /// Its transport.
    pub transport: Transport,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// How much of it is read.
    pub limits: ServerLimits,
    /// A stored credential.
    pub auth: Option<Auth>,
    /// OAuth options, expanded.
    pub oauth: Option<OAuth>,
    /// Which of several stored accounts.
    pub account: Option<String>,
    /// Approval, tool filters and other options.
    pub policy: Policy,
}

//! A server at the two stages of this crate: a [`Definition`] as somebody wrote it, and a
//! [`ServerSpec`] that is expanded, valid and ready to be resolved and connected.

use std::borrow::Borrow;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::document::Node;
use crate::expand::Syntax;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::server_url::{ServerUrl, render_written};
use crate::source::{Rank, Source};
use crate::store::private_file::hex;

/// The name of a server as its file has it: any text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ServerName(String);

impl ServerName {
    /// Takes a name as it was found.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name that Wharf itself may write into a file; readers accept more ([`ServerName`]).
///
/// ```
/// use wharf_config::NewServerName;
///
/// assert!("github".parse::<NewServerName>().is_ok());
/// assert!("my server".parse::<NewServerName>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServerName(String);

impl NewServerName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NewServerName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match name {
            "" => Err(NameError::Empty),
            _ if name.chars().count() > 100 => Err(NameError::TooLong),
            _ if !name.chars().all(allowed) => Err(NameError::Characters),
            _ => Ok(Self(name.to_owned())),
        }
    }
}

/// Why Wharf will not write a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is none.
    #[error("Server name cannot be empty")]
    Empty,
    /// Over 100 characters.
    #[error("Server name is too long (max 100 characters)")]
    TooLong,
    /// A character that some program could not take.
    #[error("Server name can only contain letters, numbers, dash, underscore and dot")]
    Characters,
}

/// A text from a file, with the placeholders its program knows.
#[derive(Clone, PartialEq, Eq)]
pub struct WrittenText {
    /// The text as it stands in the file.
    pub text: String,
    /// Which placeholders count in it.
    pub syntax: Syntax,
}

/// Shows that there is a text, not which: it may be a secret.
impl fmt::Debug for WrittenText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(crate::secret::REDACTED)
    }
}

/// An entry in somebody's config file, with our field names and every text as written.
#[derive(Debug, Clone)]
pub struct Definition {
    /// The name.
    pub name: ServerName,
    /// The file it stands in.
    pub source: Arc<Source>,
    /// The line of its name in the file.
    pub line: u32,
    /// How high it stands.
    pub rank: Rank,
    /// The folder its relative paths and `${workspaceFolder}` start from: the project's, the
    /// plugin's, or the folder of the file.
    pub folder: Arc<PathBuf>,
    /// The folder of the plugin or extension it belongs to.
    pub plugin: Option<Arc<PathBuf>>,
    /// What it says; boxed, since definitions are moved about while they are sorted out.
    pub fields: Box<EntryFields>,
    /// Why it is switched off, if it is.
    pub off: Option<SwitchedOff>,
    /// What hides it whatever it is called: a managed file, or a map that replaces its own.
    pub replaced_by: Option<Arc<Source>>,
    /// Grants its owner gave it elsewhere (`autoApprove` and the like): shown, never honoured.
    pub hints: Vec<String>,
    /// The entry as a whole, as written; kept where trust depends on it.
    pub raw: Option<Node>,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// Why a definition is switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    /// In words that continue "it is …".
    pub reason: String,
    /// Whether `enabledServers` in our user file may overrule it.
    pub by_other_program: bool,
}

/// The fields of an entry, as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntryFields {
    /// The word for the transport.
    pub kind: Option<String>,
    /// The program to start.
    pub command: Option<WrittenText>,
    /// Its arguments.
    pub args: Vec<WrittenText>,
    /// Variables for it.
    pub env: Vec<(String, WrittenText)>,
    /// A file with further variables.
    pub env_file: Option<WrittenText>,
    /// The folder to start it in.
    pub cwd: Option<WrittenText>,
    /// The endpoint.
    pub url: Option<WrittenText>,
    /// What `url` means where no word says so.
    pub url_kind: Option<TransportKind>,
    /// Headers to send.
    pub headers: Vec<(String, WrittenText)>,
    /// A program that prints headers; never run while reading.
    pub headers_helper: Option<String>,
    /// Limits.
    pub timeouts: Timeouts,
    /// A stored credential.
    pub auth: Option<Auth>,
    /// How to sign in.
    pub oauth: Option<OAuth>,
    /// Which of several stored accounts.
    pub account: Option<String>,
    /// What the agent may do, and how its tools are shown.
    pub policy: Policy,
    /// Which placeholders count in the texts that are kept as they are.
    pub syntax: Syntax,
}

impl EntryFields {
    /// Shows the address: from its parse, or as written where it has placeholders.
    pub fn render_url(&self) -> Option<String> {
        self.url.as_ref().map(render_written)
    }

    /// Collects every text in which placeholders count.
    pub(crate) fn texts(&self) -> Vec<WrittenText> {
        let syntax = self.syntax;
        let oauth = self.oauth.as_ref();
        let written = [&self.command, &self.cwd, &self.url, &self.env_file].into_iter().flatten();
        let signing_in =
            oauth.into_iter().flat_map(|it| [&it.client_id, &it.client_secret]).flatten();
        let pairs = self.env.iter().chain(&self.headers).map(|(_, value)| value);
        let plain = [&self.account, &self.policy.prefix].into_iter().flatten();
        let plain =
            plain.chain(oauth.into_iter().flat_map(|it| [&it.scope, &it.redirect_uri]).flatten());
        let written = written.chain(signing_in).chain(&self.args).chain(pairs).cloned();
        written.chain(plain.map(|text| WrittenText { text: text.clone(), syntax })).collect()
    }
}

/// Limits in milliseconds; none means the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting and, idle, for requests. Zero: no idle limit.
    pub both: Option<u64>,
    /// For connecting alone.
    pub connect: Option<u64>,
    /// For calls alone.
    pub call: Option<u64>,
}

/// The limit where a definition names none.
pub const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// Refers to a stored credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// `oauth` or `bearer`.
    #[serde(rename = "type")]
    pub kind: AuthKind,
    /// Which one in the store.
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

/// How to sign in, where the server's own metadata does not say enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuth {
    /// A client registered beforehand.
    pub client_id: Option<WrittenText>,
    /// Its secret.
    pub client_secret: Option<WrittenText>,
    /// What to ask for, separated by spaces.
    pub scope: Option<String>,
    /// The port of the callback.
    pub callback_port: Option<u16>,
    /// The whole callback address.
    pub redirect_uri: Option<String>,
    /// Which grant to use.
    pub grant: Option<String>,
    /// The owner switched signing in off.
    pub off: bool,
}

/// What has no bearing on how a server is started: a change needs no new connection.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policy {
    /// Whether calls need approval.
    pub approval: Approval,
    /// The same by tool; the keys may be globs.
    pub tool_approval: Vec<(String, Approval)>,
    /// Replaces the server's name in tool names.
    pub prefix: Option<String>,
    /// Globs of the tools to offer; none means all.
    pub include_tools: Option<Vec<String>>,
    /// Globs of the tools to leave out; these win.
    pub exclude_tools: Vec<String>,
    /// The child sees the whole environment.
    pub inherit_env: bool,
    /// Further variables that the child sees.
    pub pass_env: Vec<String>,
    /// A value that cannot be resolved is an error.
    pub strict: bool,
    /// Calls may be repeated on the tool's own claim.
    pub retry_on_hints: bool,
    /// Connect on first call.
    pub lazy: bool,
    /// Headless runs fail without it.
    pub required: bool,
    /// Keep the server's instructions out of the prompt.
    pub without_instructions: bool,
    /// The only protocol revision to offer, one of [`PROTOCOL_VERSIONS`].
    pub protocol_version: Option<String>,
}

/// The protocol revisions that an entry can be pinned to.
pub const PROTOCOL_VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Whether a call needs a person's yes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// Each call is asked for; `auto` means the same.
    #[default]
    Ask,
    /// Asked for unless the tool only reads.
    Writes,
    /// Not asked for.
    Never,
    /// Hidden.
    Deny,
}

impl Approval {
    /// Reads the word of a file.
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

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TransportKind {
    /// A program that speaks over its standard streams.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, the older form.
    Sse,
}

impl TransportKind {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// A valid definition with everything expanded: what the runtime resolves and connects.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec {
    /// The name.
    pub name: ServerName,
    /// How it is reached.
    pub transport: Transport,
    /// Limits.
    pub timeouts: Timeouts,
    /// A stored credential.
    pub auth: Option<Auth>,
    /// How to sign in, expanded.
    pub oauth: Option<OAuth>,
    /// Which of several stored accounts.
    pub account: Option<String>,
    /// What has no bearing on how it is started.
    pub policy: Policy,
}

/// What is needed to reach a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// Start a program.
    Stdio(LaunchCommand),
    /// Streamable HTTP.
    Http(Endpoint),
    /// HTTP with server-sent events first.
    Sse(Endpoint),
}

impl Transport {
    /// Names the kind.
    pub fn kind(&self) -> TransportKind {
        match self {
            Self::Stdio(_) => TransportKind::Stdio,
            Self::Http(_) => TransportKind::Http,
            Self::Sse(_) => TransportKind::Sse,
        }
    }
}

/// How to start a program.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchCommand {
    /// The program.
    pub command: Secret,
    /// Its arguments.
    pub args: Vec<Secret>,
    /// Variables for it, the entry's own after those of its environment file.
    pub env: Vec<(String, ConfigValue)>,
    /// The folder to start it in.
    pub cwd: Option<Secret>,
}

impl LaunchCommand {
    /// What the text of every launch identity begins with.
    pub const IDENTITY_PREFIX: &'static str = "stdio:";

    /// Returns a text that is the same for two programs exactly if they are started in the same
    /// way. A stored token is bound to it. Nothing can be read from it.
    pub fn identity(&self) -> String {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        };
        part(self.command.expose());
        part(&self.args.len().to_string());
        self.args.iter().for_each(|arg| part(arg.expose()));
        let mut env: Vec<_> =
            self.env.iter().map(|(name, value)| (name.as_str(), value.text().expose())).collect();
        env.sort_unstable();
        for (name, value) in env {
            part(name);
            part(value);
        }
        part(self.cwd.as_ref().map_or("", |cwd| cwd.expose()));
        format!("{}{}", Self::IDENTITY_PREFIX, hex(&hash.finalize()))
    }
}

/// Where to send requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The address.
    pub url: ServerUrl,
    /// Headers to send.
    pub headers: Vec<(String, ConfigValue)>,
}

/// An environment or header value and what is left to do before it can be used.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConfigValue {
    /// Ready.
    Literal(Secret),
    /// A command whose output is the value.
    Command(Secret),
    /// The name of a variable if that is set, else the value itself.
    NameOrLiteral(Secret),
    /// It needs a variable that is not set; the text keeps its placeholder.
    Unset(Secret),
    /// The file names a variable that is not set, so there is nothing to send.
    LeftOut(Secret),
}

impl ConfigValue {
    /// Returns the text as far as it is known.
    pub fn text(&self) -> &Secret {
        match self {
            Self::Literal(text)
            | Self::Command(text)
            | Self::NameOrLiteral(text)
            | Self::Unset(text)
            | Self::LeftOut(text) => text,
        }
    }
}

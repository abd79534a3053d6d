//! The transport of a server: its kind, and how to start or reach the server.

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::custom_transport::CustomTransport;
use crate::secret::Secret;
use crate::server_url::ServerUrl;
use crate::store::private_file::hex;

/// The kind of a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportKind {
    /// A program with messages on its stdin and stdout.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events, the older form.
    Sse,
    /// A transport of the embedding program, with the word for output.
    Custom(&'static str),
}

impl TransportKind {
    /// Returns the word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Custom(word) => word,
        }
    }
}

/// Serializes the word.
impl Serialize for TransportKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A transport with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// Start a program.
    Stdio(LaunchCommand),
    /// Streamable HTTP.
    Http(Endpoint),
    /// HTTP with server-sent events.
    Sse(Endpoint),
    /// A transport of the embedding program.
    Custom(CustomTransport),
}

impl Transport {
    /// Returns the kind.
    pub fn kind(&self) -> TransportKind {
        match self {
            Self::Stdio(_) => TransportKind::Stdio,
            Self::Http(_) => TransportKind::Http,
            Self::Sse(_) => TransportKind::Sse,
            Self::Custom(transport) => TransportKind::Custom(transport.word()),
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
    /// Environment variables: those of `envFile`, then those of the entry.
    pub env: Vec<(String, ConfigValue)>,
    /// The folder to start it in.
    pub cwd: Option<Secret>,
}

impl LaunchCommand {
    /// The prefix of every launch identity.
    pub const IDENTITY_PREFIX: &'static str = "stdio:";

    /// Returns a hash of the command, arguments, variables and folder. Stored tokens of local
    /// programs are bound to it.
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

/// The address of a remote server and the headers to send.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// The address.
    pub url: ServerUrl,
    /// Headers to send.
    pub headers: Vec<(String, ConfigValue)>,
}

/// An expanded environment or header value, and what the runtime must do to resolve it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConfigValue {
    /// It is ready to use.
    Literal(Secret),
    /// A command whose output is the value.
    Command(Secret),
    /// The name of a variable, if that is set; otherwise the value itself.
    NameOrLiteral(Secret),
    /// A variable in it is not set; the text keeps the placeholder.
    Unset(Secret),
    /// The file names a variable that is not set, so the value is not sent.
    Omitted(Secret),
}

impl ConfigValue {
    /// Returns the text, resolved or not.
    pub fn text(&self) -> &Secret {
        match self {
            Self::Literal(text)
            | Self::Command(text)
            | Self::NameOrLiteral(text)
            | Self::Unset(text)
            | Self::Omitted(text) => text,
        }
    }
}

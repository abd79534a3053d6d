//! Servers from code: the definitions [`Stdio`], [`Http`] and own transports.
//!
//! Every value is literal: nothing in it is expanded, looked up or run. `stdio` and `http` have the
//! methods of one kind of server, this file those of all. A [`Catalog`](crate::Catalog) checks the
//! entry when it is inserted.

mod http;
mod stdio;
#[cfg(test)]
mod tests;

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::custom_transport::CustomTransport;
use crate::expand::Syntax;
use crate::problem::Problem;
use crate::secret::Secret;
use crate::server::{Approval, EntryFields, PROTOCOL_VERSIONS, WrittenText};

pub use http::{Http, HttpKind};
pub use stdio::{Stdio, StdioKind};

/// A server of any kind that is defined in code: what
/// [`Catalog::insert`](crate::Catalog::insert) accepts, and what [`Stdio`] and [`Http`] convert to.
///
/// Every value is literal. `"HOME"`, `"!echo"`, `"${X}"` and `"~"` arrive exactly so.
///
/// ```
/// use std::time::Duration;
/// use wharf_config::{Approval, ServerEntry, Stdio};
///
/// let entry: ServerEntry = Stdio::new("uvx")
///     .arg("mcp-server-git")
///     .env("LOG_LEVEL", "DEBUG")
///     .approval(Approval::Writes)
///     .tool_approval("git_push", Approval::Ask)
///     .call_timeout(Duration::from_secs(60))
///     .into();
/// ```
pub type ServerEntry = TypedEntry<AnyKind>;

/// A server that is defined in code; `T` tells which methods it has. See [`ServerEntry`].
pub struct TypedEntry<T> {
    fields: Box<EntryFields>,
    problems: Vec<Problem>,
    transport: PhantomData<fn() -> T>,
}

/// Marks an entry of any kind.
#[derive(Debug)]
pub enum AnyKind {}

impl ServerEntry {
    /// Defines a server behind a transport of the program.
    pub fn custom(transport: CustomTransport) -> Self {
        Self::with_fields(EntryFields { custom: Some(transport), ..EntryFields::default() })
    }

    /// Says what is behind the transport of the program, see [`CustomTransport::with_identity`].
    /// For an entry with a command or an address, which is its identity, this is a problem.
    #[must_use]
    pub fn identity(mut self, identity: impl Into<Secret>) -> Self {
        if let Some(transport) = self.fields.custom.take() {
            self.fields.custom = Some(transport.with_identity(identity));
        } else {
            let message = "an identity is only for a transport of the program; ignored";
            let problem = Problem::warning("identity-without-effect", message);
            self.problems.push(
                problem.hint("remove it: the command or the address already identifies the server"),
            );
        }
        self
    }

    /// Returns the fields, and the problems of values that cannot be represented.
    pub(crate) fn into_parts(self) -> (Box<EntryFields>, Vec<Problem>) {
        (self.fields, self.problems)
    }
}

impl From<CustomTransport> for ServerEntry {
    fn from(transport: CustomTransport) -> Self {
        Self::custom(transport)
    }
}

/// The options of every kind of server.
impl<T> TypedEntry<T> {
    /// Sets whether calls need approval; without it, every call does ([`Approval::Ask`]).
    #[must_use]
    pub fn approval(mut self, approval: Approval) -> Self {
        self.fields.policy.approval = approval;
        self
    }

    /// Sets whether calls of the tools that a glob matches need approval.
    #[must_use]
    pub fn tool_approval(mut self, tools: impl Into<String>, approval: Approval) -> Self {
        self.fields.policy.tool_approval.push((tools.into(), approval));
        self
    }

    /// Replaces the name of the server in the names of its tools: with the prefix `gh`, the tool
    /// `search` is `mcp_gh_search`. An empty prefix is the name of the server.
    ///
    /// Like a server's name, it is changed to what every model accepts: lower case; every other
    /// character than `a` to `z` and `_` becomes `_`; `_` at the ends and repeated ones go; nothing
    /// left is `server`. With the setting `tools.naming` at `precise`, digits stay and the parts are
    /// joined with `__`. Calls by path, such as `github/search`, use the name of the server.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.fields.policy.prefix = Some(prefix.into());
        self
    }

    /// Offers only the tools that one of these globs matches.
    #[must_use]
    pub fn include_tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        let included = self.fields.policy.include_tools.get_or_insert_default();
        included.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Does not offer the tools that one of these globs matches, even if they are included.
    #[must_use]
    pub fn exclude_tools<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.fields.policy.exclude_tools.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Limits how long connecting may take; without it, 30 seconds. Zero means the longest limit.
    #[must_use]
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.fields.timeouts.connect = Some(milliseconds(limit));
        self
    }

    /// Limits how long listing the tools may take, all pages together; without it, as long as
    /// connecting. After it, the server has failed. Zero means the longest limit.
    #[must_use]
    pub fn list_timeout(mut self, limit: Duration) -> Self {
        self.fields.timeouts.list = Some(milliseconds(limit));
        self
    }

    /// Limits the entries of each list of the server, such as that of its tools; without it,
    /// 50 000. The entries after it are not read, and the server gets a problem.
    #[must_use]
    pub fn max_list_entries(mut self, limit: usize) -> Self {
        self.fields.limits.list_entries = Some(limit);
        self
    }

    /// Limits the bytes of one message of the server; without it, 64 MiB. A result that is longer
    /// fails its call.
    #[must_use]
    pub fn max_message_bytes(mut self, limit: usize) -> Self {
        self.fields.limits.message_bytes = Some(limit);
        self
    }

    /// Limits how long a call may be silent; without it, 30 seconds. Zero means that only the
    /// setting `call.max_ms` limits it.
    #[must_use]
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.fields.timeouts.call = Some(milliseconds(limit));
        self
    }

    /// Connects on the first call.
    #[must_use]
    pub fn lazy(mut self) -> Self {
        self.fields.policy.lazy = true;
        self
    }

    /// Marks the server as one without which a run without a person fails.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.fields.policy.required = true;
        self
    }

    /// Makes a value that cannot be sent an error; otherwise it is left out with a warning.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.fields.policy.strict = true;
        self
    }

    /// Keeps the instructions of the server out of the prompt.
    #[must_use]
    pub fn without_instructions(mut self) -> Self {
        self.fields.policy.without_instructions = true;
        self
    }

    /// Repeats a call whose outcome is unknown if the annotations of the tool allow it.
    #[must_use]
    pub fn retry_on_hints(mut self) -> Self {
        self.fields.policy.retry_on_hints = true;
        self
    }

    /// Offers only this protocol revision, one of [`PROTOCOL_VERSIONS`].
    #[must_use]
    pub fn protocol_version(mut self, version: impl Into<String>) -> Self {
        let version = version.into();
        if PROTOCOL_VERSIONS.contains(&version.as_str()) {
            self.fields.policy.protocol_version = Some(version);
        } else {
            let message = "\"protocolVersion\" is not a known protocol revision; ignored";
            let hint = format!("use one of {}", PROTOCOL_VERSIONS.join(", "));
            let problem = Problem::warning("wrong-type", message).of_field("protocolVersion");
            self.problems.push(problem.hint(hint));
        }
        self
    }

    fn with_fields(fields: EntryFields) -> Self {
        Self { fields: Box::new(fields), problems: Vec::new(), transport: PhantomData }
    }

    /// Forgets which methods the entry has.
    fn erase(self) -> ServerEntry {
        let Self { fields, problems, .. } = self;
        TypedEntry { fields, problems, transport: PhantomData }
    }
}

impl<T> Clone for TypedEntry<T> {
    fn clone(&self) -> Self {
        let (fields, problems) = (self.fields.clone(), self.problems.clone());
        Self { fields, problems, transport: PhantomData }
    }
}

/// Redacts every value: it may be a secret.
impl<T> fmt::Debug for TypedEntry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEntry")
            .field("fields", &self.fields)
            .field("problems", &self.problems)
            .finish_non_exhaustive()
    }
}

/// Makes a text in which nothing is expanded.
fn literal(text: impl Into<String>) -> WrittenText {
    WrittenText { text: text.into(), syntax: Syntax::empty() }
}

/// Sets the value of a name, in place of an earlier one.
fn set(
    values: &mut Vec<(String, WrittenText)>,
    name: String,
    value: &Secret,
    is_same: fn(&str, &str) -> bool,
) {
    values.retain(|(other, _)| !is_same(other, &name));
    values.push((name, literal(value.expose())));
}

/// Rounds up, because zero milliseconds mean that there is no limit.
fn milliseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

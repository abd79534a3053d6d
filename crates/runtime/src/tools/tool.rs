//! One tool as an agent sees it: its name, where it comes from, and what its server says about it.
//!
//! A tool shares the text of its server's list. What is not needed to list it is read when it is
//! asked for.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytestring::ByteString;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wharf_config::store::private_file;
use wharf_config::{Approval, ServerName, Source};
use wharf_protocol::Json;
use wharf_protocol::view::{self, ToolHints};

use super::schema::{self, Sanitize};
use super::server_tools::ToolOrigin;
use crate::arguments::check::ArgumentCheck;
use crate::arguments::example::{Extent, example};
use crate::arguments::{Misuse, Signature};

/// Where the definition of a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The server has listed it on the connection in use.
    Live,
    /// It is remembered from an earlier connection.
    Cached,
}

/// Whether a tool is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// It is.
    Offered,
    /// The policy says `deny`: it is not listed, and a call is refused.
    Denied,
    /// It is new or has changed, and pins are enforced: not listed until the person accepts it.
    Withheld,
}

/// A tool that can be called.
///
/// Of thousands of tools few are ever called, so the others keep no room for what that needs.
pub struct Tool {
    pub(super) name: Arc<str>,
    pub(super) origin: Arc<ToolOrigin>,
    /// Its place in the server's list.
    pub(super) index: usize,
    /// With `properties`.
    pub(super) schema: Json,
    /// The schema by the strict rules, once somebody has asked for it.
    pub(super) strict: OnceLock<Box<Json>>,
    pub(super) approval: Approval,
    pub(super) visibility: Visibility,
    /// The schema made ready for checking, once somebody has called it.
    pub(super) check: OnceLock<Box<ArgumentCheck>>,
}

impl Tool {
    /// Returns the name that agents use; it is never taken apart again.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the server it belongs to.
    pub fn server(&self) -> &ServerName {
        &self.origin.server
    }

    /// Returns its name on the server.
    pub fn tool(&self) -> &str {
        self.view().name()
    }

    /// Returns the name for people.
    pub fn title(&self) -> Option<ByteString> {
        self.view().title()
    }

    /// Returns what it does, in the server's words.
    pub fn description(&self) -> Option<ByteString> {
        self.view().description()
    }

    /// Returns the schema of its arguments, for models.
    pub fn input_schema(&self) -> &Json {
        match self.origin.settings.sanitize {
            Sanitize::Light => &self.schema,
            Sanitize::Strict => self.strict.get_or_init(|| Box::new(schema::strict(&self.schema))),
        }
    }

    /// Returns the schema that arguments are checked against: what the server accepts, which may
    /// be more than a model is told.
    pub fn accepted_schema(&self) -> &Json {
        &self.schema
    }

    /// Returns the schema of its structured content.
    pub fn output_schema(&self) -> Option<Json> {
        self.view().output_schema()
    }

    /// Returns the annotations as they came.
    pub fn annotations(&self) -> Option<Json> {
        self.raw().get("annotations").filter(Json::is_object)
    }

    /// Returns the hints among the annotations: claims of the server.
    pub fn hints(&self) -> ToolHints {
        self.view().hints()
    }

    /// Tells whether the server itself has just said all this.
    pub fn freshness(&self) -> Freshness {
        self.origin.freshness
    }

    /// Returns whether a call needs a yes, by the policy of the server and its rules for tools.
    pub fn approval(&self) -> Approval {
        self.approval
    }

    /// Tells whether it is offered; [`super::Registry::tools`] has only tools that are.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }

    /// Tells whether it is live and as it was when the person first used its server. Only then do
    /// its hints count.
    pub fn is_pinned_unchanged(&self) -> bool {
        self.freshness() == Freshness::Live && self.origin.listed.is_pinned_unchanged(self.tool())
    }

    /// Returns the file that its server is defined in.
    pub fn source(&self) -> &Arc<Source> {
        &self.origin.source
    }

    /// Returns where it comes from in one line: `mcp:<server> via <program>`.
    pub fn path(&self) -> String {
        format!("mcp:{} via {}", self.server(), self.origin.source.provider_name)
    }

    /// Lists its arguments.
    pub fn signature(&self) -> Signature {
        Signature::of(self.accepted_schema())
    }

    /// Makes up arguments that its schema accepts, as few as possible; nothing if none can be
    /// guessed.
    pub fn example(&self) -> Option<Json> {
        let schema = self.accepted_schema().to::<Value>()?;
        [Extent::Required, Extent::All].into_iter().find_map(|extent| {
            let json = Json::parse(example(&schema, extent)?.to_string()).ok()?;
            self.check(&json).is_ok().then_some(json)
        })
    }

    /// Says what is wrong with arguments for it, before anything is sent.
    pub(crate) fn check(&self, arguments: &Json) -> Result<(), Misuse> {
        let new = || Box::new(ArgumentCheck::new(self.accepted_schema()));
        let check = self.check.get_or_init(new);
        check.check(arguments)
    }

    /// Identifies exactly this definition: another word in it, and it is another one.
    pub(crate) fn pin(&self) -> String {
        private_file::hex(&Sha256::digest(self.raw().as_str().as_bytes())[..16])
    }

    /// Returns the definition as it came.
    pub fn raw(&self) -> &Json {
        self.view().raw()
    }

    /// Returns the definition to read more of it.
    pub fn view(&self) -> &view::ToolDefinition {
        &self.origin.listed.tools[self.index]
    }
}

/// Shows what it is called, not what it says.
impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tool({} = {}/{})", self.name, self.server(), self.tool())
    }
}

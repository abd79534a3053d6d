//! One tool of the registry: its assigned name, its origin, and the definition from its server.
//!
//! A tool shares the text of its server's list. Fields that are not needed for a listing are
//! parsed on demand.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bytestring::ByteString;
use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};
use wharf_config::store::private_file;
use wharf_config::{Approval, ServerName, Source};
use wharf_protocol::Json;
use wharf_protocol::view::{self, ToolHints};

use super::schema::{self, Sanitize};
use super::server_tools::ToolOrigin;
use crate::arguments::check::ArgumentCheck;
use crate::arguments::example::{IncludedArguments, example};
use crate::arguments::{InvalidArguments, Signature};

/// Where the definition of a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Freshness {
    /// The server has listed it on the connection in use.
    Live,
    /// It comes from the cache of an earlier connection.
    Cached,
}

/// Whether a tool is listed for agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// It is listed and can be called.
    Listed,
    /// The policy says `deny`: it is not listed, and a call is refused.
    Denied,
    /// It is new or has changed, and pins are enforced: not listed until a person accepts it.
    Withheld,
}

/// A tool that can be called.
///
/// Of thousands of tools few are ever called, so the data for calls is boxed and created on
/// demand.
pub struct Tool {
    pub(super) name: Arc<str>,
    pub(super) origin: Arc<ToolOrigin>,
    /// Its index in the server's list.
    pub(super) index: usize,
    /// The input schema, always with `properties`.
    pub(super) schema: Json,
    /// The strict schema, created on demand.
    pub(super) strict: OnceLock<Box<Json>>,
    pub(super) approval: Approval,
    pub(super) visibility: Visibility,
    /// The compiled schema for validation, created by the first call.
    pub(super) check: OnceLock<Box<ArgumentCheck>>,
}

impl Tool {
    /// Returns the assigned name that agents use. It is never parsed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the server.
    pub fn server(&self) -> &ServerName {
        &self.origin.server
    }

    /// Returns the raw name.
    pub fn tool(&self) -> &str {
        self.view().name()
    }

    /// Returns the title to display.
    pub fn title(&self) -> Option<ByteString> {
        self.view().title()
    }

    /// Returns the description: text of the server.
    pub fn description(&self) -> Option<ByteString> {
        self.view().description()
    }

    /// Returns the input schema for models.
    pub fn input_schema(&self) -> &Json {
        match self.origin.settings.sanitize {
            Sanitize::Light => &self.schema,
            Sanitize::Strict => self.strict_schema(),
        }
    }

    /// Returns the input schema for providers that accept only a subset of JSON Schema.
    pub(crate) fn strict_schema(&self) -> &Json {
        self.strict.get_or_init(|| Box::new(schema::strict(&self.schema)))
    }

    /// Returns the schema that arguments are validated against: what the server accepts, which may
    /// be more than the schema for models.
    pub fn accepted_schema(&self) -> &Json {
        &self.schema
    }

    /// Returns the schema of the structured content.
    pub fn output_schema(&self) -> Option<Json> {
        self.view().output_schema()
    }

    /// Returns the annotations, unchanged.
    pub fn annotations(&self) -> Option<Json> {
        self.raw().get("annotations").filter(Json::is_object)
    }

    /// Returns the hints of the annotations: claims of the server.
    pub fn hints(&self) -> ToolHints {
        self.view().hints()
    }

    /// Returns whether the definition is live or cached.
    pub fn freshness(&self) -> Freshness {
        self.origin.freshness
    }

    /// Returns the approval policy for calls.
    pub fn approval(&self) -> Approval {
        self.approval
    }

    /// Returns whether it is listed; [`super::Registry::tools`] has only listed tools.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }

    /// Tells whether it is live and matches its pin. Only then do its hints count.
    pub fn is_pinned_unchanged(&self) -> bool {
        self.freshness() == Freshness::Live && self.origin.listed.is_pinned_unchanged(self.tool())
    }

    /// Returns the file that defines its server.
    pub fn source(&self) -> &Arc<Source> {
        &self.origin.source
    }

    /// Returns its origin in one line: `mcp:<server> via <program>`.
    pub fn path(&self) -> String {
        format!("mcp:{} via {}", self.server(), self.origin.source.provider_name)
    }

    /// Returns its arguments with types and defaults.
    pub fn signature(&self) -> Signature {
        Signature::of(self.accepted_schema())
    }

    /// Returns example arguments that its schema accepts, as few as possible; `None` if none are
    /// found.
    pub fn example(&self) -> Option<Json> {
        let schema = self.accepted_schema().to::<Value>()?;
        [IncludedArguments::Required, IncludedArguments::All].into_iter().find_map(|included| {
            let json = Json::parse(example(&schema, included)?).ok()?;
            self.check(&json).is_ok().then_some(json)
        })
    }

    /// Validates arguments before anything is sent.
    pub(crate) fn check(&self, arguments: &Json) -> Result<(), InvalidArguments> {
        let new = || Box::new(ArgumentCheck::new(self.accepted_schema()));
        let check = self.check.get_or_init(new);
        check.check(arguments)
    }

    /// Returns a hash of exactly this definition.
    pub(crate) fn pin(&self) -> String {
        private_file::hex(&Sha256::digest(self.raw().as_str().as_bytes())[..16])
    }

    /// Returns the definition, unchanged.
    pub fn raw(&self) -> &Json {
        self.view().raw()
    }

    /// Returns the definition, to read other fields.
    pub fn view(&self) -> &view::ToolDefinition {
        &self.origin.listed.tools[self.index]
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolJson<'a> {
    name: &'a str,
    server: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    input_schema: &'a Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Json>,
    freshness: Freshness,
    approval: Approval,
}

/// Serializes what a listing shows: names, texts, schemas and annotations.
impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (title, description) = (self.title(), self.description());
        let json = ToolJson {
            name: self.name(),
            server: self.server().as_str(),
            tool: self.tool(),
            title: title.as_deref(),
            description: description.as_deref().unwrap_or_default(),
            input_schema: self.input_schema(),
            output_schema: self.output_schema(),
            annotations: self.annotations(),
            freshness: self.freshness(),
            approval: self.approval(),
        };
        json.serialize(serializer)
    }
}

/// Shows the names only, because the definition is untrusted text.
impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tool({} = {}/{})", self.name, self.server(), self.tool())
    }
}

//! The contents of messages: views of what servers send, and builders for what Wharf sends.
//!
//! A view wraps the text of a JSON value and never fails as a whole: a member that is missing or
//! has the wrong type is `None`, unknown members stay in the text, and protocol violations are
//! reported as [`ProtocolViolation`]. Builders ([`send`]) are strict: they write only what the
//! revision knows.
//!
//! - `list_page`: lists, entry by entry (tools, resources, prompts, skills, tasks)
//! - `handshake`: results of `initialize` and `server/discover`
//! - `server_capabilities`: server capabilities and server info
//! - `tool_result`, `content`: tool results, content blocks, completions
//! - `input_request`, `sampling`: requests of a server: elicitation, sampling
//! - `notification`: log messages
//! - `meta`: adds `_meta` without changing other bytes
//! - `violation`: protocol violations

mod content;
mod fields;
mod handshake;
mod input_request;
mod list_page;
pub(crate) mod meta;
mod notification;
mod prompt;
mod resource;
mod sampling;
pub mod send;
mod server_capabilities;
#[cfg(feature = "skills")]
pub mod skill;
mod subscription_filter;
pub mod task;
mod tool;
mod tool_result;
mod violation;

pub use content::{Content, ContentBlock};
pub use handshake::{DiscoverResult, InitializeResult};
pub use input_request::{Elicitation, ElicitationMode, UrlElicitationRequired};
pub use list_page::{CacheHints, ListEntry, ListPage, MemberSpans, RejectedEntry};
pub use notification::{LogLevel, LogMessage};
pub use prompt::{Prompt, PromptArgument, PromptMessage, PromptResult, Role};
pub use resource::{ReadResult, Resource, ResourceBody, ResourceContents, ResourceTemplate};
pub use sampling::{ModelPreferences, Sampling, ToolChoice};
pub use send::{ClientCapabilities, ClientInfo};
pub use server_capabilities::{CapabilityDetails, Implementation, ServerCapabilities};
#[cfg(feature = "skills")]
pub use skill::{Skill, SkillFile, SkillFiles};
pub use subscription_filter::SubscriptionFilter;
pub use task::Task;
pub use tool::{ToolDefinition, ToolHints};
pub use tool_result::{Completion, ToolResult};
pub use violation::ProtocolViolation;

pub(crate) use input_request::InputRequest;
#[cfg(any(feature = "serve", test, fuzzing))]
pub(crate) use meta::with_meta;
pub(crate) use meta::{meta_object, push_with_meta};
pub(crate) use task::TaskStatus;
pub(crate) use tool_result::ResultType;
pub(crate) use violation::ViolationKind;

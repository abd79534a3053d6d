//! What is inside messages: views of what servers send, and builders for what Wharf sends.
//!
//! A view keeps the text it looks at and never fails as a whole: what is missing or of the wrong
//! kind is `None`, what is unknown stays in the text, and what is against the rules can be asked
//! for as [`ProtocolViolation`]. Builders ([`send`]) are strict: they write what the revision in
//! use knows.
//!
//! ```text
//! page           lists, entry by entry: ToolDefinition, Resource, Prompt, Skill, Task, Root
//! hello, server  the first answer of a server
//! result         answers, made of content
//! ask, sampling  questions of a server
//! notice         what servers tell without being asked
//! meta           `_meta`, added without touching the rest
//! ```

mod annotations;
mod content;
mod fields;
mod handshake;
mod input_request;
mod list_page;
pub mod meta;
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

pub use annotations::{Annotations, Icon, Role};
pub use content::{Content, ContentBlock};
pub use handshake::{DiscoverResult, InitializeResult};
pub use input_request::{
    Elicitation, ElicitationMode, InputRequest, InputRequired, Root, UrlElicitationRequired,
};
pub use list_page::{CacheHints, CacheScope, ListEntry, ListPage, MemberSpans, RejectedEntry};
pub use meta::with_meta;
pub use notification::{Cancelled, ChangeNotification, LogLevel, LogMessage, Progress};
pub use prompt::{Prompt, PromptArgument, PromptMessage, PromptResult};
pub use resource::{ReadResult, Resource, ResourceBody, ResourceContents, ResourceTemplate};
pub use sampling::{ModelPreferences, Sampling, ToolChoice};
pub use send::{ClientCapabilities, ClientInfo};
pub use server_capabilities::{Feature, Implementation, ServerCapabilities, TaskFeatures};
#[cfg(feature = "skills")]
pub use skill::{Skill, SkillFile, SkillFiles};
pub use subscription_filter::{SubscriptionAcknowledged, SubscriptionFilter};
pub use task::{Task, TaskStatus};
pub use tool::{ToolDefinition, ToolHints};
pub use tool_result::{Completion, ResultType, ToolResult};
pub use violation::{JsonType, ProtocolViolation, ViolationKind};

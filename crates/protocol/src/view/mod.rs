//! What is inside messages: views of what servers send, and builders for what Wharf sends.
//!
//! A view keeps the text it looks at and never fails as a whole: what is missing or of the wrong
//! kind is `None`, what is unknown stays in the text, and what is against the rules can be asked
//! for as [`Oddity`]. Builders ([`send`]) are strict: they write what the revision in use knows.
//!
//! ```text
//! page           lists, entry by entry: Tool, Resource, Prompt, Skill, Task, Root
//! hello, server  the first answer of a server
//! result         answers, made of content
//! ask, sampling  questions of a server
//! notice         what servers tell without being asked
//! meta           `_meta`, added without touching the rest
//! ```

mod ask;
mod content;
mod decor;
mod fields;
mod hello;
pub mod meta;
mod notice;
mod odd;
mod page;
mod prompt;
mod resource;
mod result;
mod sampling;
pub mod send;
mod server;
#[cfg(feature = "skills")]
pub mod skill;
mod subscription;
pub mod task;
mod tool;

pub use ask::{Elicitation, ElicitationMode, InputRequest, InputRequired, Root, UrlsRequired};
pub use content::{Content, ContentBlock};
pub use decor::{Annotations, Icon, Role};
pub use hello::{DiscoverResult, InitializeResult};
pub use meta::with_meta;
pub use notice::{Cancelled, Change, LogLevel, LogMessage, Progress};
pub use odd::{Deviation, Kind, Oddity};
pub use page::{CacheHints, CacheScope, Entry, Page, Parts, Rejected};
pub use prompt::{Prompt, PromptArgument, PromptMessage, PromptResult};
pub use resource::{ReadResult, Resource, ResourceBody, ResourceContents, ResourceTemplate};
pub use result::{Completion, ResultType, ToolResult};
pub use sampling::{ModelPreferences, Sampling, ToolChoice};
pub use send::{ClientCapabilities, ClientInfo};
pub use server::{Feature, Implementation, ServerCapabilities, TaskFeatures};
#[cfg(feature = "skills")]
pub use skill::{Skill, SkillFile, SkillFiles};
pub use subscription::{Acknowledged, SubscriptionFilter};
pub use task::{Task, TaskStatus};
pub use tool::{Tool, ToolHints};

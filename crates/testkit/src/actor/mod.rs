//! A scripted server: a test writes its script, and reads its log of what really happened.
//!
//! The folder of the server has `script.json` (a [`Script`], read at every start) and the files of
//! the [`ActorLog`]: `starts` (the process id of each start), `hellos` (the capabilities of each
//! client), `asked` (the method of each request), `levels` (each requested log level), `metas` (the
//! `_meta` of each call that was read) and `effects` (a line per executed call). A call can set the
//! point where the server exits, so the log shows which calls were executed and which were not.

mod call;
mod log;
mod message_loop;
mod modern;
mod resources_and_prompts;
mod script;

pub use log::ActorLog;
pub use message_loop::run;
pub use script::Script;

//! Servers that break the rules, one named mode per quirk, for stdio and for HTTP.
//!
//! They write their bytes by hand and share no code with `wharf-protocol`: an error in our own
//! envelope must not be able to hide behind the same error on the other side. Every mode says as
//! data what a client should experience, so that one test can iterate over all of them.

mod answers;
pub mod http;
mod mode;
pub mod stdio;

pub use self::http::{HttpQuirk, http_modes, http_modes_of, http_themes};
pub use self::mode::{Era, Expect, Failure, Mode, Tag};
pub use self::stdio::{stdio_modes, stdio_modes_of, stdio_themes};

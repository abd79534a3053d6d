//! Test servers that violate the protocol on purpose: one named mode per quirk, on stdio and HTTP.
//!
//! The servers write their bytes by hand and share no code with `wharf-protocol`: otherwise an
//! error in our envelope code could cancel out on both sides. Each mode declares as data which
//! outcome a client must have, so one test can iterate over all modes.

pub mod http;
mod mode;
mod responses;
pub mod stdio;

pub use self::http::{HttpQuirkServer, http_modes, http_modes_of, http_themes};
pub use self::mode::{ExpectedOutcome, FailureReason, ModeTag, QuirkEra, QuirkMode};
pub use self::stdio::{stdio_modes, stdio_modes_of, stdio_themes};

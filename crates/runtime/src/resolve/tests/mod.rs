//! Tests of resolving: from files in a temporary home folder to the process and the headers.

mod command_cache;
#[cfg(feature = "http")]
mod credentials;
#[cfg(feature = "http")]
mod from_code;
#[cfg(feature = "http")]
mod headers;
mod launch;
#[cfg(feature = "http")]
mod redaction;
mod values;
mod world;

use self::world::World;

//! Tests of resolving: from files in a temporary home folder to the process and the headers.

mod command_cache;
mod credentials;
mod from_code;
mod headers;
mod launch;
mod redaction;
mod values;
mod world;

use self::world::World;

//! Resolving as the runtime does it: from files in a temporary home to what is started and sent.

mod command_cache;
mod credentials;
mod headers;
mod launch;
mod redaction;
mod values;
mod world;

use self::world::World;

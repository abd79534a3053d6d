//! Resolving as the runtime does it: from files in a temporary home to what is started and sent.

mod commands;
mod credentials;
mod launching;
mod secrecy;
mod sending;
mod values;
mod world;

use self::world::World;

//! Test servers and checkers: conforming servers, servers with quirks, scripted servers, an
//! authorization server, and the schemas of all revisions.
//!
//! Nothing here is part of the product. Tests and the programs of this package use it.

pub mod actor;
pub mod oauth;
pub mod quirk;
pub mod schema;
pub mod seeded_random;
pub mod server;

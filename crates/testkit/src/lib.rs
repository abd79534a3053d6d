//! A world for tests: MCP servers that behave and misbehave.
//!
//! Nothing here is part of the product; tests and the tools of this package use it.

pub mod actor;
pub mod chance;
pub mod quirk;
pub mod schema;
pub mod server;

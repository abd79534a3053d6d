//! The registry of the snapshot that is published next, built again only if tools have changed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use crate::tools::Registry;
use crate::tools::name_table::NameTable;
use crate::tools::server_tools::ServerTools;

/// The last registry, and the tools that it was built from.
pub(super) struct CurrentRegistry {
    registry: Arc<Registry>,
    server_tools: Vec<Arc<ServerTools>>,
    names: Arc<Mutex<NameTable>>,
}

impl CurrentRegistry {
    /// Starts with an empty registry. Names are taken from this table.
    pub(super) fn new(names: Arc<Mutex<NameTable>>) -> Self {
        Self { registry: Arc::default(), server_tools: Vec::new(), names }
    }

    /// Returns the registry of these tools.
    pub(super) fn update(&mut self, server_tools: Vec<Arc<ServerTools>>) -> Arc<Registry> {
        let is_same = self.server_tools.len() == server_tools.len()
            && self.server_tools.iter().zip(&server_tools).all(|(a, b)| Arc::ptr_eq(a, b));
        if !is_same {
            let build = || {
                let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
                Registry::build(&server_tools, &mut names)
            };
            // The tools are data of servers; a panic over them must not end all servers.
            if let Ok(registry) = catch_unwind(AssertUnwindSafe(build)) {
                self.registry = Arc::new(registry);
            } else {
                tracing::error!("building the registry of tools panicked");
            }
            self.server_tools = server_tools;
        }
        Arc::clone(&self.registry)
    }
}

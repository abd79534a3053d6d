//! The history of a session: the number of thoughts and the names of branches.
//!
//! The thoughts themselves are not stored, because no request returns them. So the memory of a
//! session is bounded.

use serde_json::{Value, json};

use super::thought::Thought;

/// The maximum number of branches.
const MAX_BRANCHES: usize = 100;

#[derive(Debug, Default)]
pub(super) struct ThoughtHistory {
    length: u64,
    branches: Vec<String>,
}

impl ThoughtHistory {
    /// Adds a thought and returns the state of the history, or an error message.
    pub(super) fn add(&mut self, thought: Thought) -> Result<Value, String> {
        if let Some(branch) = thought.branch
            && !self.branches.contains(&branch)
        {
            if self.branches.len() == MAX_BRANCHES {
                return Err(format!(
                    "branchId must name an existing branch: at most {MAX_BRANCHES} are allowed"
                ));
            }
            self.branches.push(branch);
        }
        self.length += 1;
        Ok(json!({
            "thoughtNumber": thought.number,
            "totalThoughts": thought.total,
            "nextThoughtNeeded": !thought.is_last,
            "branches": self.branches,
            "thoughtHistoryLength": self.length
        }))
    }
}

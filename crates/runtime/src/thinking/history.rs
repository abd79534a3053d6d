//! What is remembered of a train of thought: how long it is, and the names of its branches.
//!
//! The thoughts themselves are not kept, because nobody could ask for them again. So a session
//! takes little memory, however long it lasts.

use serde_json::{Value, json};

use super::thought::Thought;

/// The most branches of one train.
const MAX_BRANCHES: usize = 100;

#[derive(Debug, Default)]
pub(super) struct ThoughtHistory {
    length: u64,
    branches: Vec<String>,
}

impl ThoughtHistory {
    /// Adds a thought and returns where the train stands, or says why it cannot be added.
    pub(super) fn add(&mut self, thought: Thought) -> Result<Value, String> {
        if let Some(branch) = thought.branch
            && !self.branches.contains(&branch)
        {
            if self.branches.len() == MAX_BRANCHES {
                return Err(format!(
                    "branchId must be one of the branches there are: {MAX_BRANCHES} is the most"
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

//! The history of a session: the number of thoughts and the names of branches.
//!
//! The thoughts themselves are not stored, because no request returns them. So the memory of a
//! session is bounded.

use serde::Serialize;
use wharf_protocol::Json;

use super::thought::Thought;

/// The maximum number of branches.
const MAX_BRANCHES: usize = 100;

#[derive(Debug, Default)]
pub(super) struct ThoughtHistory {
    length: u64,
    branches: Vec<String>,
}

/// The state of the history after a thought.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    thought_number: u32,
    total_thoughts: u32,
    next_thought_needed: bool,
    branches: &'a [String],
    thought_history_length: u64,
}

impl ThoughtHistory {
    /// Adds a thought and returns the state of the history, or an error message.
    pub(super) fn add(&mut self, thought: Thought) -> Result<Json, String> {
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
        let progress = Progress {
            thought_number: thought.number,
            total_thoughts: thought.total,
            next_thought_needed: !thought.is_last,
            branches: &self.branches,
            thought_history_length: self.length,
        };
        Json::encode(&progress).map_err(|error| error.to_string())
    }
}

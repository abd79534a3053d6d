//! Changes `trust.json`, and reports the change.

use serde::Serialize;
use wharf_config::manage::ManageError;
use wharf_config::store::{self, WriteLock};
use wharf_config::trust::TrustStore;

use crate::commands::{Exit, Failure, Invocation};
use crate::ui::print_json;

/// The report of a change, as text or JSON.
#[derive(Serialize)]
pub(crate) struct TrustReport {
    /// Whether it was done.
    pub(crate) ok: bool,
    /// The servers.
    pub(crate) names: Vec<String>,
    /// The folder, with `--folder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<String>,
    /// The report as text.
    pub(crate) message: String,
}

impl TrustReport {
    /// Creates the report about servers.
    pub(crate) fn of_names(names: Vec<String>, message: String) -> Self {
        Self { ok: true, names, folder: None, message }
    }

    /// Prints the report.
    pub(crate) fn show(&self, invocation: &Invocation) -> Result<Exit, Failure> {
        if invocation.ui.json {
            print_json(self)?;
        } else {
            invocation.ui.sentences(&format!("{}\n", self.message))?;
        }
        Ok(Exit::Success)
    }
}

/// Reads, changes and writes `trust.json` under the lock.
pub(crate) fn update_record<T>(
    invocation: &Invocation,
    change: impl FnOnce(&mut TrustStore) -> T,
) -> Result<T, Failure> {
    let env = &invocation.env;
    let home = env.wharf_home().ok_or(Failure::NoHome)?;
    let _lock = WriteLock::acquire(&home.join("run"), store::LOCK_TIMEOUT)?;
    let (mut record, problem) = TrustStore::load(env);
    if let Some(problem) = problem {
        // What the file contains is not known, so it must not be overwritten.
        return Err(ManageError::Problem(Box::new(problem)).into());
    }
    let result = change(&mut record);
    record.save()?;
    Ok(result)
}

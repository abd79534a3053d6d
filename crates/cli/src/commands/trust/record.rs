//! Changes the record of what is trusted, and tells about it.

use serde::Serialize;
use wharf_config::store::{self, WriteLock};
use wharf_config::trust::TrustStore;

use crate::commands::{Exit, Failure, Invocation};
use crate::ui::{phrase, print_json};

/// What changed, for the person or for a program.
#[derive(Serialize)]
pub(crate) struct TrustReport {
    /// Whether it was done.
    pub(crate) ok: bool,
    /// The servers.
    pub(crate) names: Vec<String>,
    /// The folder, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) folder: Option<String>,
    /// The same in words.
    pub(crate) message: String,
}

impl TrustReport {
    /// Reports on servers.
    pub(crate) fn of_names(names: Vec<String>, message: String) -> Self {
        Self { ok: true, names, folder: None, message }
    }

    /// Shows the report.
    pub(crate) fn show(&self, invocation: &Invocation) -> Result<Exit, Failure> {
        if invocation.ui.json {
            print_json(self)?;
        } else {
            invocation.ui.sentences(&format!("{}\n", self.message))?;
        }
        Ok(Exit::Success)
    }
}

/// Reads the record, changes it and writes it, with no other process in between.
pub(crate) fn update_record<T>(
    invocation: &Invocation,
    change: impl FnOnce(&mut TrustStore) -> T,
) -> Result<T, Failure> {
    let env = &invocation.env;
    let home = env.wharf_home().ok_or(Failure::NoHome)?;
    let _lock = WriteLock::acquire(&home.join("run"), store::LOCK_TIMEOUT)?;
    let (mut record, problem) = TrustStore::load(env);
    if problem.is_some() {
        let path = phrase::path(&home.join("trust.json"), env);
        return Err(Failure::MalformedTrustFile { path });
    }
    let result = change(&mut record);
    record.save()?;
    Ok(result)
}

//! `wharf doctor`: everything that can be wrong, first without and then with connecting.
//!
//! `own` looks at Wharf's own files, `files` at everybody's config files, `server` at each enabled
//! server, `together` at what concerns several, `connections` connects; `run` puts the checks in
//! order and shows them.

mod check;
mod config_files;
mod conflicts;
mod connections;
mod pass_env;
mod run;
mod secrets;
mod server;
mod wharf_files;

pub(crate) use run::{DoctorArgs, run};

//! Persistent data about servers, under `cache/` and `pins/`.
//!
//! ```text
//! record_file   the one file format      record_keys   keys that reveal no secrets
//! folder_lock   one writer at a time     server_identity  what the keys are made from
//!
//! tool_cache    cache/tools.json         attempts      cache/attempts.json
//! tool_names    cache/names.json         pins          pins/tools.json
//! server_history  all of it for one runtime, with the write queue
//! stored_records  lists all records for display
//! ```

pub(crate) mod attempts;
pub(crate) mod folder_lock;
pub(crate) mod pins;
mod record_file;
mod record_keys;
pub(crate) mod server_history;
pub(crate) mod server_identity;
mod stored_records;
pub(crate) mod tool_cache;
pub(crate) mod tool_names;

pub use stored_records::{RecordKind, StoredRecord, StoredRecords, stored_records};

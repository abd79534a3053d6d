//! `wharf cache`: shows or removes the records that earlier runs have stored about servers.

use std::time::SystemTime;

use clap::{Args, Subcommand};
use serde::Serialize;
use wharf::{StoredRecord, StoredRecords};
use wharf_config::Env;
use wharf_config::text::clean;
use wharf_config::time::rfc3339;

use super::{Exit, Failure, Invocation};
use crate::ui::{Cell, Column, Table, phrase, print_json, style, time_ago};

/// Show or remove the records that are stored about servers
///
/// Wharf stores the tools of each server, so that a slow server does not delay a listing, and the
/// result of the last attempt to connect, for `wharf status`. The files are JSON, one record per
/// line, in the folders `cache` and `pins` of Wharf's home; `show` prints their paths.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf cache show
  wharf cache show --json | jq '.records[] | select(.server == \"github\")'
  wharf cache clear
  wharf tools --fresh            ask the servers again without removing anything")]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    action: CacheAction,
}

#[derive(Debug, Subcommand)]
enum CacheAction {
    /// Show the records: tools, last attempts to connect, tool names, pinned tools
    Show {
        /// Show only the records of this server
        server: Option<String>,
    },
    /// Remove the cached tools of all servers, and the results of the last attempts
    ///
    /// Assigned tool names stay, so that no name moves to another tool. Pinned tools stay as well.
    Clear,
}

#[derive(Serialize)]
struct CacheClearJson {
    ok: bool,
    removed: usize,
    message: String,
}

#[derive(Serialize)]
struct CacheShowJson<'a> {
    records: Vec<RecordJson<'a>>,
    unreadable: Vec<UnreadableFileJson<'a>>,
}

#[derive(Serialize)]
struct RecordJson<'a> {
    kind: &'static str,
    server: &'a str,
    key: &'a str,
    /// In UTC, in the format of RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    bytes: usize,
    path: String,
}

#[derive(Serialize)]
struct UnreadableFileJson<'a> {
    path: String,
    error: &'a str,
}

/// Shows or clears the cache.
pub(crate) fn run(args: &CacheArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    match &args.action {
        CacheAction::Show { server } => show(server.as_deref(), invocation),
        CacheAction::Clear => clear(invocation),
    }
}

fn show(server: Option<&str>, invocation: &Invocation) -> Result<Exit, Failure> {
    let (ui, env) = (&invocation.ui, &invocation.env);
    let home = env.wharf_home().ok_or(Failure::NoHome)?;
    let mut stored = wharf::stored_records(&home.join("cache"), &home.join("pins"));
    stored.records.retain(|record| server.is_none_or(|server| record.server == server));
    if ui.json {
        print_json(&CacheShowJson::of(&stored))?;
        return Ok(Exit::Success);
    }
    if !stored.records.is_empty() {
        ui.table(table(&stored.records, env))?;
        ui.blank_line();
    }
    for (path, error) in &stored.unreadable {
        ui.notice(&format!("{} cannot be read: {error}", phrase::path(path, env)));
    }
    ui.notice(&match stored.records.len() {
        0 => "There are no records.".to_owned(),
        number => format!("{}.", phrase::count(number, "record")),
    });
    Ok(Exit::Success)
}

impl<'a> CacheShowJson<'a> {
    fn of(stored: &'a StoredRecords) -> Self {
        let record = |record: &'a StoredRecord| RecordJson {
            kind: record.kind.word(),
            server: &record.server,
            key: &record.key,
            at: record.at.map(rfc3339),
            tools: record.tools,
            error: record.error.as_deref(),
            bytes: record.bytes,
            path: record.path.display().to_string(),
        };
        let unreadable = stored.unreadable.iter();
        let unreadable = unreadable
            .map(|(path, error)| UnreadableFileJson { path: path.display().to_string(), error });
        Self {
            records: stored.records.iter().map(record).collect(),
            unreadable: unreadable.collect(),
        }
    }
}

fn table(records: &[StoredRecord], env: &Env) -> Table {
    let now = SystemTime::now();
    let mut table = Table::new(&[
        Column::text("SERVER"),
        Column::text("KIND"),
        Column::text("TOOLS"),
        Column::text("WHEN").droppable_at(1),
        Column::text("BYTES").droppable_at(2),
        Column::text("ERROR").shrinking_first_to(24),
        Column::path("FILE").shrinking_first_to(18).droppable_at(0),
    ]);
    for record in records {
        let error = record.error.as_deref().map(clean).unwrap_or_default();
        table.row(vec![
            Cell::painted(phrase::name(&record.server), style::strong),
            Cell::plain(record.kind.word()),
            Cell::plain(record.tools.map(|number| number.to_string()).unwrap_or_default()),
            Cell::plain(record.at.map(|at| time_ago::time_ago(at, now)).unwrap_or_default()),
            Cell::plain(record.bytes.to_string()),
            Cell::painted(error, style::bad),
            Cell::painted(phrase::path(&record.path, env), style::faint),
        ]);
    }
    table
}

fn clear(invocation: &Invocation) -> Result<Exit, Failure> {
    let folder = invocation.env.wharf_home().ok_or(Failure::NoHome)?.join("cache");
    let removed = wharf::clear_cache(&folder).map_err(|source| Failure::File {
        verb: "clear",
        path: phrase::path(&folder, &invocation.env),
        source,
    })?;
    let message = match removed {
        0 => "There were no records.".to_owned(),
        _ => format!("Removed the records of {}.", phrase::count(removed, "server configuration")),
    };
    if invocation.ui.json {
        print_json(&CacheClearJson { ok: true, removed, message })?;
    } else {
        invocation.ui.sentences(&format!("{message}\n"))?;
    }
    Ok(Exit::Success)
}

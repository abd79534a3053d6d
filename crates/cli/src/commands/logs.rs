//! `wharf logs NAME`: prints what a server wrote to stderr. Never connects.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use wharf::{LogEntry, log_entries, log_path};
use wharf_config::store::open_regular;
use wharf_config::text::clean;

use super::{Exit, Failure, Invocation};
use crate::ui::{Lines, phrase, print_json, style};

/// How often `--follow` polls the log file.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The most bytes that are read at once.
const MOST_AT_ONCE: u64 = 1 << 20;

/// Show what a server wrote to its error output
///
/// Local servers write messages and errors there. Wharf keeps the last one or two megabytes of each
/// server, readable only by you. Each start is marked, and times are in UTC.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf logs github
  wharf logs github --lines 20
  wharf logs github -f               follow until Ctrl-C")]
pub(crate) struct LogsArgs {
    /// The server's name
    name: String,
    /// Keep printing as the server writes more
    #[arg(short, long)]
    follow: bool,
    /// How many of the last lines to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
    lines: usize,
}

#[derive(Serialize)]
struct LogsJson<'a> {
    server: &'a str,
    path: String,
    lines: Vec<&'a str>,
    entries: Vec<LogEntryJson<'a>>,
}

#[derive(Serialize)]
struct LogEntryJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<&'a str>,
    /// Whether this entry marks a start of the server.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    started: bool,
}

impl<'a> LogEntryJson<'a> {
    fn of(entry: &'a LogEntry) -> Self {
        let line = entry.text.as_deref();
        Self { at: entry.at.as_deref(), line, started: line.is_none() }
    }
}

/// Shows a log.
pub(crate) fn run(args: &LogsArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    if args.follow && ui.json {
        return Err(Failure::Usage {
            message: "-f cannot be combined with --json",
            hint: "leave out -f or --json",
        });
    }
    let folder = invocation.env.wharf_home().ok_or(Failure::NoHome)?.join("logs");
    let path = log_path(&folder, &args.name);
    if !path.exists() {
        // The log of a removed server can still be read.
        let catalog = invocation.load()?;
        if catalog.candidates(&args.name).next().is_none() {
            return Err(Failure::not_found(&args.name, &catalog));
        }
    }
    let unreadable = |source: io::Error| Failure::File {
        verb: "read",
        path: phrase::path(&path, &invocation.env),
        source,
    };
    // Following starts here, so that lines written meanwhile are not lost.
    let read_so_far = path.metadata().map_or(0, |about| about.len());
    let entries = log_entries(&folder, &args.name, args.lines).map_err(unreadable)?;
    if ui.json {
        let path = path.to_string_lossy().into_owned();
        let lines = entries.iter().filter_map(|entry| entry.text.as_deref()).collect();
        let entries = entries.iter().map(LogEntryJson::of).collect();
        print_json(&LogsJson { server: &args.name, path, lines, entries })?;
        return Ok(Exit::Success);
    }
    ui.data(&to_text(&entries))?;
    if entries.is_empty() {
        ui.notice(&format!("{} has written nothing yet.", phrase::quoted(&args.name)));
    }
    if args.follow { follow(&path, read_so_far, invocation) } else { Ok(Exit::Success) }
}

/// Formats starts with their date, and lines with their time of day.
fn to_text(entries: &[LogEntry]) -> String {
    let mut lines = Lines::default();
    for entry in entries {
        let at = entry.at.as_deref();
        match (&entry.text, at.and_then(|at| at.get(11..19))) {
            (None, _) => {
                let mark = format!("--- started {}", at.unwrap_or_default());
                lines.add(style::strong(&mark));
            }
            (Some(text), Some(time)) => {
                lines.add(format!("{} {}", style::faint(time), clean(text)).trim_end());
            }
            // Earlier versions stored no times.
            (Some(text), None) => lines.add(clean(text)),
        }
    }
    lines.into_text()
}

/// Prints what is appended to a file, until the run is interrupted or stdout is closed.
fn follow(path: &Path, mut at: u64, invocation: &Invocation) -> Result<Exit, Failure> {
    let mut begun = String::new();
    loop {
        sleep(POLL_INTERVAL);
        let length = path.metadata().map_or(0, |about| about.len());
        if length < at {
            // The log was rotated.
            at = 0;
        }
        if length == at {
            continue;
        }
        let Ok(bytes) = read_from(path, at) else { continue };
        at += bytes.len() as u64;
        begun.push_str(&String::from_utf8_lossy(&bytes));
        if let Some(end) = begun.rfind('\n') {
            let rest = begun.split_off(end + 1);
            let entries: Vec<LogEntry> = begun.lines().map(LogEntry::parse).collect();
            invocation.ui.data(&to_text(&entries))?;
            begun = rest;
        }
    }
}

fn read_from(path: &Path, at: u64) -> io::Result<Vec<u8>> {
    let mut file = open_regular(path, OpenOptions::new().read(true))?;
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(MOST_AT_ONCE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

//! `wharf test NAME`: connects to one server temporarily and prints the result.

use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use wharf::protocol::era::Era;
use wharf::{ConnectionInfo, Runtime, ServerSnapshot, Unavailable};
use wharf_config::Problem;
use wharf_config::text::clean;

use super::failure::tip;
use super::sign_in::SignIn;
use super::trace::{Trace, TraceLineJson};
use super::{Exit, Failure, Invocation, connect};
use crate::ui::{Lines, phrase, print_json, style};

/// Connect to one server, and show the result
///
/// Starts or contacts the server, lists its tools and closes the connection. Shows the name and
/// version of the server, the protocol revision, and the time for connecting and listing. After a
/// failure it shows the reason, the last lines of the server's stderr, and what to try.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf test github
  wharf test github --json | jq .connectMs
  wharf test github --trace          every message, on stderr

Exit codes: 3 could not connect, 4 sign-in needed, 5 timeout, 6 not trusted.")]
pub(crate) struct TestArgs {
    /// The server's name
    name: String,
    /// Show every message in both directions, with secrets redacted
    #[arg(long)]
    trace: bool,
}

/// How many protocol violations are printed; `doctor` prints more.
const MOST_VIOLATIONS: usize = 5;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestJson<'a> {
    ok: bool,
    name: &'a str,
    transport: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ServerInfoJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol_version: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    /// Why the list of tools was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr: Option<&'a str>,
    /// Problems of a server that works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
    /// Every message in both directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<TraceLineJson>>,
}

#[derive(Serialize)]
struct ServerInfoJson<'a> {
    name: &'a str,
    version: &'a str,
}

/// Tests a server.
pub(crate) fn run(args: &TestArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let catalog = match connect::select_one(&args.name, invocation) {
        Ok(catalog) => catalog,
        Err(failure) => return not_tried(&args.name, failure, invocation),
    };
    let transport = catalog.winner(&args.name).and_then(|server| server.transport);
    let transport = transport.map_or("unknown", |kind| kind.word());
    if args.trace {
        // It is set only here.
        let _first = invocation.trace.set(Trace::default());
    }
    let work = async |runtime: &Runtime, person: &SignIn<'_>| {
        person.retry(runtime, async || runtime.wait_for(&args.name).await).await
    };
    let outcome = connect::with_sign_in(invocation, &catalog, work, |result| {
        show(&args.name, transport, result?, invocation)
    });
    // After an interruption the trace shows how far the connection got.
    print_trace(invocation);
    outcome
}

/// Prints the trace so far, if `--trace` is given and the answer is not JSON.
fn print_trace(invocation: &Invocation) {
    if let Some(trace) = invocation.trace.get().filter(|_| !invocation.ui.json) {
        for line in trace.take_text() {
            invocation.ui.notice(&line);
        }
    }
}

fn show(
    name: &str,
    transport: &'static str,
    result: Result<Arc<ServerSnapshot>, Unavailable>,
    invocation: &Invocation,
) -> Result<Exit, Failure> {
    let ui = &invocation.ui;
    print_trace(invocation);
    let mut answer = TestJson { ok: result.is_ok(), ..TestJson::new(name, transport) };
    answer.trace = invocation.trace.get().map(Trace::lines);
    match result {
        Ok(server) => {
            if let Some(about) = &server.info {
                answer.add_server_info(about, server.tools());
                answer.cut = server.cut.map(|cut| cut.to_string());
            }
            answer.problems = server.problems();
            if ui.json {
                print_json(&answer)?;
            } else {
                ui.sentences(&describe(&answer))?;
            }
            warn(&server, invocation);
            Ok(Exit::Success)
        }
        Err(why) => {
            if let (true, Unavailable::Failed { failure, .. }) = (ui.json, &why) {
                answer.error = Some(&failure.message);
                answer.tip = tip(name, failure);
                answer.stderr = Some(failure.stderr.as_str()).filter(|text| !text.is_empty());
                print_json(&answer)?;
            }
            Err(why.into())
        }
    }
}

/// Reports a failure before the server was contacted.
fn not_tried(name: &str, failure: Failure, invocation: &Invocation) -> Result<Exit, Failure> {
    let transport = invocation.load_quietly().ok().and_then(|catalog| {
        catalog.winner(name).map(|server| server.transport.map_or("unknown", |kind| kind.word()))
    });
    if let (true, Some(transport)) = (invocation.ui.json, transport) {
        let (error, tip) = (failure.to_string(), failure.hint());
        print_json(&TestJson { error: Some(&error), tip, ..TestJson::new(name, transport) })?;
    }
    Err(failure)
}

impl<'a> TestJson<'a> {
    fn new(name: &'a str, transport: &'static str) -> Self {
        Self {
            ok: false,
            name,
            transport,
            server: None,
            protocol_version: None,
            era: None,
            tools: None,
            cut: None,
            connect_ms: None,
            list_ms: None,
            error: None,
            tip: None,
            stderr: None,
            problems: Vec::new(),
            trace: None,
        }
    }

    fn add_server_info(&mut self, about: &'a ConnectionInfo, tools: usize) {
        let milliseconds = |time: std::time::Duration| u64::try_from(time.as_millis()).ok();
        self.server = Some(ServerInfoJson { name: &about.name, version: &about.version });
        self.transport = about.transport;
        self.protocol_version = Some(about.revision.as_str());
        self.era = Some(match about.era() {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
        });
        self.tools = Some(tools);
        self.connect_ms = milliseconds(about.connect_time);
        self.list_ms = milliseconds(about.list_time);
    }
}

fn describe(answer: &TestJson<'_>) -> String {
    let mut lines = Lines::default();
    let name = style::strong(&phrase::quoted(answer.name));
    lines.add(format!("{} to {name}", style::good("Connected")));
    if let Some(server) = &answer.server {
        lines.labelled("server", &clean(format!("{} {}", server.name, server.version).trim()));
    }
    lines.labelled("transport", answer.transport);
    if let (Some(version), Some(era)) = (answer.protocol_version, answer.era) {
        lines.labelled("protocol", &format!("{version} ({era})"));
    }
    if let Some(tools) = answer.tools {
        lines.labelled("tools", &tools.to_string());
    }
    let times = [("connecting", answer.connect_ms), ("listing", answer.list_ms)];
    for (label, milliseconds) in times {
        if let Some(milliseconds) = milliseconds {
            lines.labelled(label, &format!("{milliseconds} ms"));
        }
    }
    lines.into_text()
}

/// Prints the problems and protocol violations of a server that works.
pub(super) fn warn(server: &ServerSnapshot, invocation: &Invocation) {
    // Left-out values are printed after the answer of every verb.
    let omitted_values = server.omitted_values();
    let problems = server.problems();
    let others = problems.iter().filter(|problem| !omitted_values.contains(problem));
    invocation.ui.problems(others, &invocation.env);
    let violations = server.violations();
    for warning in violations.iter().take(MOST_VIOLATIONS) {
        invocation.ui.notice(&format!("{} {}", style::warning("warning:"), clean(warning)));
    }
    if violations.len() > MOST_VIOLATIONS {
        let name = phrase::word(server.name.as_str());
        invocation.ui.notice(&format!("  hint: `wharf doctor {name}` shows what else is wrong"));
    }
}

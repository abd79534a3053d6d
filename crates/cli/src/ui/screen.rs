//! Prints to stdout and stderr, and asks for confirmation.
//!
//! Data on stdout is written at once; a closed pipe ends the run without an error message. Errors
//! of writing to stderr are ignored.

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::adapter::strip_str;
use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use wharf_config::text::clean;
use wharf_config::{Env, Problem, Secret};

use super::keyboard::{Keyboard, discard_unread};
use super::table::Colours;
use super::wrap::wrap;
use super::{Lines, Table, json, phrase, style, table};
use crate::args::{ColorWhen, Flags};
use crate::commands::Failure;
use crate::commands::report::FailureDocument;
use crate::host::Terminal;

/// The output settings of one run.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent fact about the streams")]
pub(crate) struct Ui {
    /// Whether data is printed as JSON.
    pub(crate) json: bool,
    /// How much is printed besides the data.
    pub(crate) verbosity: Verbosity,
    /// The width for data; `None` if stdout is not a terminal.
    width: Option<usize>,
    /// The width for messages; `None` if stderr is not a terminal.
    message_width: Option<usize>,
    /// Whether questions can be asked: stdin and stderr are terminals.
    pub(crate) can_ask: bool,
    /// Whether stdin is a terminal.
    pub(crate) is_stdin_terminal: bool,
    /// Whether a progress line is printed.
    pub(crate) shows_progress: bool,
    out: ColorChoice,
    err: ColorChoice,
}

/// How much is printed besides the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Warnings and notices.
    Normal,
    /// Also which files were read.
    Verbose,
}

/// The answer to a yes/no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confirmation {
    /// Yes.
    Yes,
    /// Anything else.
    No,
    /// The input was closed.
    InputClosed,
}

impl Confirmation {
    /// Reads an answer: `y` and `yes` mean yes, anything else means no.
    pub(crate) fn from_line(line: &str) -> Self {
        let answer = line.trim().to_ascii_lowercase();
        if ["y", "yes"].contains(&answer.as_str()) { Self::Yes } else { Self::No }
    }
}

impl Ui {
    /// Derives the settings from the flags and the terminal.
    pub(crate) fn new(flags: &Flags, terminal: Terminal, env: &Env) -> Self {
        let plain = env.nonempty_variable("NO_COLOR").is_some()
            || env.nonempty_variable("TERM").is_some_and(|term| term == "dumb");
        let choice = |is_terminal: bool| match flags.color {
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Auto if is_terminal && !plain => ColorChoice::Always,
            ColorWhen::Auto | ColorWhen::Never => ColorChoice::Never,
        };
        let verbosity = match (flags.quiet, flags.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, 0) => Verbosity::Normal,
            (false, _) => Verbosity::Verbose,
        };
        Self {
            json: flags.json,
            verbosity,
            width: terminal.stdout.then_some(terminal.columns),
            message_width: terminal.stderr.then_some(terminal.columns),
            can_ask: terminal.stdin && terminal.stderr,
            is_stdin_terminal: terminal.stdin,
            shows_progress: terminal.stderr
                && verbosity >= Verbosity::Normal
                && !flags.json
                && env.nonempty_variable("TERM").is_none_or(|term| term != "dumb"),
            out: choice(terminal.stdout),
            err: choice(terminal.stderr),
        }
    }

    /// Writes data to stdout.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        write_painted(io::stdout().lock(), text, self.out).map_err(Failure::Output)
    }

    /// Writes sentences to stdout; on a terminal they are wrapped at words.
    pub(crate) fn sentences(&self, text: &str) -> Result<(), Failure> {
        self.data(&wrapped(text, self.width))
    }

    /// Tells whether data goes to a terminal.
    pub(crate) fn is_data_on_terminal(&self) -> bool {
        self.width.is_some()
    }

    /// Prints an empty line between a table and the messages, if stdout is a terminal.
    pub(crate) fn blank_line(&self) {
        if self.width.is_some() {
            self.notice("");
        }
    }

    /// Writes a table to stdout.
    pub(crate) fn table(&self, table: Table) -> Result<(), Failure> {
        let colours = match self.out {
            ColorChoice::Never => Colours::Unwanted,
            _ => Colours::Wanted,
        };
        self.data(&table.render(self.width, colours))
    }

    /// Prints a notice to stderr. The text must be safe to print.
    pub(crate) fn notice(&self, text: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.message(&format!("{text}\n"));
        }
    }

    /// Prints a hint to stderr. The text must be safe to print.
    pub(crate) fn hint(&self, text: &str) {
        self.notice(&format!("{} {text}", style::advice("hint:")));
    }

    /// Prints problems, sorted by file and line.
    pub(crate) fn problems<'a>(&self, problems: impl IntoIterator<Item = &'a Problem>, env: &Env) {
        if self.verbosity == Verbosity::Quiet {
            return;
        }
        let mut sorted: Vec<&Problem> = problems.into_iter().collect();
        sorted.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
        sorted.dedup();
        let mut lines = Lines::default();
        for problem in sorted {
            let label =
                if problem.is_error() { style::bad("error:") } else { style::warning("warning:") };
            lines.add(format!("{label} {}", phrase::problem(problem, env)));
            lines.hint("  ", problem.hint.as_deref());
        }
        self.message(&lines.into_text());
    }

    /// Prints why the run failed: the error, its causes, and a hint.
    pub(crate) fn failure(&self, failure: &Failure) {
        let mut lines = Lines::default();
        let mut message = failure.to_string();
        lines.add(format!("{} {}", style::bad("error:"), clean(&message)));
        let mut source = failure.source();
        while let Some(cause) = source {
            let words = cause.to_string();
            // The text of some errors already ends with the text of their cause.
            if !message.ends_with(&words) {
                lines.add(format!("  {} {}", style::faint("cause:"), clean(&words)));
            }
            message = words;
            source = cause.source();
        }
        lines.hint("  ", failure.hint().as_deref());
        lines.usage("  ", failure.usage());
        if let Some(stderr) = failure.stderr() {
            lines.add(format!("  {}", style::faint("the server's last error output:")));
            for line in stderr.lines() {
                lines.add(format!("    {}", clean(line)));
            }
        }
        self.message(&lines.into_text());
    }

    /// Replaces the current line on stderr; an empty text erases it.
    pub(crate) fn status_line(&self, text: &str) {
        // One column stays free, because some terminals wrap after the last one.
        let text = clean(text);
        let text = table::fit(&text, self.message_width.unwrap_or(80).saturating_sub(1));
        let _best_effort = write!(io::stderr().lock(), "\r\u{1b}[K{text}");
    }

    /// Asks a yes/no question. Input that was typed before is discarded. The text must be safe to
    /// print.
    pub(crate) fn confirm(&self, question: &str) -> Confirmation {
        discard_unread();
        self.message(&format!("{question} [y/N] "));
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => Confirmation::InputClosed,
            Ok(_) => Confirmation::from_line(&line),
        }
    }

    /// Asks a yes/no question without blocking the thread. Cancel safe. Needs a Tokio runtime.
    pub(crate) async fn confirm_async(&self, question: &str) -> Confirmation {
        self.confirm_with(&mut Keyboard::open(), question).await
    }

    /// Does the same with a keyboard that is open already.
    pub(crate) async fn confirm_with(
        &self,
        keyboard: &mut Keyboard,
        question: &str,
    ) -> Confirmation {
        keyboard.discard_typed().await;
        self.message(&format!("{question} [y/N] "));
        match keyboard.line().await {
            Ok(Some(line)) => Confirmation::from_line(&line),
            Ok(None) | Err(_) => Confirmation::InputClosed,
        }
    }

    /// Asks for a secret on the controlling terminal, without echo. The text must be safe to print.
    pub(crate) fn read_secret(question: &str) -> io::Result<Secret> {
        discard_unread();
        rpassword::prompt_password(question).map(Secret::new)
    }

    /// Writes to stderr, whatever the loudness.
    pub(crate) fn message(&self, text: &str) {
        let text = wrapped(text, self.message_width);
        let _best_effort = write_painted(io::stderr().lock(), &text, self.err);
    }
}

/// Prints the help, the version, or a usage error. With `--json` a usage error is also printed as a
/// JSON document.
pub(crate) fn show_usage(error: &clap::Error, json: bool) -> ExitCode {
    let _best_effort = error.print();
    if json && error.use_stderr() {
        drop(print_json(&FailureDocument::of_usage(error)));
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Prints an internal error (a panic).
pub(crate) fn print_internal_error(place: &str) {
    let text = format!("error: Wharf panicked{place}\n  hint: please report it\n");
    let _best_effort = io::stderr().write_all(text.as_bytes());
}

/// Prints the JSON document of a run to stdout.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    IS_DOCUMENT_PRINTED.store(true, Ordering::Relaxed);
    json::document(value).and_then(|bytes| write_plain(&bytes)).map_err(Failure::Output)
}

/// Whether the JSON document was printed; there must be only one.
static IS_DOCUMENT_PRINTED: AtomicBool = AtomicBool::new(false);

/// Tells whether the JSON document was printed.
pub(crate) fn has_printed_document() -> bool {
    IS_DOCUMENT_PRINTED.load(Ordering::Relaxed)
}

/// Writes bytes to stdout unchanged.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    write_plain(bytes).map_err(Failure::Output)
}

fn wrapped(text: &str, width: Option<usize>) -> Cow<'_, str> {
    width.map_or(Cow::Borrowed(text), |width| wrap(text, width))
}

/// Writes a text with or without its colours.
fn write_painted<S>(mut stream: S, text: &str, choice: ColorChoice) -> io::Result<()>
where
    S: RawStream + AsLockedWrite,
{
    if choice == ColorChoice::Never {
        // Fast path: most texts have no colours.
        if text.contains('\u{1b}') {
            stream.write_all(strip_str(text).to_string().as_bytes())?;
        } else {
            stream.write_all(text.as_bytes())?;
        }
        return stream.flush();
    }
    let mut stream = AutoStream::new(stream, choice);
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

fn write_plain(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

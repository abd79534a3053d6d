//! Tests on Windows that a batch file, such as `npx.cmd`, gets exactly the arguments of its entry, or
//! is not started: its interpreter must not run a part of an argument as a command.

#![cfg(windows)]
#![expect(clippy::unwrap_used, reason = "a test may stop at once")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test prepares files and takes the system's folder"
)]

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use wharf_protocol::transport::process::{GracePeriod, Process, ProcessLaunch, TaskTracker};

const DEADLINE: Duration = Duration::from_secs(60);

/// Arguments that the shell would change or execute if they were not quoted.
const HOSTILE: [&str; 20] = [
    "plain",
    "",
    "a b",
    "\"",
    "a\"b",
    "\" & echo evil> evil.txt & \"",
    "& echo evil> evil.txt",
    "&& echo evil> evil.txt",
    "| echo evil> evil.txt",
    "a\" && echo evil> evil.txt",
    "> evil.txt",
    "^& echo evil> evil.txt",
    "a^b",
    "!EVIL!",
    "(a) b;c,d=e",
    "back\\slash\\",
    "\\\"",
    "a\nb",
    "a\r\n& echo evil> evil.txt",
    "it's `a` $b ~c *",
];

/// Arguments in which the shell would replace variables.
const VARIABLES: [&str; 4] = ["%PATH%", "%EVIL%", "100%", "a%b%c"];

/// An argument with characters that are not in every code page.
const OTHER_SCRIPTS: [&str; 1] = ["Grüße 日本"];

/// Starts a batch file that passes its arguments on, as `npx.cmd` does; returns what arrives, or the
/// error.
async fn received(folder: &Path, argument: &str) -> Result<Vec<String>, String> {
    let (batch, output) = (folder.join("tool.cmd"), folder.join("output.txt"));
    let holder = std::path::absolute(env!("CARGO_BIN_EXE_wharf-file-holder")).unwrap();
    let (holder, file) = (holder.display(), output.display());
    let line = format!("@\"{holder}\" \"arguments={file}\" %*\r\n");
    std::fs::write(&batch, line).unwrap();
    drop(std::fs::remove_file(&output));
    let mut environment: Vec<(OsString, OsString)> = vec![("EVIL".into(), "evil".into())];
    environment.extend(std::env::var_os("SystemRoot").map(|root| ("SystemRoot".into(), root)));
    environment.extend(std::env::var_os("ComSpec").map(|shell| ("ComSpec".into(), shell)));
    environment.push(("PATH".into(), folder.into()));
    let launch = ProcessLaunch {
        arguments: vec!["before".into(), argument.into(), "after".into()],
        environment,
        folder: Some(folder.to_owned()),
        ..ProcessLaunch::new(&batch)
    };
    let started = Process::start(launch, &TaskTracker::new(), None).await;
    let mut process = started.map_err(|error| error.to_string())?;
    tokio::time::timeout(DEADLINE, process.exited()).await.unwrap();
    let stderr = process.final_stderr(Duration::from_millis(200)).await;
    let grace = GracePeriod { after_eof: Duration::ZERO, after_term: Duration::ZERO };
    process.end(grace).await;
    let text = std::fs::read_to_string(&output).map_err(|_| format!("nothing ran: {stderr}"))?;
    Ok(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// Checks that each argument arrives as it is, or is refused because of a line break, and that
/// nothing of it is executed.
async fn check(arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for &argument in arguments {
        match received(folder.path(), argument).await {
            Ok(arrived) if arrived == ["before", argument, "after"] => {
                println!("exact    {argument:?}");
            }
            Err(why) if why.starts_with("an argument cannot be passed safely") => {
                println!("refused  {argument:?}");
                assert!(argument.contains(['\n', '\r']), "only line breaks are refused");
            }
            other => wrong.push(format!("{argument:?}: {other:?}")),
        }
        assert!(!folder.path().join("evil.txt").exists(), "{argument:?} was executed");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_batch_file_gets_exactly_the_arguments_of_its_entry_or_is_not_started() {
    check(&HOSTILE).await;
}

#[tokio::test]
async fn a_batch_file_gets_percent_signs_and_no_values_of_variables() {
    check(&VARIABLES).await;
}

#[tokio::test]
async fn a_batch_file_gets_text_in_every_script() {
    check(&OTHER_SCRIPTS).await;
}

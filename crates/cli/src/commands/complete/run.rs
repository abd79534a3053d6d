//! Prints the candidates, one per line.
//!
//! A line is a word, a tab and its description; for Bash only the word. A line that begins with a
//! colon is an instruction for the script: `:files` and `:folders` ask for paths, and `:nospace`
//! means that no space follows the word.

use clap::Args;

use super::candidates::{Candidates, Paths};
use super::position::position;
use super::script::Shell;
use super::shell_words;
use crate::args::definition;
use crate::commands::{Exit, Failure, Invocation};
use crate::ui::print_bytes;

/// Print the completion candidates for a command line
///
/// For the scripts that `wharf completions` prints. Reads files only: nothing is connected, asked
/// or written.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wharf complete bash -- 'wharf call do'
  wharf complete fish -- wharf call do")]
pub(crate) struct CompleteArgs {
    /// The shell that completes
    shell: Shell,
    /// The words up to the cursor; for Bash the line up to it
    #[arg(last = true, value_name = "WORD")]
    words: Vec<String>,
}

/// Prints the candidates.
pub(crate) fn run(args: &CompleteArgs, invocation: &Invocation) -> Result<Exit, Failure> {
    let words = match (args.shell, args.words.split_last()) {
        (Shell::Bash, Some((line, _))) => shell_words::split(line),
        // Some PowerShell versions drop an empty argument, so the script puts a colon in front.
        (Shell::Powershell, Some((last, before))) => {
            let last = last.strip_prefix(':').unwrap_or(last).to_owned();
            before.iter().cloned().chain([last]).collect()
        }
        _ => args.words.clone(),
    };
    let command = definition();
    let typed = words.last().map(String::as_str).unwrap_or_default();
    let candidates = Candidates::at(&position(&command, &words), typed, invocation);
    print_bytes(render(&candidates, args.shell).as_bytes())?;
    Ok(Exit::Success)
}

fn render(candidates: &Candidates, shell: Shell) -> String {
    let mut text = String::new();
    let is_unfinished = |word: &str| word.ends_with('=');
    if candidates.words.iter().any(|(word, _)| is_unfinished(word)) {
        text.push_str(":nospace\n");
    }
    for (word, about) in &candidates.words {
        text.push_str(word);
        if shell != Shell::Bash && !about.is_empty() {
            text.push('\t');
            text.push_str(about);
        }
        text.push('\n');
    }
    text.push_str(match candidates.paths {
        Some(Paths::Files) => ":files\n",
        Some(Paths::Folders) => ":folders\n",
        None => "",
    });
    text
}

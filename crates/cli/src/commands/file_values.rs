//! Arguments whose value is in a file: `key=@path` and `key:=@path`.
//!
//! `key=@@text` is the literal text `@text`, and `key=@-` reads the standard input. Error messages
//! name the file and never quote its contents.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use wharf_config::Env;
use wharf_config::text::clip;

use super::Failure;
use crate::ui::phrase;

/// The largest file in bytes; arguments are sent as one message.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Replaces `@file` values by the contents of the files.
pub(crate) fn read_into(words: &[String], env: &Env) -> Result<Vec<String>, Failure> {
    let mut is_stdin_read = false;
    let read = |word: &String| {
        let Some((key, value)) = word.split_once('=') else { return Ok(word.clone()) };
        let Some(name) = value.strip_prefix('@') else { return Ok(word.clone()) };
        if name.starts_with('@') {
            return Ok(format!("{key}={name}"));
        }
        if name == "-" && std::mem::replace(&mut is_stdin_read, true) {
            return Err(bad(
                "the standard input can be the value of one argument only".to_owned(),
                "put one of the values into a file".to_owned(),
            ));
        }
        let text = read_text(name, env).map_err(|why| {
            let argument = phrase::quoted(key.trim_end_matches(':'));
            let (key, name) = (clip(key, 60), clip(name, 200));
            let message = format!("could not read {name} for {argument}: {why}");
            bad(message, format!("for a text that begins with @ write {key}=@@{name}"))
        })?;
        Ok(format!("{key}={text}"))
    };
    words.iter().map(read).collect()
}

/// Reads a file that is named on the command line; `-` is the standard input.
pub(crate) fn read_text(name: &str, env: &Env) -> Result<String, String> {
    if name.is_empty() {
        return Err("no file is named".to_owned());
    }
    let mut bytes = Vec::new();
    // One byte more than allowed distinguishes a file that is too long from one that just fits.
    let result = if name == "-" {
        io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        let file = File::open(path(name, env));
        file.and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("no such file".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            Err("it is a folder".to_owned())
        }
        Err(error) => Err(error.to_string()),
        Ok(_) if bytes.len() as u64 > MOST_BYTES => {
            Err(format!("it is longer than {} MiB", MOST_BYTES / 1024 / 1024))
        }
        Ok(_) => String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()),
    }
}

/// Resolves a path relative to the process's working folder, as every command does, even with
/// `--project`. The shell does not expand a `~` after an equals sign.
fn path(name: &str, env: &Env) -> PathBuf {
    match (name.strip_prefix("~/"), &env.home) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(name),
    }
}

fn bad(message: String, hint: String) -> Failure {
    Failure::BadArguments { message, hint: Some(hint), usage: None }
}

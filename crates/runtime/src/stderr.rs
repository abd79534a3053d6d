//! Finds the line of a server's stderr output that has the reason of its failure.
//!
//! Programs end with stack traces, notes about log files and version banners. The reason is in the
//! last line before those. The output is untrusted text, so the line is cut and escaped.

use wharf_config::text::clip;

/// How many characters of the line are kept.
const LONGEST: usize = 300;

/// How many of the last lines are looked at.
const MAX_LINES: usize = 200;

/// Returns the last meaningful line of a server's stderr output, cut and escaped.
pub fn last_meaningful_line(stderr: &str) -> Option<String> {
    let mut lines: Vec<&str> = stderr.lines().rev().take(MAX_LINES).collect();
    lines.reverse();
    let messages: Vec<&str> = lines.into_iter().filter(|line| !is_noise(line)).collect();
    // Indented lines belong to the line above: stack frames, properties of an error object.
    let last = messages.iter().rfind(|line| !line.starts_with([' ', '\t'])).or(messages.last())?;
    let line = match npm_words(last) {
        // npm prints details after the reason, and its name on every line.
        Some(_) => messages.iter().find_map(|line| npm_reason(line)).unwrap_or(last),
        None => last,
    };
    Some(clip(line.trim(), LONGEST))
}

/// Tells whether a line is never the reason.
fn is_noise(line: &str) -> bool {
    const BEGINNINGS: [&str; 6] = [
        "at ",
        "Node.js v",
        "note: run with `RUST_BACKTRACE",
        "npm notice",
        "npm error A complete log of this run",
        "npm ERR! A complete log of this run",
    ];
    let text = line.trim();
    !text.contains(char::is_alphanumeric) || BEGINNINGS.iter().any(|it| text.starts_with(it))
}

fn npm_words(line: &str) -> Option<&str> {
    let words = line.strip_prefix("npm error").or_else(|| line.strip_prefix("npm ERR!"))?;
    Some(words.trim())
}

/// Returns the text of an npm line, unless it is only a code.
fn npm_reason(line: &str) -> Option<&str> {
    let words = npm_words(line)?;
    let is_code = ["code ", "errno ", "syscall ", "path "].iter().any(|it| words.starts_with(it));
    (!is_code && words.contains(' ')).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_reason_is_found() {
        let check = |stderr: &str, expected: &str| {
            let found = last_meaningful_line(stderr);
            assert_eq!(found.as_deref().unwrap_or("nothing"), expected, "{stderr}");
        };
        check("", "nothing");
        check("\n \n---\n", "nothing");
        check("starting\nout of memory\n\n", "out of memory");
        check("  only indented", "only indented");
        check("a\u{1b}[31mred", r"a\u{1b}[31mred");
        check(
            "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\n\
             Error: Cannot find module '/x/y.js'\n    at Module._load (node:internal:1)\n    \
             at node:internal/main:28:49 {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\n\
             Node.js v20.10.0\n",
            "Error: Cannot find module '/x/y.js'",
        );
        check(
            "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    \
             import nothing\nModuleNotFoundError: No module named 'nothing'\n",
            "ModuleNotFoundError: No module named 'nothing'",
        );
        check(
            "thread 'main' panicked at src/main.rs:2:5:\nno key\nnote: run with \
             `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
            "no key",
        );
        check(
            "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/nosuch\n\
             npm error 404\nnpm error 404  The requested resource could not be found\nnpm error \
             404 tarball, folder, http url, or git folder.\nnpm error A complete log of this run \
             can be found in: /tmp/x.log\n",
            "404 Not Found - GET https://registry.example/nosuch",
        );
        let long = "x".repeat(10_000);
        assert_eq!(last_meaningful_line(&long).unwrap().chars().count(), LONGEST);
    }
}

//! Splits a shell command into words, to find the files that it names.

/// The number of words of a command that are checked.
const MAX_WORDS: usize = 256;

/// Returns everything in a command that could be a path: its words as a shell splits them, and the
/// pieces between special characters of the shell, as in `cd x && sh -c './run|y'`.
pub(super) fn words_of_command(command: &str) -> Vec<String> {
    let mut words = shlex::split(command).unwrap_or_default();
    let is_syntax = |c: char| c.is_whitespace() || ";|&()<>`\"'=,:{}".contains(c);
    words.extend(command.split(is_syntax).map(|word| word.trim_start_matches('$').to_owned()));
    words.retain(|word| !word.is_empty());
    let mut seen = std::collections::BTreeSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words.truncate(MAX_WORDS);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_in_a_command_is_found() {
        let words = words_of_command("cd sub && sh -c './run|cat' \"a b.sh\" $(./x) K=./y");
        for path in ["sub", "./run", "a b.sh", "./x", "./y"] {
            assert!(words.iter().any(|word| word == path), "{path}: {words:?}");
        }
        assert_eq!(words_of_command("sh h.sh").first().map(String::as_str), Some("sh"));
    }
}

//! Collects what a server was given and must not be seen in its error output and its answers: a
//! server that fails likes to repeat its environment, its arguments or its headers.
//!
//! Only exact repetitions can be found. Short texts and places that exist are left alone: `true` or
//! a folder in place of `•••` is what a person needs to see, and no secret.

use std::path::Path;

use wharf_config::Secret;
use wharf_config::secret::{MASK, mask_args, names_a_secret, secrets_of_url};

/// Shorter texts are too common to be hidden.
const SHORTEST: usize = 6;

/// Parts of a value are hidden only if they cannot be common words.
const SHORTEST_PART: usize = 8;

/// Texts that are hidden in what a server says.
#[derive(Default)]
pub(super) struct Hidden(Vec<String>);

impl Hidden {
    /// Adds the variables of a child: those that its entry or we set for it, by `is_own`, and others
    /// whose names say what they are.
    pub(super) fn variables<'a>(
        &mut self,
        variables: impl Iterator<Item = (&'a str, &'a str)>,
        is_own: impl Fn(&str) -> bool,
    ) {
        for (_, value) in variables.filter(|(name, _)| is_own(name) || names_a_secret(name)) {
            self.value(value);
        }
    }

    /// Adds what is secret in the arguments; all of those in `expanded` is.
    pub(super) fn arguments(&mut self, arguments: &[Secret], expanded: &[Secret]) {
        let shown = mask_args(arguments.iter().map(Secret::expose));
        for (argument, shown) in arguments.iter().zip(&shown) {
            for part in between(argument.expose(), shown) {
                self.value(part);
            }
        }
        for argument in expanded.iter().map(Secret::expose) {
            self.value(argument);
            if let Some((_, value)) = argument.split_once('=') {
                self.value(value);
            }
        }
    }

    /// Adds what is secret in an address, not the address.
    pub(super) fn url(&mut self, url: &str) {
        for part in secrets_of_url(url) {
            self.text(&part, SHORTEST_PART);
        }
    }

    /// Returns the texts.
    pub(super) fn into_texts(mut self) -> Vec<String> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }

    /// Adds a value, and what it is made of.
    pub(super) fn value(&mut self, value: &str) {
        let value = value.trim();
        self.text(value, SHORTEST);
        if value.contains("://") {
            self.url(value);
        } else if let Some((_scheme, token)) = value.split_once(' ') {
            self.text(token.trim(), SHORTEST_PART);
        }
    }

    fn text(&mut self, text: &str, shortest: usize) {
        let is_place = || Path::new(text).is_absolute() && Path::new(text).exists();
        if text.chars().count() >= shortest && !is_place() {
            self.0.push(text.to_owned());
        }
    }
}

/// Returns what a shown text hides of the whole one.
fn between<'a>(whole: &'a str, shown: &str) -> Vec<&'a str> {
    let mut pieces = shown.split(MASK);
    let mut hidden = Vec::new();
    let Some(mut rest) = pieces.next().and_then(|first| whole.strip_prefix(first)) else {
        // It was put in other words; then all of it is hidden.
        return vec![whole];
    };
    for piece in pieces {
        let end = if piece.is_empty() { Some(rest.len()) } else { rest.find(piece) };
        let Some(end) = end else { return vec![whole] };
        hidden.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fill: impl FnOnce(&mut Hidden), expected: &[&str]) {
        let mut hidden = Hidden::default();
        fill(&mut hidden);
        assert_eq!(hidden.into_texts(), expected);
    }

    fn secrets(texts: &[&str]) -> Vec<Secret> {
        texts.iter().map(|text| Secret::new(*text)).collect()
    }

    #[test]
    fn own_variables_and_those_with_telling_names_are_hidden() {
        let variables = [
            ("OWN", "hunter2"),
            ("OWN_FLAG", "true"),
            ("OWN_PLACE", "/"),
            ("OWN_DATABASE", "postgres://me:tiger-4711@db.example/x?sslkey=tiger-4712"),
            ("OWN_HEADER", "Bearer tiger-4713"),
            ("GH_TOKEN", "tiger-4714"),
            ("LANG", "en_US.UTF-8"),
        ];
        check(
            |hidden| hidden.variables(variables.into_iter(), |name| name.starts_with("OWN")),
            &[
                "Bearer tiger-4713",
                "hunter2",
                "postgres://me:tiger-4711@db.example/x?sslkey=tiger-4712",
                "sslkey=tiger-4712",
                "tiger-4711",
                "tiger-4712",
                "tiger-4713",
                "tiger-4714",
            ],
        );
    }

    #[test]
    fn of_the_arguments_what_is_secret_is_hidden() {
        let arguments = ["-y", "package", "--token", "hunter2", "--api-key=hunter3", "plain-word"];
        check(|hidden| hidden.arguments(&secrets(&arguments), &[]), &["hunter2", "hunter3"]);
        let header = ["mcp-remote", "--header", "Authorization: Bearer tiger-4711"];
        check(
            |hidden| hidden.arguments(&secrets(&header), &[]),
            &["Bearer tiger-4711", "tiger-4711"],
        );
        let expanded = secrets(&["--who=tiger-4711", "/"]);
        check(|hidden| hidden.arguments(&expanded, &expanded), &["--who=tiger-4711", "tiger-4711"]);
    }

    #[test]
    fn what_is_hidden_is_found_between_what_is_shown() {
        assert_eq!(between("a=x", "a=•••"), ["x"]);
        assert_eq!(between("a", "a"), Vec::<&str>::new());
        assert_eq!(between("https://u:p@h/x?k=1", "https://•••@h/x?•••"), ["u:p", "k=1"]);
        assert_eq!(between("x", "in other words •••"), ["x"]);
    }
}

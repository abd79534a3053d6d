//! Collects the secret texts of a server, to redact them: a failing server often prints its
//! environment, its arguments or its headers.
//!
//! Every value of an entry is treated as a secret, with two levels of certainty: a token is
//! certain; a region or a project name is only likely, and a tool may need it in its schema. Short
//! texts and existing paths are not redacted: a person needs to see them, and they are not secret.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wharf_config::Secret;
use wharf_config::secret::{
    REDACTED, credentials_of_url, names_a_secret, redact_args, secrets_of_url,
};
use wharf_protocol::redact::Redactor;

/// Shorter values are not redacted unless they are certain to be secrets.
const MIN_CHARS: usize = 6;

/// Shorter parts of a value may be common words and are not redacted.
const MIN_PART_CHARS: usize = 8;

/// A value with at least this many mixed characters looks like a generated key.
const MIN_RANDOM_CHARS: usize = 20;

/// How certain it is that a value is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// A credential, or a value whose name says so, such as `API_KEY`.
    Certain,
    /// Any other value of an entry.
    Likely,
}

use Certainty::{Certain, Likely};

impl Certainty {
    /// Decides by the name of a value.
    pub(super) fn by_name(name: &str) -> Self {
        if names_a_secret(name) { Certain } else { Likely }
    }
}

/// The secret texts of a server.
#[derive(Clone, Default)]
pub(super) struct SecretTexts {
    certain: Vec<String>,
    likely: Vec<String>,
}

impl SecretTexts {
    /// Adds the variables of a child: those that the entry or Wharf sets, as certain as `own`
    /// returns, and others with the name of a secret.
    pub(super) fn variables<'a>(
        &mut self,
        variables: impl Iterator<Item = (&'a str, &'a str)>,
        own: impl Fn(&str) -> Option<Certainty>,
    ) {
        for (name, value) in variables {
            let by_name = || names_a_secret(name).then_some(Certain);
            if let Some(certainty) = own(name).or_else(by_name) {
                self.value(value, certainty);
            }
        }
    }

    /// Adds the secrets in the arguments, and all of `expanded`.
    pub(super) fn arguments(&mut self, arguments: &[Secret], expanded: &[Secret]) {
        let redacted = redact_args(arguments.iter().map(Secret::expose));
        for (argument, redacted) in arguments.iter().zip(&redacted) {
            for part in redacted_parts(argument.expose(), redacted) {
                self.value(part, Certain);
            }
        }
        for argument in expanded.iter().map(Secret::expose) {
            self.value(argument, Likely);
            if let Some((_, value)) = argument.split_once('=') {
                self.value(value, Likely);
            }
        }
    }

    /// Adds the secrets in a URL: user name and password, encoded and decoded, and the query.
    pub(super) fn url(&mut self, url: &str) {
        for part in secrets_of_url(url) {
            self.text(&part, MIN_PART_CHARS, Certain);
        }
        for part in credentials_of_url(url) {
            self.text(&part, 0, Certain);
        }
    }

    /// Adds a value and its parts.
    pub(super) fn value(&mut self, value: &str, certainty: Certainty) {
        let value = value.trim();
        let certainty = if is_random(value) { Certain } else { certainty };
        self.text(value, if certainty == Certain { 0 } else { MIN_CHARS }, certainty);
        if value.contains("://") {
            self.url(value);
        } else if let Some((scheme, token)) = value.split_once(' ') {
            let token = token.trim();
            self.text(token, MIN_PART_CHARS, certainty);
            if scheme.eq_ignore_ascii_case("basic") {
                self.basic(token);
            }
        }
    }

    /// Returns two redactors, together with `others`: for all secrets, and for certain ones only.
    pub(super) fn redactors(&self, others: Option<&Self>) -> (Redactor, Redactor) {
        let certain = || self.certain.iter().chain(others.into_iter().flat_map(|it| &it.certain));
        let likely = self.likely.iter().chain(others.into_iter().flat_map(|it| &it.likely));
        (Redactor::new(certain().chain(likely)), Redactor::new(certain()))
    }

    /// Adds the decoded `user:password` of a `Basic` header.
    fn basic(&mut self, token: &str) {
        let pair = STANDARD.decode(token).ok().and_then(|pair| String::from_utf8(pair).ok());
        if let Some((_, password)) = pair.as_deref().and_then(|pair| pair.split_once(':')) {
            self.text(password, 0, Certain);
        }
        self.certain.extend(pair);
    }

    fn text(&mut self, text: &str, shortest: usize, certainty: Certainty) {
        let is_existing_path = || Path::new(text).is_absolute() && Path::new(text).exists();
        if text.chars().count() < shortest || is_existing_path() {
            return;
        }
        match certainty {
            Certain => self.certain.push(text.to_owned()),
            Likely => self.likely.push(text.to_owned()),
        }
    }
}

/// Tells whether a value looks like a key rather than like a word, an address or a path.
fn is_random(value: &str) -> bool {
    value.len() >= MIN_RANDOM_CHARS
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !value.contains([' ', '/', ':', '.', ','])
}

/// Returns the parts of a text that are replaced in its redacted form.
fn redacted_parts<'a>(whole: &'a str, redacted: &str) -> Vec<&'a str> {
    let mut pieces = redacted.split(REDACTED);
    let mut texts = Vec::new();
    let Some(mut rest) = pieces.next().and_then(|first| whole.strip_prefix(first)) else {
        // The redacted form does not match: treat the whole text as secret.
        return vec![whole];
    };
    for piece in pieces {
        let end = if piece.is_empty() { Some(rest.len()) } else { rest.find(piece) };
        let Some(end) = end else { return vec![whole] };
        texts.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fill: impl FnOnce(&mut SecretTexts), certain: &[&str], likely: &[&str]) {
        let mut texts = SecretTexts::default();
        fill(&mut texts);
        for texts in [&mut texts.certain, &mut texts.likely] {
            texts.sort_unstable();
            texts.dedup();
        }
        assert_eq!((texts.certain, texts.likely), (owned(certain), owned(likely)));
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn secrets(texts: &[&str]) -> Vec<Secret> {
        texts.iter().map(|text| Secret::new(*text)).collect()
    }

    #[test]
    fn configured_variables_and_those_with_secret_names_are_secrets() {
        let variables = [
            ("OWN", "hunter2"),
            ("OWN_FLAG", "true"),
            ("OWN_PLACE", "/"),
            ("OWN_DATABASE", "postgres://me:tiger-4711@db.example/x?sslkey=tiger-4712"),
            ("OWN_HEADER", "Bearer tiger-4713"),
            ("OWN_RANDOM", "0123456789abcdef0123"),
            ("GH_TOKEN", "tiger-4714"),
            ("MY_KEY", "abcd"),
            ("LANG", "en_US.UTF-8"),
        ];
        let own = |name: &str| name.starts_with("OWN").then_some(Likely);
        check(
            |texts| texts.variables(variables.into_iter(), own),
            &[
                "0123456789abcdef0123",
                "abcd",
                "me:tiger-4711",
                "sslkey=tiger-4712",
                "tiger-4711",
                "tiger-4712",
                "tiger-4714",
            ],
            &[
                "Bearer tiger-4713",
                "hunter2",
                "postgres://me:tiger-4711@db.example/x?sslkey=tiger-4712",
                "tiger-4713",
            ],
        );
    }

    #[test]
    fn a_password_of_a_url_is_known_in_every_form_in_which_it_is_sent() {
        check(
            |texts| texts.url("https://me:p%40ss%2Bword@h.example/x?api_key=abcd&region=eu-1"),
            &["abcd", "api_key=abcd&region=eu-1", "me:p@ss+word", "p%40ss%2Bword", "p@ss+word"],
            &[],
        );
        check(|texts| texts.url("postgres://me:a&b@h.example/x"), &["a&b", "me:a&b"], &[]);
        check(
            |texts| texts.value("Basic bWU6cGFzc3dvcmQ=", Certain),
            &["Basic bWU6cGFzc3dvcmQ=", "bWU6cGFzc3dvcmQ=", "me:password", "password"],
            &[],
        );
    }

    #[test]
    fn secrets_in_arguments_are_known() {
        let arguments = ["-y", "package", "--token", "hunter2", "--api-key=hunter3", "plain-word"];
        check(|texts| texts.arguments(&secrets(&arguments), &[]), &["hunter2", "hunter3"], &[]);
        let header = ["mcp-remote", "--header", "Authorization: Bearer tiger-4711"];
        check(
            |texts| texts.arguments(&secrets(&header), &[]),
            &["Bearer tiger-4711", "tiger-4711"],
            &[],
        );
        let expanded = secrets(&["--who=tiger-4711", "/"]);
        check(
            |texts| texts.arguments(&expanded, &expanded),
            &[],
            &["--who=tiger-4711", "tiger-4711"],
        );
    }

    #[test]
    fn redacted_parts_are_found_between_the_other_parts() {
        assert_eq!(redacted_parts("a=x", "a=•••"), ["x"]);
        assert_eq!(redacted_parts("a", "a"), Vec::<&str>::new());
        assert_eq!(redacted_parts("https://u:p@h/x?k=1", "https://•••@h/x?•••"), ["u:p", "k=1"]);
        assert_eq!(redacted_parts("x", "in other words •••"), ["x"]);
    }
}

//! What one server was given, to be hidden in what Wharf tells of it.
//!
//! Servers like to repeat what they do not like: an error message may hold the token that it is
//! about. What a tool returns is not touched, only what becomes part of Wharf's own words.

use std::fmt;
use std::sync::Arc;

use wharf_config::secret::MASK;

use super::authorizer::ServerHeaders;
use super::hidden::Hidden;

/// The secrets of one connection; the default has none.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    /// The longest first, so that nothing is left of a text that begins with another one.
    texts: Vec<String>,
    /// What is sent changes when it is renewed.
    headers: Option<Arc<ServerHeaders>>,
}

impl Secrets {
    /// Hides what a program was given.
    pub(super) fn of_program(hidden: &[String]) -> Self {
        Self { texts: longest_first(hidden.to_vec()), headers: None }
    }

    /// Hides what is secret in an address, and all headers that are sent to it.
    pub(super) fn of_address(url: &str, headers: &Arc<ServerHeaders>) -> Self {
        let mut hidden = Hidden::default();
        hidden.url(url);
        let headers = Some(Arc::clone(headers));
        Self { texts: longest_first(hidden.into_texts()), headers }
    }

    /// Returns a text with a mask in place of each secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        let sent = self.headers.as_ref().map(|headers| longest_first(headers.secrets()));
        let all = self.texts.iter().chain(sent.iter().flatten());
        all.fold(text.to_owned(), |text, secret| text.replace(secret, MASK))
    }
}

fn longest_first(mut texts: Vec<String>) -> Vec<String> {
    texts.retain(|text| !text.is_empty());
    texts.sort_unstable_by_key(|text| std::cmp::Reverse(text.len()));
    texts
}

/// Shows nothing.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_secret_is_hidden_as_a_whole() {
        let secrets = Secrets::of_program(&["tiger".into(), "tiger-4711".into(), String::new()]);
        let hidden = secrets.hide("no tiger-4711 here, nor a tiger, nor tiger-4711");
        assert_eq!(hidden, "no ••• here, nor a •••, nor •••");
        assert_eq!(secrets.hide("nothing to hide"), "nothing to hide");
        assert_eq!(Secrets::default().hide("tiger"), "tiger");
        assert!(!format!("{secrets:?}").contains("tiger"));
    }
}

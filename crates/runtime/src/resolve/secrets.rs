//! What one server was given, to be hidden in what Wharf tells of it.
//!
//! Servers like to repeat what they do not like: an error message may hold the token that it is
//! about. What a tool returns is not touched, only what becomes part of Wharf's own words.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use wharf_config::secret::MASK;

use super::authorizer::ServerHeaders;
use super::hidden::Hidden;

/// The secrets of one connection; the default has none.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    texts: Vec<String>,
    /// What is sent changes when it is renewed.
    headers: Option<Arc<ServerHeaders>>,
}

impl Secrets {
    /// Hides what a program was given.
    pub(super) fn of_program(hidden: &[String]) -> Self {
        Self { texts: hidden.to_vec(), headers: None }
    }

    /// Hides what is secret in an address, and all headers that are sent to it.
    pub(super) fn of_address(url: &str, headers: &Arc<ServerHeaders>) -> Self {
        let mut hidden = Hidden::default();
        hidden.url(url);
        let headers = Some(Arc::clone(headers));
        Self { texts: hidden.into_texts(), headers }
    }

    /// Returns a text with a mask in place of each secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.hide_in_start(text, usize::MAX)
    }

    /// Like [`Secrets::hide`], but of a long text only about the first `most` characters, and never
    /// more. The rest costs nothing, however long it is.
    pub(crate) fn hide_in_start(&self, text: &str, most: usize) -> String {
        let sent = self.headers.as_ref().map(|headers| headers.secrets());
        let all = || self.texts.iter().chain(sent.iter().flat_map(|sent| sent.iter()));
        let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
        // A secret that begins in what is shown is found as a whole, wherever it ends.
        let longest = all().map(String::len).max().unwrap_or_default();
        let mut seen = text.len().min(end + longest);
        while !text.is_char_boundary(seen) {
            seen += 1;
        }
        let mut hidden = String::with_capacity(end);
        let mut shown = 0;
        for place in places(&text[..seen], all()).into_iter().take_while(|it| it.start < end) {
            hidden.push_str(&text[shown..place.start]);
            hidden.push_str(MASK);
            shown = place.end;
        }
        hidden.push_str(text.get(shown..end).unwrap_or_default());
        if let Some((at, _)) = hidden.char_indices().nth(most) {
            hidden.truncate(at);
        }
        hidden
    }
}

/// Returns where secrets are in a text, in order. Where they overlap it is one place, so that nothing
/// is left of either.
fn places<'a>(text: &str, secrets: impl Iterator<Item = &'a String>) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    for secret in secrets {
        // One that is empty is none.
        let Some(first) = secret.chars().next() else { continue };
        let mut from = 0;
        while let Some(at) = text[from..].find(secret) {
            let (start, end) = (from + at, from + at + secret.len());
            match places.last_mut() {
                Some(last) if last.contains(&start) => last.end = last.end.max(end),
                _ => places.push(start..end),
            }
            // It may overlap itself.
            from = start + first.len_utf8();
        }
    }
    places.sort_unstable_by_key(|place| place.start);
    places.dedup_by(|next, last| {
        let is_one = next.start < last.end;
        if is_one {
            last.end = last.end.max(next.end);
        }
        is_one
    });
    places
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
        let check = |secrets: &[&str], text: &str, expected: &str| {
            let secrets: Vec<String> = secrets.iter().copied().map(str::to_owned).collect();
            assert_eq!(Secrets::of_program(&secrets).hide(text), expected);
        };
        let tigers = ["tiger", "tiger-4711", ""];
        check(
            &tigers,
            "no tiger-4711 here, nor a tiger, nor tiger-4711",
            "no ••• here, nor a •••, nor •••",
        );
        check(&tigers, "nothing to hide", "nothing to hide");
        check(&tigers, "tigertiger", "••••••");
        check(&["tiger-4711", "4711-lion"], "a tiger-4711-lion", "a •••");
        check(&["tiger-4711-lion", "4711"], "a tiger-4711-lion, 4711", "a •••, •••");
        check(&["äöäö"], "an äöäöäö", "an •••");
        check(&[], "tiger", "tiger");
    }

    #[test]
    fn a_text_is_not_cut_inside_a_secret() {
        let secrets = Secrets::of_program(&["tiger-4711".into(), "4711-äöü".into()]);
        let check = |text: &str, most: usize, expected: &str| {
            assert_eq!(secrets.hide_in_start(text, most), expected);
        };
        check("a tiger-4711 and more", 2, "a ");
        check("a tiger-4711 and more", 3, "a •");
        check("a tiger-4711 and more", 6, "a •••");
        check("a tiger-4711 and more", 14, "a ••• a");
        check("ä tiger-4711-äöü tiger-4711", 20, "ä ••• •••");
        check("a tiger-4711", 99, "a •••");
        let text = "tiger-4711 tiger-4711 4711-äöü tiger-4711-äöü tiger-4711";
        for most in 0..=text.len() {
            let shown = secrets.hide_in_start(text, most);
            assert!(shown.chars().all(|it| "• ".contains(it)), "{shown}");
            assert!(shown.chars().count() <= most);
        }
    }

    #[test]
    fn secrets_show_nothing() {
        let secrets = Secrets::of_program(&["tiger".into()]);
        assert!(!format!("{secrets:?}").contains("tiger"));
    }
}

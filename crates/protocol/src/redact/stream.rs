//! Redacts a text that arrives in chunks, such as the stderr of a server.
//!
//! Bytes that could be the beginning of a secret are held back until the next chunk decides.

use super::{REDACTED, Redactor};

/// Redacts a text that arrives in chunks; see [`Redactor::stream`].
#[derive(Debug)]
pub(crate) struct RedactedStream {
    redactor: Redactor,
    held: Vec<u8>,
    /// The byte before the held bytes.
    before: Option<u8>,
}

impl RedactedStream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: Vec::new(), before: None }
    }

    /// Takes the next chunk and returns the redacted bytes that are decided.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        if self.redactor.is_empty() {
            return piece.to_vec();
        }
        self.held.extend_from_slice(piece);
        self.release(self.first_undecided())
    }

    /// Returns the held bytes at the end of the text.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        self.release(self.held.len())
    }

    /// Returns the first position at which an incomplete secret may begin.
    fn first_undecided(&self) -> usize {
        let Some(automaton) = self.redactor.automaton() else { return self.held.len() };
        let first = self.held.len().saturating_sub(automaton.longest);
        let could_begin = |at: &usize| {
            let rest = &self.held[*at..];
            automaton.patterns.iter().any(|pattern| {
                // The byte after a short secret decides whether it is a whole word.
                let is_longer = pattern.text.len() + usize::from(pattern.is_word) > rest.len();
                let known = rest.len().min(pattern.text.len());
                is_longer && pattern.text.as_bytes()[..known].eq_ignore_ascii_case(rest)
            })
        };
        (first..self.held.len()).find(could_begin).unwrap_or(self.held.len())
    }

    /// Returns the redacted held bytes up to `until`, or up to a secret that contains `until`.
    fn release(&mut self, mut until: usize) -> Vec<u8> {
        let found = self.redactor.find(&self.held, self.before);
        if let Some(place) = found.iter().find(|it| it.start < until && until < it.end) {
            until = place.start;
        }
        let mut released = Vec::with_capacity(until);
        let mut at = 0;
        for place in found.into_iter().take_while(|it| it.end <= until) {
            released.extend_from_slice(&self.held[at..place.start]);
            released.extend_from_slice(REDACTED.as_bytes());
            at = place.end;
        }
        released.extend_from_slice(&self.held[at..until]);
        self.before = self.held[..until].last().copied().or(self.before);
        self.held.drain(..until);
        released
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(secrets: &[&str], pieces: &[&str], expected: &str) {
        let mut stream = Redactor::new(secrets.iter().copied()).stream();
        let mut seen: Vec<u8> =
            pieces.iter().flat_map(|piece| stream.push(piece.as_bytes())).collect();
        seen.extend(stream.finish());
        assert_eq!(String::from_utf8(seen).unwrap(), expected);
    }

    #[test]
    fn a_secret_in_several_chunks_is_redacted() {
        check(&["hunter2-x"], &["x hun", "te", "r2-x y"], "x ••• y");
        check(&["hunter2-x"], &["x hun", "gry"], "x hungry");
        check(&["hunter2-x"], &["x hunter"], "x hunter");
        check(&["hunter2-x"], &["aHVudGV", "yMi14", "!"], "•••!");
        check(&[], &["a", "b"], "ab");
        check(&["grün-grün"], &["rot grün-gr\u{fc}n", " blau"], "rot ••• blau");
    }

    #[test]
    fn the_longer_of_two_overlapping_secrets_is_redacted() {
        check(&["hunter2-x", "hunter2-x-4711"], &["hunter2-x-4711 hunter2-x"], "••• •••");
        check(&["hunter2-x", "hunter2-x-4711"], &["hunter2-x", "-4711"], "•••");
        check(&["hunter2-x", "hunter2-x-4711"], &["hunter2-x", "-y"], "•••-y");
    }

    #[test]
    fn a_short_secret_is_held_back_until_the_next_byte() {
        check(&["main"], &["the do", "main", " main", "ly ", "main"], "the domain mainly •••");
        check(&["main"], &["main", "\n"], "•••\n");
    }

    #[test]
    fn a_complete_line_is_not_held_back() {
        let mut stream = Redactor::new(["hunter2-x"]).stream();
        assert_eq!(stream.push(b"waiting for hunter2-x h\n"), "waiting for ••• h\n".as_bytes());
    }

    #[test]
    fn bytes_that_are_not_utf8_are_kept() {
        let mut stream = Redactor::new(["hunter2-x"]).stream();
        assert_eq!(
            stream.push(b"\xff hunter2-x \xfe\n"),
            b"\xff \xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2 \xfe\n"
        );
    }
}

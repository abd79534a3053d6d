//! Keeps what must not be seen out of what a server says, on stderr or about a request.
//!
//! It stands between the server and everybody who gets to know the text, so that neither an error
//! message nor a log file holds a secret that the server repeats. A text may come in pieces: what
//! could be the beginning of a secret is held back until it is known whether it is one.

/// What stands in place of a hidden text.
const MASK: &[u8] = "•••".as_bytes();

/// Hides texts in a stream of bytes.
pub(crate) struct Veil {
    hidden: Vec<String>,
    /// Which bytes a hidden text begins with; most bytes of a stream begin none.
    begins: [bool; 256],
    held: Vec<u8>,
}

impl Veil {
    /// Hides these texts; empty ones are no texts.
    pub(crate) fn new(mut hidden: Vec<String>) -> Self {
        hidden.retain(|text| !text.is_empty());
        // The longest first, so that nothing is left of a text that begins with another one.
        hidden.sort_unstable_by_key(|text| std::cmp::Reverse(text.len()));
        let mut begins = [false; 256];
        for text in &hidden {
            begins[usize::from(text.as_bytes()[0])] = true;
        }
        Self { hidden, begins, held: Vec::new() }
    }

    /// Tells whether there is nothing to hide.
    pub(crate) fn is_empty(&self) -> bool {
        self.hidden.is_empty()
    }

    /// Takes the next piece and returns what may be seen by now.
    pub(crate) fn pass(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        self.look(|hidden, rest| hidden.len() > rest.len() && hidden.starts_with(rest))
    }

    /// Returns what was held back, when nothing comes any more.
    pub(crate) fn end(&mut self) -> Vec<u8> {
        self.look(|_, _| false)
    }

    /// Returns what may be seen of a text that is whole.
    pub(crate) fn whole(mut self, text: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(text);
        self.end()
    }

    fn look(&mut self, could_become: impl Fn(&[u8], &[u8]) -> bool) -> Vec<u8> {
        let mut seen = Vec::with_capacity(self.held.len());
        let mut at = 0;
        while let Some(byte) = self.held.get(at) {
            let rest = &self.held[at..];
            let mut hidden = self.hidden.iter().map(String::as_bytes);
            if !self.begins[usize::from(*byte)] {
                seen.push(*byte);
                at += 1;
            } else if hidden.clone().any(|hidden| could_become(hidden, rest)) {
                break;
            } else if let Some(hidden) = hidden.find(|hidden| rest.starts_with(hidden)) {
                seen.extend_from_slice(MASK);
                at += hidden.len();
            } else {
                seen.push(*byte);
                at += 1;
            }
        }
        self.held.drain(..at);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::Veil;

    #[track_caller]
    fn check(hidden: &[&str], pieces: &[&str], expected: &str) {
        let mut veil = Veil::new(hidden.iter().map(|&text| text.to_owned()).collect());
        let mut seen: Vec<u8> =
            pieces.iter().flat_map(|piece| veil.pass(piece.as_bytes())).collect();
        seen.extend(veil.end());
        assert_eq!(String::from_utf8(seen).unwrap(), expected);
    }

    #[test]
    fn each_occurrence_is_hidden() {
        check(&["hunter2"], &["a hunter2, hunter2\n"], "a •••, •••\n");
        check(&["hunter2", "tiger77"], &["tiger77hunter2"], "••••••");
        check(&["hunter2"], &["hunter", " hunter3 hunthunter2"], "hunter hunter3 hunt•••");
        check(&[], &["a", "b"], "ab");
        check(&[""], &["ab"], "ab");
        check(&["grün"], &["rot grün blau"], "rot ••• blau");
    }

    #[test]
    fn a_text_in_pieces_is_hidden() {
        check(&["hunter2"], &["x hun", "te", "r2 y"], "x ••• y");
        check(&["hunter2"], &["x hun", "gry"], "x hungry");
        check(&["hunter2"], &["x hunter"], "x hunter");
    }

    #[test]
    fn nothing_is_left_of_the_longer_of_two() {
        check(&["hunter2", "hunter2-4711"], &["hunter2-4711 hunter2"], "••• •••");
        check(&["hunter2", "hunter2-4711"], &["hunter2", "-4711"], "•••");
        check(&["hunter2", "hunter2-4711"], &["hunter2", "-x"], "•••-x");
    }

    #[test]
    fn a_line_is_seen_before_the_next_one_comes() {
        let mut veil = Veil::new(vec!["hunter2".to_owned()]);
        assert_eq!(veil.pass(b"waiting for hunter2 h\n"), "waiting for ••• h\n".as_bytes());
    }
}

//! Cuts a text for a model: its head, its tail, and a notice between them that names the file with
//! the full text.

use std::path::PathBuf;

use super::super::Outcome;
use super::result_store::{ResultStore, SpillError};

/// The text of an outcome for a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelText {
    /// The text, never longer than the limit.
    pub text: String,
    /// The file with the full text, if this one is cut.
    pub spilled_to: Option<PathBuf>,
}

impl Outcome {
    /// Returns the text for a model, at most `max_chars` characters. A longer text is cut, and
    /// written to a file in full, which blocks the thread.
    ///
    /// Without a store, or if the write fails, the notice in the text says so.
    pub fn for_model(&self, max_chars: usize, store: Option<&ResultStore>) -> ModelText {
        let total = self.text.chars().count();
        if total <= max_chars {
            return ModelText { text: self.text.clone(), spilled_to: None };
        }
        let kept = store.map(|store| store.keep_text(&self.text));
        let place = match &kept {
            Some(Ok(path)) => format!("the whole text is in {}", path.display()),
            Some(Err(SpillError::TooLarge { .. })) => "the whole was too large to keep".to_owned(),
            Some(Err(_)) => "the whole could not be kept".to_owned(),
            None => "the whole was not kept".to_owned(),
        };
        let text = shorten(&self.text, total, max_chars, &place);
        ModelText { text, spilled_to: kept.and_then(Result::ok) }
    }
}

/// Cuts the middle out of a text of `total` characters.
fn shorten(text: &str, total: usize, most: usize, place: &str) -> String {
    let notice = |missing: usize| format!("\n[… {missing} characters left out; {place} …]\n");
    // The largest possible number gives the longest possible notice.
    let Some(room) = most.checked_sub(notice(total).chars().count()) else {
        return text.chars().take(most).collect();
    };
    let tail = room * 2 / 5;
    let head = room - tail;
    let start = &text[..char_offset(text, head)];
    let end = &text[char_offset(text, total - tail)..];
    format!("{start}{}{end}", notice(total - room))
}

/// Returns the byte offset of the character with this number.
fn char_offset(text: &str, number: usize) -> usize {
    text.char_indices().nth(number).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wharf_protocol::view::ToolResult;

    use super::super::super::CallDetails;
    use super::super::Quota;
    use super::*;

    fn outcome_with_text(text: &str) -> Outcome {
        let result = serde_json::json!({ "content": text }).to_string();
        Outcome::from_result(&ToolResult::read(result.parse().unwrap()), CallDetails::default())
    }

    #[test]
    fn a_long_text_keeps_its_head_and_tail_and_names_its_file() {
        let home = tempfile::tempdir().unwrap();
        let store = ResultStore::new(home.path().join("results"));
        let text = format!("{}{}", "é".repeat(300), "ß".repeat(300));
        let cut = outcome_with_text(&text).for_model(300, Some(&store));
        let path = cut.spilled_to.unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let rendered = cut.text.replace(&path.display().to_string(), "[path]");
        let line = rendered.lines().nth(1).unwrap();
        assert!(line.contains("characters left out; the whole text is in [path]"), "{line}");
        assert!(cut.text.starts_with("éé") && cut.text.ends_with("ßß"));
        assert!(cut.text.chars().count() <= 300);
    }

    #[test]
    fn a_short_text_is_left_alone() {
        let cut = outcome_with_text("short").for_model(5, None);
        assert_eq!(cut, ModelText { text: "short".into(), spilled_to: None });
    }

    #[test]
    fn a_text_that_cannot_be_stored_is_cut_with_a_notice() {
        let home = tempfile::tempdir().unwrap();
        let small = ResultStore::new(home.path()).with_quota(Quota { bytes: 9, files: 9 });
        let text = "0123456789".repeat(20);
        insta::assert_snapshot!(outcome_with_text(&text).for_model(80, Some(&small)).text, @"
        0123456789
        [… 184 characters left out; the whole was too large to keep …]
        456789
        ");
        insta::assert_snapshot!(outcome_with_text(&text).for_model(80, None).text, @"
        012345678901234
        [… 175 characters left out; the whole was not kept …]
        0123456789
        ");
        assert_eq!(outcome_with_text(&text).for_model(7, None).text, "0123456");
    }

    proptest! {
        #[test]
        fn a_cut_text_is_never_longer_than_allowed(text in "[a-zé日\n]{0,400}", most in 0_usize..300) {
            let cut = outcome_with_text(&text).for_model(most, None).text;
            prop_assert!(cut.chars().count() <= most);
            let total = text.chars().count();
            if total <= most {
                prop_assert_eq!(cut, text);
            } else if let Some((head, rest)) = cut.split_once("\n[… ") {
                let (missing, rest) = rest.split_once(" characters").unwrap();
                let (_, tail) = rest.split_once("…]\n").unwrap();
                prop_assert!(text.starts_with(head) && text.ends_with(tail));
                let kept = head.chars().count() + tail.chars().count();
                prop_assert_eq!(missing.parse::<usize>().unwrap(), total - kept);
            }
        }
    }
}

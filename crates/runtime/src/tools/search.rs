//! Full-text search over tools: names, titles, arguments and descriptions.
//!
//! Every word must match somewhere. A match in the name scores higher than one in the description.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::Value;

use super::registry::Registry;
use super::tool::Tool;

impl Registry {
    /// Returns the listed tools that match every word, the best first. Case is ignored; without
    /// words all tools match.
    pub fn search(&self, words: &str) -> Vec<&Arc<Tool>> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let scored = self.tools().iter().filter_map(|tool| Some((score(tool, &words)?, tool)));
        let mut found: Vec<(usize, &Arc<Tool>)> = scored.collect();
        // Tools with equal scores stay in the order of their names.
        found.sort_by_key(|(score, _)| Reverse(*score));
        found.into_iter().map(|(_, tool)| tool).collect()
    }
}

/// Returns the score of a tool; `None` if a word is missing.
fn score(tool: &Tool, words: &[String]) -> Option<usize> {
    let lower = |text: Option<&str>| text.unwrap_or_default().to_lowercase();
    let name = tool.tool();
    let fields = [
        // The original case splits `readFile` into words.
        (SearchField { whole: lower(Some(name)), parts: parts(name) }, Weights(100, 60, 40)),
        (SearchField::of(tool.server().as_str()), Weights(35, 30, 25)),
        (SearchField::of(tool.title().as_deref().unwrap_or_default()), Weights(35, 30, 20)),
        (SearchField::of(&arguments(tool)), Weights(20, 15, 10)),
        (SearchField::of(tool.description().as_deref().unwrap_or_default()), Weights(12, 10, 4)),
        (SearchField { whole: lower(Some(tool.name())), parts: Vec::new() }, Weights(1, 1, 1)),
    ];
    let best = |word: &String| {
        let scores = fields.iter().map(|(field, weights)| field.score(word, weights));
        scores.max().filter(|score| *score > 0)
    };
    words.iter().map(best).sum()
}

/// The scores of a word that equals a part of a field, begins a part, or is anywhere in the field.
struct Weights(usize, usize, usize);

struct SearchField {
    whole: String,
    parts: Vec<String>,
}

impl SearchField {
    fn of(text: &str) -> Self {
        Self { whole: text.to_lowercase(), parts: parts(text) }
    }

    fn score(&self, word: &str, weights: &Weights) -> usize {
        if self.parts.iter().any(|part| part == word) || self.whole == word {
            weights.0
        } else if self.parts.iter().any(|part| part.starts_with(word)) {
            weights.1
        } else if self.whole.contains(word) {
            weights.2
        } else {
            0
        }
    }
}

/// Splits a text into words: `readFile_now` has the parts `read`, `file` and `now`.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| c.is_alphanumeric()) {
            part.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn arguments(tool: &Tool) -> String {
    let properties = tool.accepted_schema().get("properties");
    let properties = properties.and_then(|them| them.to::<serde_json::Map<String, Value>>());
    let names: Vec<String> =
        properties.unwrap_or_default().into_iter().map(|(name, _)| name).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (text, expected) in [
            ("readFile_now", "read file now"),
            ("HTTPServer", "httpserver"),
            ("query-docs.v2", "query docs v2"),
            ("  ", ""),
            ("Größe", "größe"),
        ] {
            assert_eq!(parts(text).join(" "), expected, "{text}");
        }
    }
}

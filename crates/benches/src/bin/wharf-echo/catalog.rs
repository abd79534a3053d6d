//! The tools of the server. Every page of `tools/list` is rendered once, as a complete result.
//!
//! `echo` and `blob` are real. The others only fill the list: they have names, descriptions and
//! schemas of the usual size (some 700 bytes each), and no two are equal.

use std::fmt::Write as _;

const VERBS: [&str; 10] =
    ["list", "get", "create", "update", "delete", "search", "export", "archive", "share", "watch"];
const NOUNS: [&str; 12] = [
    "issue",
    "page",
    "message",
    "file",
    "invoice",
    "calendar",
    "contact",
    "branch",
    "ticket",
    "dashboard",
    "payment",
    "document",
];

const ECHO: &str = r#"{"name":"echo","title":"Echo","description":"Returns the text it was given.","inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"The text to return."}},"required":["text"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}"#;
const BLOB: &str = r#"{"name":"blob","title":"Blob","description":"Returns a text of the given length.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer","minimum":0,"maximum":67108864,"description":"How many bytes of text to return."}},"required":["bytes"]},"annotations":{"readOnlyHint":true,"openWorldHint":false}}"#;

/// The tools that this server offers.
pub(crate) struct ToolCatalog {
    pages: Vec<String>,
    names: Vec<String>,
}

impl ToolCatalog {
    /// Renders `tools` tools, with at most `page` of them on one page.
    pub(crate) fn new(tools: usize, page: Option<usize>) -> Self {
        let (names, rendered): (Vec<_>, Vec<_>) = (0..tools).map(tool).unzip();
        let chunks = rendered.chunks(page.unwrap_or(tools));
        let last = chunks.len() - 1;
        let pages = chunks.enumerate().map(|(index, tools)| {
            let next = if index < last {
                format!(r#","nextCursor":"{}""#, index + 1)
            } else {
                String::new()
            };
            // The client must not cache the list, or the benchmark would measure its cache.
            let hints = r#""ttlMs":0,"cacheScope":"public","resultType":"complete""#;
            format!(r#"{{"tools":[{}]{next},{hints}}}"#, tools.join(","))
        });
        Self { pages: pages.collect(), names }
    }

    /// Returns the result for the page at this cursor.
    pub(crate) fn page(&self, cursor: Option<&[u8]>) -> Option<&str> {
        let index = match cursor {
            None => 0,
            Some(cursor) => std::str::from_utf8(cursor).ok()?.parse().ok()?,
        };
        self.pages.get::<usize>(index).map(String::as_str)
    }

    /// Returns whether a tool has this name.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.names.iter().any(|known| known.as_bytes() == name)
    }
}

fn tool(index: usize) -> (String, String) {
    match index {
        0 => ("echo".to_owned(), ECHO.to_owned()),
        1 => ("blob".to_owned(), BLOB.to_owned()),
        _ => generated_tool(index - 2),
    }
}

fn generated_tool(index: usize) -> (String, String) {
    let noun = NOUNS[index % NOUNS.len()];
    let verb = VERBS[index / NOUNS.len() % VERBS.len()];
    let mut name = format!("{verb}_{noun}");
    let round = index / (NOUNS.len() * VERBS.len());
    if round > 0 {
        let _ = write!(name, "_{round}");
    }
    let reads = matches!(verb, "list" | "get" | "search" | "export" | "watch");
    let text = format!(
        r#"{{"name":"{name}","title":"{verb} {noun}","description":"Use this to {verb} a {noun} in the workspace. Answers with the {noun} as it is afterwards; fails if the caller may not {verb} it. Prefer a narrow filter, large answers are cut.","inputSchema":{{"type":"object","properties":{{"id":{{"type":"string","description":"The identifier of the {noun}.","pattern":"^[a-z0-9-]+$"}},"filter":{{"type":"object","properties":{{"owner":{{"type":"string"}},"state":{{"type":"string","enum":["open","closed","all"],"default":"open"}}}}}},"limit":{{"type":"integer","minimum":1,"maximum":100,"default":20,"description":"How many to return at most."}}}},"required":["id"]}},"annotations":{{"readOnlyHint":{reads},"openWorldHint":true}}}}"#
    );
    (name, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_together_have_every_tool_once() {
        let catalog = ToolCatalog::new(250, Some(100));
        let mut names = std::collections::BTreeSet::new();
        let mut cursor: Option<String> = None;
        loop {
            let text = catalog.page(cursor.as_deref().map(str::as_bytes)).expect("a page");
            let page: serde_json::Value = serde_json::from_str(text).expect("valid JSON");
            for tool in page["tools"].as_array().expect("tools") {
                assert!(names.insert(tool["name"].to_string()), "{tool} is there twice");
            }
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(names.len(), 250);
        assert!(catalog.page(Some(b"3")).is_none());
    }
}

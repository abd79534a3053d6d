//! Reads and validates the arguments of one thought.
//!
//! Models put numbers and booleans in quotes and send `null` for missing values; both are
//! accepted. All errors are reported together, so that the model needs only one correction.

use wharf_protocol::{Json, Members};

/// The maximum number of characters of a thought.
pub(super) const MAX_THOUGHT_LENGTH: usize = 100_000;

/// The maximum number of characters of a branch name.
const MAX_BRANCH_NAME_LENGTH: usize = 100;

const COUNT: &str = "a whole number from 1";
const BOOLEAN: &str = "true or false";

/// What the history needs of a thought. The text is validated and dropped.
#[derive(Debug)]
pub(super) struct Thought {
    pub(super) number: u32,
    pub(super) total: u32,
    pub(super) is_last: bool,
    /// The branch, if both its name and its starting thought are given.
    pub(super) branch: Option<String>,
}

impl Thought {
    /// Reads the arguments of a call, or returns one line per invalid field.
    pub(super) fn read(arguments: &Json) -> Result<Self, String> {
        let Some(members) = arguments.members() else {
            return Err("arguments must be an object".to_owned());
        };
        let mut fields = ThoughtFields { members, wrong: Vec::new() };
        fields.thought();
        let needs_next = fields.required("nextThoughtNeeded", BOOLEAN, boolean);
        let number = fields.required("thoughtNumber", COUNT, count);
        let total = fields.required("totalThoughts", COUNT, count);
        for name in ["isRevision", "needsMoreThoughts"] {
            fields.optional(name, BOOLEAN, boolean);
        }
        fields.optional("revisesThought", COUNT, count);
        let origin = fields.optional("branchFromThought", COUNT, count);
        let branch = fields.branch();
        match (needs_next, number, total) {
            (Some(needs_next), Some(number), Some(total)) if fields.wrong.is_empty() => Ok(Self {
                number,
                // A thought beyond the expected total raises the total.
                total: total.max(number),
                is_last: !needs_next,
                branch: branch.filter(|_| origin.is_some()),
            }),
            _ => Err(fields.wrong.join("\n")),
        }
    }
}

struct ThoughtFields<'a> {
    members: Members<'a>,
    wrong: Vec<String>,
}

impl ThoughtFields<'_> {
    fn thought(&mut self) {
        let length = self.members.text("thought").map(|thought| thought.chars().count());
        if length.is_none_or(|length| length == 0) {
            self.wrong.push("thought must be a text that is not empty".to_owned());
        } else if length > Some(MAX_THOUGHT_LENGTH) {
            self.wrong.push(format!("thought must not exceed {MAX_THOUGHT_LENGTH} characters"));
        }
    }

    fn branch(&mut self) -> Option<String> {
        if !self.has("branchId") {
            return None;
        }
        let name = self
            .members
            .text("branchId")
            .filter(|name| name.chars().count() <= MAX_BRANCH_NAME_LENGTH);
        if name.is_none() {
            let wrong =
                format!("branchId must be a text of at most {MAX_BRANCH_NAME_LENGTH} characters");
            self.wrong.push(wrong);
        }
        name.map(std::borrow::Cow::into_owned).filter(|name| !name.is_empty())
    }

    fn required<T>(&mut self, name: &str, what: &str, read: fn(&str) -> Option<T>) -> Option<T> {
        if !self.has(name) {
            self.wrong.push(format!("{name} is missing; it must be {what}"));
        }
        self.optional(name, what, read)
    }

    fn optional<T>(&mut self, name: &str, what: &str, read: fn(&str) -> Option<T>) -> Option<T> {
        let raw = self.members.get(name).filter(|raw| raw.get() != "null")?;
        let value = read(raw.get().trim_matches('"'));
        if value.is_none() {
            self.wrong.push(format!("{name} must be {what}"));
        }
        value
    }

    fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some_and(|raw| raw.get() != "null")
    }
}

fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

fn count(text: &str) -> Option<u32> {
    // In JSON Schema, `3.0` is an integer too.
    text.strip_suffix(".0").unwrap_or(text).parse().ok().filter(|number| *number > 0)
}

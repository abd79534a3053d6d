//! One thought as a model wrote it: read leniently, and judged as a whole.
//!
//! Models put numbers and switches in quotes and send `null` for what they leave out; both are
//! understood. What is wrong is said for all fields at once, so that one correction is enough.

use wharf_protocol::{Json, Members};

/// The most characters of a thought.
pub(super) const MAX_THOUGHT_LENGTH: usize = 100_000;

/// The most characters of a branch's name.
const MAX_BRANCH_NAME_LENGTH: usize = 100;

const COUNT: &str = "a whole number from 1";
const BOOLEAN: &str = "true or false";

/// What the train has to know about a thought. Its text is judged and let go: the model has it.
#[derive(Debug)]
pub(super) struct Thought {
    pub(super) number: u32,
    pub(super) total: u32,
    pub(super) is_last: bool,
    /// The branch it is on, if it names both that and where it starts.
    pub(super) branch: Option<String>,
}

impl Thought {
    /// Reads the arguments of a call, or says what is wrong with them, field by field.
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
                // A guess that was too low is corrected by the thought that goes beyond it.
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
    // For JSON Schema `3.0` is an integer too.
    text.strip_suffix(".0").unwrap_or(text).parse().ok().filter(|number| *number > 0)
}

//! Describes how to call a tool, from its schema: the usage line, the list of arguments, an
//! example.
//!
//! `tools` prints all of it for one tool, `call` prints the usage line if an argument is missing or
//! wrong. Schemas are untrusted text, so everything is made safe to print and to copy into a shell.

use serde_json::{Map, Value};
use wharf::arguments::{Argument, Signature, from_pairs};
use wharf::protocol::Json;
use wharf::tools::{Registry, Tool, ToolMatch};
use wharf_config::text::{clean, clip};

use crate::ui::{Lines, phrase, style};

/// The length of a usage line after which optional arguments are omitted.
const LONGEST_LINE: usize = 160;

/// The most arguments in a usage line.
const MOST_IN_LINE: usize = 20;

/// The longest list of choices in a usage line.
const LONGEST_CHOICE: usize = 40;

/// The longest description that is printed in full.
const LONGEST_DESCRIPTION: usize = 400;

/// The maximum width of the column of names.
const WIDEST_NAME: usize = 24;

/// A tool and its usage on the command line.
pub(crate) struct ToolUsage<'a> {
    tool: &'a Tool,
    signature: Signature,
    /// The text before the arguments, such as `wharf call docs/read`.
    before: String,
    /// The text after them, such as ` --url https://…`.
    after: String,
}

impl<'a> ToolUsage<'a> {
    /// Describes a tool; `after` is added to every command line and must be safe to print.
    pub(crate) fn of(tool: &'a Tool, registry: &Registry, after: String) -> Self {
        // A server from the command line has no name that could be typed.
        let typed =
            if after.is_empty() { typed_name(tool, registry) } else { tool.tool().to_owned() };
        let before = format!("wharf call {}", phrase::word(&typed));
        Self { tool, signature: tool.signature(), before, after }
    }

    /// Returns the usage line: `wharf call docs/read path=<string> [limit=<integer>]`.
    pub(crate) fn line(&self) -> String {
        let mut line = self.before.clone();
        let mut is_cut = self.signature.more > 0;
        for (index, argument) in self.signature.arguments.iter().enumerate() {
            let is_long = line.chars().count() > LONGEST_LINE && !argument.is_required;
            if is_long || index >= MOST_IN_LINE {
                is_cut = true;
                break;
            }
            let word = format!("{}=<{}>", name(argument), clean(&placeholder(argument)));
            let (open, close) = if argument.is_required { ("", "") } else { ("[", "]") };
            line = format!("{line} {open}{word}{close}");
        }
        if is_cut {
            line.push_str(" …");
        }
        line + &self.after
    }

    /// Returns an example call that the schema accepts, if one could be generated.
    pub(crate) fn example(&self) -> Option<String> {
        let example = self.tool.example()?;
        let schema = self.tool.accepted_schema();
        let members = example.members()?;
        let words: Option<Vec<String>> =
            members.iter().map(|(key, value)| word(key, &example.part(value), schema)).collect();
        let words = words.unwrap_or_else(|| vec!["--args".to_owned(), example.as_str().to_owned()]);
        let words: Vec<String> = words.iter().map(|word| phrase::word(word)).collect();
        let typed = [std::slice::from_ref(&self.before), &words[..]].concat().join(" ");
        Some(typed + &self.after)
    }

    /// Adds the arguments with their types and descriptions.
    pub(crate) fn describe(&self, lines: &mut Lines) {
        let arguments = &self.signature.arguments;
        if arguments.is_empty() {
            lines.add("  none");
        }
        let widths = arguments.iter().map(|argument| name(argument).chars().count());
        let width = widths.max().unwrap_or_default().min(WIDEST_NAME);
        for argument in arguments {
            let name = format!("{:<width$}", name(argument));
            lines.add(format!("  {}  {}", style::strong(&name), clean(&kind(argument))));
            if let Some(description) = &argument.description {
                let words: Vec<&str> = description.split_whitespace().collect();
                let text = clip(&words.join(" "), LONGEST_DESCRIPTION);
                lines.add(format!("  {:<width$}  {}", "", style::faint(&text)));
            }
        }
        if self.signature.more > 0 {
            lines.add(format!("  … and {}", phrase::count(self.signature.more, "more argument")));
        }
    }
}

/// Returns the name of a tool on a command line: `server/tool` if that is unambiguous.
fn typed_name(tool: &Tool, registry: &Registry) -> String {
    let short = format!("{}/{}", tool.server(), tool.tool());
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    let means = |name: &str| match registry.find(name) {
        ToolMatch::Tool(found) | ToolMatch::Hidden(found) => found.name() == tool.name(),
        _ => false,
    };
    if short.chars().all(is_plain) && means(&short) { short } else { tool.name().to_owned() }
}

fn name(argument: &Argument) -> String {
    clip(&argument.name, 60)
}

/// Returns the placeholder for a value in the usage line.
fn placeholder(argument: &Argument) -> String {
    let choices = argument.choices.join("|");
    if choices.is_empty() || choices.chars().count() > LONGEST_CHOICE {
        argument.kind.clone()
    } else {
        choices
    }
}

/// Describes the type of an argument: `integer, required`, `one of fast, slow, default "fast"`.
fn kind(argument: &Argument) -> String {
    let mut text = match argument.choices.as_slice() {
        [] => argument.kind.clone(),
        [only] => format!("always {only}"),
        choices => format!("one of {}", choices.join(", ")),
    };
    if argument.is_required {
        text.push_str(", required");
    }
    if let Some(default) = &argument.default {
        text.push_str(", default ");
        text.push_str(default);
    }
    text
}

/// Writes an argument as a word of a command line that is parsed to exactly this value.
fn word(key: &str, value: &Json, schema: &Json) -> Option<String> {
    let value: &Value = &value.to()?;
    let is_typeable = !key.contains('=') && !key.ends_with(':') && clean(key) == key;
    let as_text = value.as_str().map(|text| {
        let escape = if text.starts_with('@') { "@" } else { "" };
        (format!("{key}={text}"), format!("{key}={escape}{text}"))
    });
    let as_json = (format!("{key}={value}"), format!("{key}={value}"));
    let exact = (format!("{key}:={value}"), format!("{key}:={value}"));
    let means = |read: &str| {
        let read = from_pairs(&[read], schema).ok()?.to::<Map<String, Value>>()?;
        (read.get(key) == Some(value)).then_some(())
    };
    let mut forms = as_text.into_iter().chain([as_json, exact]);
    forms.find(|(read, _)| means(read).is_some()).map(|(_, typed)| typed).filter(|_| is_typeable)
}

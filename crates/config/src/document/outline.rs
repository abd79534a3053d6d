//! Renders a whole value on one line, only for tests: `Debug` redacts all scalars.
//!
//! Each value and key is followed by `@` and its line: `{a@1: [true@2, "x"@3]@2}@1`.

use super::{Node, Notation, Value, parse};

/// Parses a text and renders its value and duplicate keys, or the error.
pub(super) fn outline(text: &str, notation: Notation) -> String {
    match parse(text, notation) {
        Err(error) => format!("{}:{}: {}", error.line, error.column, error.message),
        Ok(parsed) => {
            let repeated = parsed
                .duplicate_keys
                .iter()
                .map(|twice| format!(" twice {}@{},{}", twice.key, twice.first_line, twice.line));
            render(&parsed.root) + &repeated.collect::<String>()
        }
    }
}

fn render(node: &Node) -> String {
    let value = match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(digits) => digits.clone(),
        Value::String(text) => format!("{text:?}"),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(render).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entries = map.iter();
            let entries: Vec<_> = entries
                .map(|(key, value)| format!("{}@{}: {}", key.text, key.line, render(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    };
    format!("{value}@{}", node.line)
}

/// Runs a test on a thread with a stack of 256 KiB, an eighth of the usual one.
pub(super) fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(test).unwrap();
    thread.join().unwrap();
}

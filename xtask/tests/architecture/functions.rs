//! Rules about functions: length.

use crate::code::{find_words, line_of};
use crate::rule::{Rule, Violation};

/// The maximum number of lines of a function, from its name to its closing brace.
const MOST_LINES: usize = 60;

pub(crate) const LENGTH: Rule = Rule {
    says: "a function has at most 60 lines",
    fix: "move a part that has a name of its own into a function",
    find: |tree| {
        let mut found = Vec::new();
        for file in tree.sources() {
            let code = file.product_code();
            for start in find_words(&code, "fn") {
                let lines = lines_of_function(&code[start..]);
                if lines > MOST_LINES {
                    let name = name_of_function(&code[start..]);
                    found.push(Violation {
                        path: file.path.clone(),
                        line: line_of(&code, start),
                        what: format!("`{name}` has {lines} lines"),
                    });
                }
            }
        }
        found
    },
};

/// Returns the number of lines of the function that starts here; 0 if it has no body.
fn lines_of_function(code: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b'}' if depth == 1 => return code[..at].matches('\n').count() + 1,
            b')' | b']' | b'}' | b';' if depth == 0 => return 0,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
    }
    0
}

fn name_of_function(code: &str) -> &str {
    let name = code["fn".len()..].trim_start();
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    &name[..name.find(is_end).unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_function_is_found() {
        let function = |name: &str, lines: usize| {
            format!("fn {name}(\n    x: [u8; 2],\n) {{\n{}}}\n", "    x();\n".repeat(lines - 4))
        };
        let text = format!(
            "//! A.\ntrait A {{\n    fn a();\n}}\ntype B = fn(u8) -> u8;\n{}{}#[cfg(test)]\n{}",
            function("fits", 60),
            function("too_long", 61),
            function("test", 100),
        );
        LENGTH.check(
            &[("crates/a/src/a.rs", &text), ("crates/a/tests/b.rs", &text)],
            &["crates/a/src/a.rs:66: `too_long` has 61 lines"],
        );
    }
}

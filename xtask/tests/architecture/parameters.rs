//! A rule about function parameters: each has a name of its own.
//!
//! A tuple pattern beside other parameters hides how many arguments a function takes. Closures, and
//! functions that take only one pair, may use tuple patterns.

use crate::rule::{Rule, Violation};

pub(crate) const NO_TUPLE_PATTERNS: Rule = Rule {
    says: "no function has a tuple pattern beside other parameters",
    fix: "pass the values one by one, or make a struct of what belongs together",
    find: |tree| {
        let sources = tree.sources().filter(|file| !file.is_for_tests());
        sources
            .flat_map(|file| {
                let code = file.product_code();
                let lines = tuple_parameters(&code);
                lines.into_iter().map(|line| Violation {
                    path: file.path.clone(),
                    line,
                    what: "a tuple pattern as a parameter".to_owned(),
                })
            })
            .collect()
    },
};

/// Returns the lines of parameters that are tuple patterns.
fn tuple_parameters(code: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    for (start, _) in code.match_indices("fn ") {
        let is_word = code[..start].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let Some(open) = parameter_list(code, start + 3).filter(|_| is_word) else { continue };
        let (mut depth, mut count, mut is_start) = (0, 0, false);
        let mut tuples = Vec::new();
        for (at, c) in code[open..].char_indices() {
            match c {
                '(' if depth == 1 && is_start => {
                    tuples.push(code[..open + at].lines().count());
                    depth += 1;
                }
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            count += usize::from(is_start && !c.is_whitespace());
            is_start = match c {
                '(' if at == 0 => true,
                ',' if depth == 1 => true,
                c if c.is_whitespace() => is_start,
                _ => false,
            };
        }
        if count > 1 {
            lines.append(&mut tuples);
        }
    }
    lines
}

/// Returns where the parameters of the function begin whose name is at `name`.
fn parameter_list(code: &str, name: usize) -> Option<usize> {
    let end = name + code[name..].find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in code[end..].char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            '(' if depth == 0 => return Some(end + at),
            _ if depth == 0 => return None,
            _ => {}
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_pattern_is_found_wherever_the_parameter_stands() {
        let text = "//! x\nfn a((b, c): (u8, u8), x: u8) {}\nfn one((b, c): (u8, u8)) {}\nfn d(\n    e: u8,\n    (f, g): (u8, u8),\n) {}\n\
                    fn h<T: Fn((u8, u8))>(i: (u8, u8), j: impl Fn(u8)) {}\nlet k = |(l, m)| l;\n";
        let found = "a tuple pattern as a parameter";
        NO_TUPLE_PATTERNS.check(
            &[("crates/a/src/x.rs", text)],
            &[&format!("crates/a/src/x.rs:2: {found}"), &format!("crates/a/src/x.rs:6: {found}")],
        );
    }
}

//! Compares the YAML frontmatter of `SKILL.md` with the JSON that the server has listed.
//!
//! A plain scalar such as `1.0` may be a number or a string in the JSON, so it matches both. YAML
//! that parsers may interpret differently (aliases, tags, repeated keys) is rejected.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use super::SkillError;
use crate::view::Skill;

const FENCE: &str = "---";
/// The longest frontmatter.
const MAX_BYTES: usize = 64 << 10;
const MAX_DEPTH: usize = 16;
/// How many characters of a field name are shown in an error.
const MAX_FIELD_CHARS: usize = 64;

/// Checks that `text` starts with the frontmatter that the server has listed for the skill.
pub(super) fn check(skill: &Skill, text: &str) -> Result<(), SkillError> {
    let uri = || skill.uri().to_string();
    let none = || SkillError::NoFrontmatter { uri: uri() };
    let Some(YamlNode::Map(written)) = head(text).and_then(read) else { return Err(none()) };
    let listed: Map<String, Value> = skill.frontmatter().to().ok_or_else(none)?;
    match first_difference(&written, &listed) {
        None => Ok(()),
        Some(field) => {
            let field = field.chars().take(MAX_FIELD_CHARS).collect();
            Err(SkillError::Frontmatter { uri: uri(), field })
        }
    }
}

/// Returns the text between the two `---` lines at the start.
fn head(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != FENCE {
        return None;
    }
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some(&rest[..length]);
        }
        length += line.len();
        if length > MAX_BYTES {
            break;
        }
    }
    None
}

fn first_difference<'a>(
    written: &'a [(String, YamlNode)],
    listed: &'a Map<String, Value>,
) -> Option<&'a str> {
    let differs = |(key, node): &&(String, YamlNode)| {
        !listed.get(key).is_some_and(|value| matches_value(node, value))
    };
    let is_missing = |key: &&String| !written.iter().any(|(name, _)| name == *key);
    let added = written.iter().find(differs).map(|(key, _)| key.as_str());
    added.or_else(|| listed.keys().find(is_missing).map(String::as_str))
}

/// A YAML value whose scalars have no type yet.
#[derive(Debug, PartialEq)]
enum YamlNode {
    Plain(String),
    Quoted(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

fn matches_value(node: &YamlNode, value: &Value) -> bool {
    match (node, value) {
        (YamlNode::Plain(text) | YamlNode::Quoted(text), Value::String(value)) => text == value,
        (YamlNode::Plain(text), Value::Null) => {
            matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL")
        }
        (YamlNode::Plain(text), Value::Bool(true)) => {
            matches!(text.as_str(), "true" | "True" | "TRUE")
        }
        (YamlNode::Plain(text), Value::Bool(false)) => {
            matches!(text.as_str(), "false" | "False" | "FALSE")
        }
        (YamlNode::Plain(text), Value::Number(number)) => is_same_number(text, &number.to_string()),
        (YamlNode::List(nodes), Value::Array(values)) => {
            nodes.len() == values.len()
                && nodes.iter().zip(values).all(|(node, value)| matches_value(node, value))
        }
        (YamlNode::Map(entries), Value::Object(members)) => {
            first_difference(entries, members).is_none()
        }
        _ => false,
    }
}

fn is_same_number(text: &str, other: &str) -> bool {
    // Integers are compared exactly: as floats, two different large ones can be equal.
    if let (Ok(one), Ok(two)) = (text.parse::<i128>(), other.parse::<i128>()) {
        return one == two;
    }
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match (text.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(two)) => is_number && one.total_cmp(&two).is_eq(),
        _ => false,
    }
}

fn read(text: &str) -> Option<YamlNode> {
    let mut reader = NodeBuilder::default();
    for event in Parser::new_from_str(text) {
        reader.take(event.ok()?.0)?;
    }
    reader.root
}

/// Builds the value from the events of the YAML parser; `None` for YAML that is rejected.
#[derive(Default)]
struct NodeBuilder {
    open: Vec<OpenNode>,
    root: Option<YamlNode>,
}

enum OpenNode {
    List(Vec<YamlNode>),
    Map { entries: Vec<(String, YamlNode)>, key: Option<String> },
}

impl NodeBuilder {
    fn take(&mut self, event: Event<'_>) -> Option<()> {
        match event {
            Event::Scalar(text, style, _, None) => {
                let text = text.into_owned();
                let is_plain = style == ScalarStyle::Plain;
                self.place(if is_plain { YamlNode::Plain(text) } else { YamlNode::Quoted(text) })
            }
            Event::SequenceStart(_, None) => self.open(OpenNode::List(Vec::new())),
            Event::MappingStart(_, None) => {
                self.open(OpenNode::Map { entries: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let node = match self.open.pop()? {
                    OpenNode::List(nodes) => YamlNode::List(nodes),
                    OpenNode::Map { entries, .. } => YamlNode::Map(entries),
                };
                self.place(node)
            }
            Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::MappingStart(..)
            | Event::Alias(_) => None,
            _ => Some(()),
        }
    }

    fn open(&mut self, open: OpenNode) -> Option<()> {
        self.open.push(open);
        (self.open.len() <= MAX_DEPTH).then_some(())
    }

    fn place(&mut self, node: YamlNode) -> Option<()> {
        match self.open.last_mut() {
            // A second document is not part of the frontmatter.
            None if self.root.is_some() => return None,
            None => self.root = Some(node),
            Some(OpenNode::List(nodes)) => nodes.push(node),
            Some(OpenNode::Map { entries, key }) => match (key.take(), node) {
                (Some(name), node) => entries.push((name, node)),
                (None, YamlNode::Plain(name) | YamlNode::Quoted(name)) => {
                    if entries.iter().any(|(other, _)| *other == name) {
                        return None;
                    }
                    *key = Some(name);
                }
                (None, _) => return None,
            },
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::view::ListEntry;

    fn skill(frontmatter: &str) -> Skill {
        let text = format!(r#"{{"uri":"skill://a/SKILL.md","frontmatter":{frontmatter}}}"#);
        Skill::read(text.parse().unwrap()).unwrap()
    }

    fn check_head(yaml: &str, listed: &str, expected: &str) {
        let found = match check(&skill(listed), &format!("---\n{yaml}\n---\n\nBody.\n")) {
            Ok(()) => "fine".to_owned(),
            Err(SkillError::Frontmatter { field, .. }) => field,
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{yaml}");
    }

    const UNREADABLE: &str = "`skill://a/SKILL.md` has no readable frontmatter";

    #[test]
    fn every_field_must_match() {
        let listed = r#"{"name":"a","description":"Does it: all"}"#;
        check_head("name: a\ndescription: \"Does it: all\"", listed, "fine");
        check_head("description: >-\n  Does it:\n  all\nname: 'a'", listed, "fine");
        check_head("name: a\ndescription: Does harm", listed, "description");
        check_head("name: a", listed, "description");
        check_head("name: a\ndescription: 'Does it: all'\nmore: x", listed, "more");
    }

    #[test]
    fn a_plain_scalar_matches_every_type_it_can_have() {
        check_head("v: 1.0", r#"{"v":1.0}"#, "fine");
        check_head("v: 1.0", r#"{"v":"1.0"}"#, "fine");
        check_head("v: 1.0", r#"{"v":1}"#, "fine");
        check_head("v: 9007199254740993", r#"{"v":9007199254740992}"#, "v");
        check_head("v: inf", r#"{"v":1}"#, "v");
        check_head("v: true", r#"{"v":true}"#, "fine");
        check_head("v: yes", r#"{"v":true}"#, "v");
        check_head("v:", r#"{"v":null}"#, "fine");
        check_head("v: 'null'", r#"{"v":null}"#, "v");
        check_head("v: '1'", r#"{"v":1}"#, "v");
    }

    #[test]
    fn lists_and_objects_are_compared_by_content() {
        let yaml = "metadata:\n  author: me\n  tags: [a, b]";
        check_head(yaml, r#"{"metadata":{"tags":["a","b"],"author":"me"}}"#, "fine");
        check_head(yaml, r#"{"metadata":{"tags":["a"],"author":"me"}}"#, "metadata");
        check_head(yaml, r#"{"metadata":{"tags":["a","b"]}}"#, "metadata");
        check_head(yaml, r#"{"metadata":"me"}"#, "metadata");
    }

    #[test]
    fn ambiguous_yaml_is_rejected() {
        for yaml in ["a: &x 1\nb: *x", "a: !!str 1", "a: 1\na: 1", "[a]", "a: [", "? [a]\n: b"] {
            check_head(yaml, r#"{"a":1}"#, UNREADABLE);
        }
        check_head(&format!("a: {}{}", "[".repeat(17), "]".repeat(17)), "{}", UNREADABLE);
        check_head(&format!("a: '{}'", "x".repeat(MAX_BYTES)), "{}", UNREADABLE);
    }

    #[test]
    fn the_frontmatter_is_between_two_fences() {
        assert_eq!(head("---\na: 1\n---\nbody"), Some("a: 1\n"));
        assert_eq!(head("\u{feff}---\r\na: 1\r\n---"), Some("a: 1\r\n"));
        for text in ["", "---", "---\na: 1\n", "a: 1\n---\n", "\n---\na: 1\n---\n", "----\n---\n"] {
            assert_eq!(head(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in ".{0,200}") {
            // Only a panic is a failure.
            drop(check(&skill(r#"{"name":"a"}"#), &format!("---\n{text}\n---\n")));
        }
    }
}

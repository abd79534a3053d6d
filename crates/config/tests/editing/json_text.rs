//! Generates JSON with comments anywhere, unusual spacing, trailing commas and both line ends.

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};
use proptest::prelude::*;
use wharf_config::edit::Change;

use crate::model;

/// A text, and whether it may have duplicate keys.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) has_duplicates: bool,
}

#[derive(Debug, Clone)]
enum Node {
    Scalar(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

pub(crate) fn text() -> impl Strategy<Value = Text> {
    let whole = prop_oneof![1 => node().prop_map(Some), 9 => map().prop_map(Some), 1 => Just(None)];
    // How unusual the layout is: neat or wild.
    let noise =
        prop_oneof![prop::collection::vec(0..4_u8, 0..40), prop::collection::vec(0..16_u8, 0..40),];
    (whole, noise, any::<[bool; 4]>()).prop_map(|(node, noise, [mark, windows, last, twice])| {
        let node = if twice { node } else { node.map(without_duplicate_keys) };
        let mut writer = Writer { noise, count: 0, out: String::new() };
        writer.gap();
        if let Some(node) = &node {
            writer.node(node);
            writer.gap();
        }
        let mut text = writer.out;
        if last && !text.ends_with('\n') {
            text.push('\n');
        }
        if windows {
            text = text.replace('\n', "\r\n");
        }
        let mark = if mark { "\u{feff}" } else { "" };
        Text { text: format!("{mark}{text}"), has_duplicates: twice }
    })
}

fn node() -> impl Strategy<Value = Node> {
    let scalar = prop_oneof![
        prop::sample::select(vec!["1", "-2.5e3", "true", "null"]).prop_map(str::to_owned),
        model::item().prop_map(|item| serde_json::Value::from(item).to_string()),
    ];
    scalar.prop_map(Node::Scalar).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Node::List),
            2 => prop::collection::vec((model::key(), inner), 0..4).prop_map(Node::Map),
        ]
    })
}

fn map() -> impl Strategy<Value = Node> {
    prop::collection::vec((model::key(), node()), 0..5).prop_map(Node::Map)
}

/// Removes duplicate keys.
fn without_duplicate_keys(node: Node) -> Node {
    match node {
        Node::Map(members) => {
            let mut left: Vec<(String, Node)> = Vec::new();
            for (key, value) in members {
                if left.iter().all(|(own, _)| *own != key) {
                    left.push((key, without_duplicate_keys(value)));
                }
            }
            Node::Map(left)
        }
        Node::List(items) => Node::List(items.into_iter().map(without_duplicate_keys).collect()),
        scalar @ Node::Scalar(_) => scalar,
    }
}

struct Writer {
    noise: Vec<u8>,
    count: usize,
    out: String,
}

impl Writer {
    fn next(&mut self) -> u8 {
        self.count += 1;
        if self.noise.is_empty() { 0 } else { self.noise[self.count % self.noise.len()] }
    }

    fn gap(&mut self) {
        let comment = format!("§{}§", self.count);
        let noise = self.next();
        let gap = match noise {
            0..=5 => String::new(),
            6 | 7 => " ".to_owned(),
            8 => "\n".to_owned(),
            9 => "\n  ".to_owned(),
            10 => "  \n\t".to_owned(),
            11 => format!(" // {comment}\n"),
            12 => format!("/* {comment} */"),
            13 => format!("\n  // {comment} \", {{\n  "),
            14 => format!(" /* {comment}, \n */ "),
            _ => format!(" /* {comment} */ // {comment}\n\n    "),
        };
        self.out.push_str(&gap);
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Scalar(text) => self.out += text,
            Node::List(items) => {
                self.all('[', ']', items.len(), |writer, index| writer.node(&items[index]));
            }
            Node::Map(members) => self.all('{', '}', members.len(), |writer, index| {
                let (key, value) = &members[index];
                writer.out += &serde_json::Value::from(key.as_str()).to_string();
                writer.gap();
                writer.out.push(':');
                writer.gap();
                writer.node(value);
            }),
        }
    }

    fn all(&mut self, open: char, close: char, count: usize, item: impl Fn(&mut Self, usize)) {
        self.out.push(open);
        for index in 0..count {
            self.gap();
            item(self, index);
            self.gap();
            if index + 1 < count || self.next().is_multiple_of(3) {
                self.out.push(',');
            }
        }
        self.gap();
        self.out.push(close);
    }
}

/// Returns the comments that a change may remove: in the changed value and after it on its line.
pub(crate) fn removable_comments<'t>(text: &'t str, change: &Change) -> Vec<&'t str> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed =
        jsonc_parser::parse_to_ast(body, &CollectOptions::default(), &ParseOptions::default())
            .unwrap();
    let mut ranges = Vec::new();
    if let Some(root) = &parsed.value {
        match change {
            Change::Set { path, .. } => {
                let value = follow(root, path).unwrap_or(root);
                ranges.extend(follow(root, path).map(|_| value.start()..value.end()));
            }
            Change::Remove { path } => {
                let (key, parents) = path.split_last().unwrap();
                if let Some(ast::Value::Object(object)) = follow(root, parents) {
                    let all = object.properties.iter().filter(|own| own.name.as_str() == key);
                    ranges.extend(all.map(|own| own.start()..line_end(body, own.end())));
                }
            }
            Change::Include { .. } => {}
            Change::Exclude { path, item } => {
                if let Some(ast::Value::Array(array)) = follow(root, path) {
                    let all = array.elements.iter().filter(|own| {
                        own.as_string_lit().is_some_and(|text| text.value.as_ref() == item)
                    });
                    ranges.extend(all.map(|own| own.start()..line_end(body, own.end())));
                }
            }
        }
    }
    ranges.into_iter().flat_map(|range| body[range].split('§').skip(1).step_by(2)).collect()
}

fn follow<'t, 'v>(root: &'v ast::Value<'t>, path: &[String]) -> Option<&'v ast::Value<'t>> {
    path.iter().try_fold(root, |value, key| {
        let object = value.as_object()?;
        let property = object.properties.iter().rev().find(|own| own.name.as_str() == key)?;
        Some(&property.value)
    })
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |length| at + length)
}

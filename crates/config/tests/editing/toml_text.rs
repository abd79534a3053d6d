//! Generates TOML with headers, dotted keys, inline tables, comments and both line ends.

use proptest::prelude::*;
use serde_json::Value;

use crate::model;

/// A table: its keys and members.
#[derive(Debug, Clone)]
struct Table(Vec<(String, Member)>);

#[derive(Debug, Clone)]
enum Member {
    /// `key = 1`, `key = ["a"]`, `key = { a = 1 }`
    Value(String),
    /// `key.a = 1` and `key.b = 2`, not always on adjacent lines
    Dotted(Vec<(String, String)>),
    /// `[path.key]`
    Table(Table),
    /// `[[path.key]]`
    Tables(Vec<Table>),
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    (table(), prop::collection::vec(0..12_u8, 1..40), any::<[bool; 3]>()).prop_map(
        |(table, noise, [mark, windows, last])| {
            let mut writer = Writer { noise, count: 0, out: String::new() };
            writer.table(&table, &[]);
            let mut text = writer.out;
            if !last {
                text.truncate(text.trim_end().len());
            }
            if windows {
                text = text.replace('\n', "\r\n");
            }
            let mark = if mark && !text.is_empty() { "\u{feff}" } else { "" };
            format!("{mark}{text}")
        },
    )
}

fn table() -> impl Strategy<Value = Table> {
    let leaf = prop_oneof![
        3 => value().prop_map(Member::Value),
        1 => prop::collection::vec((model::key(), value()), 1..4)
            .prop_map(|members| Member::Dotted(distinct(members))),
    ];
    let members = leaf.prop_recursive(3, 20, 4, |inner| {
        let table = prop::collection::vec((model::key(), inner), 0..4)
            .prop_map(|members| Table(distinct(members)))
            .boxed();
        prop_oneof![
            4 => table.clone().prop_map(Member::Table),
            1 => prop::collection::vec(table, 1..3).prop_map(Member::Tables),
        ]
    });
    prop::collection::vec((model::key(), members), 0..5)
        .prop_map(|members| Table(distinct(members)))
}

fn value() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "1",
        "2.5",
        "'# no'",
        "\"\"\"\n§ # \"no\n\"\"\"",
        "[]",
        "[\"x\", 'y',]",
        "[\n  \"x\", # §in§\n  \"y\"\n]",
        "{}",
        "{ a = 1, b.\"d.e\" = 'x', b.a = [1] }",
        "{ mcp_servers = { a = 1 }, b = [ 'x' ] }",
        "1979-05-27",
    ])
    // A string must not contain the mark of comments.
    .prop_map(|text| text.replace("\n§ #", "\n#"))
}

fn distinct<T>(members: Vec<(String, T)>) -> Vec<(String, T)> {
    let mut left: Vec<(String, T)> = Vec::new();
    for (key, value) in members {
        if left.iter().all(|(own, _)| *own != key) {
            left.push((key, value));
        }
    }
    left
}

fn quoted(path: &[String]) -> String {
    let parts: Vec<String> = path
        .iter()
        .map(|key| match key.as_str() {
            "a" | "b" | "mcp_servers" => key.clone(),
            _ => Value::from(key.as_str()).to_string().replace('\u{7f}', "\\u007f"),
        })
        .collect();
    parts.join(".")
}

struct Writer {
    noise: Vec<u8>,
    count: usize,
    out: String,
}

impl Writer {
    fn next(&mut self) -> u8 {
        self.count += 1;
        self.noise[self.count % self.noise.len()]
    }

    /// Writes blank lines and comments; no blank line at the start, where an edit removes it.
    fn gap(&mut self) {
        let comment = format!("# §{}§\n", self.count);
        let noise = self.next();
        let gap = match noise {
            6 | 7 if !self.out.is_empty() => "\n".to_owned(),
            8 => comment,
            9 => format!("  {comment}\n"),
            10 if !self.out.is_empty() => format!("\n{comment}{comment}"),
            _ => String::new(),
        };
        self.out.push_str(&gap);
    }

    fn line(&mut self, line: &str) {
        self.gap();
        self.out += line;
        let comment = format!(" # §{}§", self.count);
        let noise = self.next();
        self.out += if noise == 11 { &comment } else { "" };
        self.out.push('\n');
    }

    fn table(&mut self, table: &Table, path: &[String]) {
        let mut dotted = Vec::new();
        for (key, member) in &table.0 {
            match member {
                Member::Value(value) => {
                    self.line(&format!("{} = {value}", quoted(std::slice::from_ref(key))));
                }
                Member::Dotted(members) => {
                    dotted.extend(members.iter().map(|(inner, value)| {
                        format!("{} = {value}", quoted(&[key.clone(), inner.clone()]))
                    }));
                    let first = dotted.pop().unwrap();
                    self.line(&first);
                }
                Member::Table(_) | Member::Tables(_) => {}
            }
        }
        for line in &dotted {
            self.line(line);
        }
        for (key, member) in &table.0 {
            let path = [path, std::slice::from_ref(key)].concat();
            match member {
                Member::Table(table) => {
                    // A header is optional if all members are tables with headers.
                    let is_implicit = !table.0.is_empty()
                        && table.0.iter().all(|(_, own)| matches!(own, Member::Table(_)));
                    if !is_implicit || self.next() < 6 {
                        self.line(&format!("[{}]", quoted(&path)));
                    }
                    self.table(table, &path);
                }
                Member::Tables(tables) => {
                    for table in tables {
                        self.line(&format!("[[{}]]", quoted(&path)));
                        self.table(table, &path);
                    }
                }
                Member::Value(_) | Member::Dotted(_) => {}
            }
        }
    }
}

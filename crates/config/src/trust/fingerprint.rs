//! What exactly was agreed to: every field as written, the files it leans on, the program it
//! really starts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::command;
use crate::document::{Node, Value};
use crate::env::Env;
use crate::expand::{Origin, Scope, expand};
use crate::secret::{MASK, mask_args, mask_command, names_a_secret, redact_url};
use crate::server::Definition;
use crate::store;

/// A definition as it was when it was agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, Item>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Item {
    Shown(String),
    Hashed { hash: String },
}

/// A field that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The field, such as `args[1]`.
    pub field: String,
    /// What it was, if it was there.
    pub before: Option<String>,
    /// What it is, if it is there.
    pub after: Option<String>,
}

impl Fingerprint {
    /// Takes the fingerprint of a definition.
    pub(super) fn of(definition: &Definition, env: &Env, key: &[u8]) -> Self {
        let mut items = Items { key, items: BTreeMap::new() };
        items.shown("server name", definition.name.as_str());
        if let Some(raw) = &definition.raw {
            items.node("", raw, Place::Open);
        }
        let fields = &definition.fields;
        if let Some(file) = &fields.env_file {
            // The placeholder of the project's folder is usual here; what it stands for goes
            // nowhere else, so the file is called as it is written.
            let path =
                env.path_from(&expand(file, Scope::of(definition, env)).text, &definition.folder);
            items.file(&file.text, &path);
        }
        items.placed_files(definition, env);
        if let Some(helper) = &fields.headers_helper {
            items.helper(helper, definition, env);
        }
        if fields.command.is_some() {
            let found = command::of_definition(definition, env);
            let found = found.map_or("not found".to_owned(), |path| path.display().to_string());
            items.shown("program path", &found);
        }
        Self(items.items)
    }

    /// Lists what changed from this one to a later one; secrets show only that they did.
    pub(super) fn differences(&self, later: &Self) -> Vec<Difference> {
        let fields: std::collections::BTreeSet<&String> =
            self.0.keys().chain(later.0.keys()).collect();
        let changed = fields.into_iter().filter(|field| self.0.get(*field) != later.0.get(*field));
        let show = |item: Option<&Item>| item.map(Item::show);
        changed
            .map(|field| Difference {
                field: field.clone(),
                before: show(self.0.get(field)),
                after: show(later.0.get(field)),
            })
            .collect()
    }
}

impl Item {
    fn show(&self) -> String {
        match self {
            Self::Shown(text) => text.clone(),
            Self::Hashed { .. } => MASK.to_owned(),
        }
    }
}

/// Whether a value may be kept as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Open,
    Secret,
}

struct Items<'a> {
    key: &'a [u8],
    items: BTreeMap<String, Item>,
}

impl Items<'_> {
    fn node(&mut self, field: &str, node: &Node, place: Place) {
        match &node.value {
            Value::Map(map) if map.is_empty() => self.shown(field, "={}"),
            Value::List(list) if list.is_empty() => self.shown(field, "=[]"),
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    let below = if is_secret_group(&key.text) || names_a_secret(&key.text) {
                        Place::Secret
                    } else {
                        place
                    };
                    let dot = if field.is_empty() { "" } else { "." };
                    self.node(&format!("{field}{dot}{}", step(&key.text)), value, below);
                }
            }
            Value::List(list) => {
                let texts: Vec<&str> =
                    list.iter().map(|item| item.as_str().unwrap_or_default()).collect();
                let shown = mask_args(texts.iter().copied());
                for (index, item) in list.iter().enumerate() {
                    let open = item.as_str().is_none_or(|text| text == shown[index]);
                    let below = if open { place } else { Place::Secret };
                    self.node(&format!("{field}[{index}]"), item, below);
                }
            }
            Value::String(text) => {
                let is_plain = |text: &str| {
                    mask_command(text) == text
                        && (!text.contains("://") || redact_url(text) == text)
                };
                let open = place == Place::Open && is_plain(text);
                // A text that looks like one of the marks below is marked itself.
                let quoted = text.starts_with('=').then(|| format!("={text:?}"));
                let text = quoted.as_deref().unwrap_or(text);
                if open { self.shown(field, text) } else { self.hashed(field, text.as_bytes()) }
            }
            // Marked, so that `1` is not taken for `"1"`.
            Value::Number(digits) if place == Place::Open => {
                self.shown(field, &format!("={digits}"));
            }
            Value::Number(digits) => self.hashed(field, format!("={digits}").as_bytes()),
            Value::Bool(truth) => self.shown(field, &format!("={truth}")),
            Value::Null => self.shown(field, "=null"),
        }
    }

    /// Records a command that prints headers: the program it leads to, and every file it names.
    fn helper(&mut self, command: &str, definition: &Definition, env: &Env) {
        let words = shlex::split(command).unwrap_or_else(|| vec![command.to_owned()]);
        let program = words.first().and_then(|word| command::find(word, env, &definition.folder));
        let program = program.map_or("not found".to_owned(), |path| path.display().to_string());
        self.shown("program path of the headers helper", &program);
        for word in words {
            let path = env.path_from(&word, &definition.folder);
            if path.is_file() && path.starts_with(&*definition.folder) {
                self.file(&word, &path);
            }
        }
    }

    /// Records what the project's own files put into the entry: `{file:arguments.txt}` stays as it
    /// is written while what it stands for changes.
    fn placed_files(&mut self, definition: &Definition, env: &Env) {
        let (fields, scope) = (&definition.fields, Scope::of(definition, env));
        let single = [&fields.command, &fields.cwd, &fields.url].into_iter().flatten();
        let pairs = fields.env.iter().chain(&fields.headers).map(|(_, value)| value);
        for written in single.chain(&fields.args).chain(pairs) {
            for used in expand(written, scope).uses {
                let path = env.path_from(&used.variable, scope.file_folder);
                // A file of the person's own may change without the project's doing.
                if used.from == Origin::File && is_in(&path, &definition.folder) {
                    self.file(&used.variable, &path);
                }
            }
        }
    }

    fn file(&mut self, called: &str, path: &Path) {
        let field = format!("contents of {called}");
        match store::read(path) {
            Ok(Some(text)) => self.hashed(&field, text.as_bytes()),
            Ok(None) | Err(_) => self.shown(&field, "not readable"),
        }
    }

    fn shown(&mut self, field: &str, text: &str) {
        self.items.insert(field.to_owned(), Item::Shown(text.to_owned()));
    }

    fn hashed(&mut self, field: &str, bytes: &[u8]) {
        let hash = keyed_hash(self.key, bytes);
        self.items.insert(field.to_owned(), Item::Hashed { hash });
    }
}

/// Tells whether a path leads into a folder, by its words or in fact: `/proc/self/cwd/a` may.
fn is_in(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let in_fact = || Some(real(path)?.starts_with(real(folder)?));
    path.starts_with(folder) || in_fact().unwrap_or(false)
}

/// Writes a key so that it cannot be taken for a way through several: `args[0]` is quoted.
fn step(key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(is_plain) { key.to_owned() } else { format!("{key:?}") }
}

fn is_secret_group(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["env", "environment", "envs", "headers", "http_headers", "httpheaders"].contains(&key.as_str())
}

fn keyed_hash(key: &[u8], bytes: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(bytes);
    mac.finalize().into_bytes().iter().fold(String::new(), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

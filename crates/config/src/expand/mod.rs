//! Environment expansion: replaces placeholders such as `${VAR}` and `{file:path}` in the values of
//! definitions.
//!
//! The syntax of a program applies only in its own files. A placeholder that cannot be replaced
//! stays as written and is reported. Replaced text is never expanded again, so the value of a
//! variable cannot inject a placeholder or a `!command`.

mod closing_brackets;

use std::path::{Path, PathBuf};

use crate::env::{Env, Platform};
use crate::named_files::NamedFiles;
use crate::server::{Definition, WrittenText};
use crate::source::Level;

use closing_brackets::ClosingBrackets;

/// The longest placeholder that is recognized.
const MAX_PLACEHOLDER_LENGTH: usize = 4_096;

bitflags::bitflags! {
    /// Which placeholders are recognized in a text.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct Syntax: u16 {
        /// `${VAR}` and `${VAR:-default}`.
        const BRACED = 1;
        /// `$VAR`.
        const DOLLAR = 1 << 1;
        /// `%VAR%`.
        const PERCENT = 1 << 2;
        /// `${env:VAR}`, also as `${env://VAR}`.
        const ENV_COLON = 1 << 3;
        /// `{env:VAR}` and `{file:path}`.
        const CURLY = 1 << 4;
        /// `$env:VAR`.
        const POWERSHELL = 1 << 5;
        /// `${userHome}`, `${workspaceFolder}` and similar ones.
        const EDITOR = 1 << 6;
        /// `${input:id}`.
        const INPUT = 1 << 7;
        /// `${CLAUDE_PLUGIN_ROOT}`, `${extensionPath}` and similar ones.
        const PLUGIN = 1 << 8;
        /// `$(command)`: recognized to be reported; never run.
        const SHELL = 1 << 9;
        /// The whole value is a `!command` or the name of a variable; resolved when connecting.
        const RESOLVED = 1 << 10;
        /// `${{ secrets.NAME }}`.
        const SECRETS = 1 << 11;
        /// The file names a variable without a placeholder; if it is unset, the field is omitted.
        const NAMED = 1 << 12;
    }
}

/// The values from which placeholders are replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpandContext<'a> {
    /// Variables, home and platform.
    pub env: &'a Env,
    /// The project's folder.
    pub folder: &'a Path,
    /// The folder of the file, for `{file:…}`.
    pub file_folder: &'a Path,
    /// The folder of the plugin.
    pub plugin: Option<&'a Path>,
    /// The files that `{file:…}` names, each read once.
    pub files: &'a NamedFiles,
    /// The level of the definition.
    pub level: Level,
}

impl<'a> ExpandContext<'a> {
    /// Returns the context of a definition.
    pub(crate) fn of(definition: &'a Definition, env: &'a Env, files: &'a NamedFiles) -> Self {
        let folder = definition.folder.as_path();
        Self {
            env,
            folder,
            file_folder: definition.source.path.parent().unwrap_or(folder),
            plugin: definition.plugin.as_deref().map(PathBuf::as_path),
            files,
            level: definition.source.level,
        }
    }
}

/// A text after replacement, with the placeholders that were in it.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Expanded {
    /// The text after replacement.
    pub text: String,
    /// The placeholders in order.
    pub uses: Vec<PlaceholderUse>,
}

/// A placeholder and the origin of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceholderUse {
    /// The name of the variable or of the placeholder.
    pub variable: String,
    /// The origin of the value.
    pub from: ValueOrigin,
}

/// The origin of the value of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOrigin {
    /// The environment, or a predefined value such as the home folder.
    Environment,
    /// The default in the placeholder.
    Default,
    /// A file.
    File,
    /// There is no value; the placeholder stays as written.
    Missing(MissingReason),
}

/// Why a placeholder has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingReason {
    /// The variable is not set.
    Variable,
    /// Only its program asks the person for the value.
    Input,
    /// The file cannot be read.
    File,
    /// It is a command, which is not run.
    Command,
    /// Only its program knows the value.
    ProgramOnly,
}

impl Expanded {
    /// Tells whether a placeholder was not replaced.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.uses.iter().any(|used| matches!(used.from, ValueOrigin::Missing(_)))
    }
}

/// Replaces all placeholders of a text.
pub(crate) fn expand(written: &WrittenText, context: ExpandContext<'_>) -> Expanded {
    let mut expanded = Expanded::default();
    for piece in pieces(written, context) {
        match piece {
            Piece::Text(text) => expanded.text.push_str(text),
            Piece::Placeholder(whole, placeholder) => {
                replace(whole, &placeholder, context, &mut expanded);
            }
        }
    }
    expanded
}

/// Tells whether a text has a placeholder of its syntax.
pub(crate) fn has_placeholder(written: &WrittenText, context: ExpandContext<'_>) -> bool {
    pieces(written, context).any(|piece| matches!(piece, Piece::Placeholder(..)))
}

/// A part of a text.
pub(crate) enum Piece<'a> {
    /// Literal text.
    Text(&'a str),
    /// A placeholder, with its text as written.
    Placeholder(&'a str, Placeholder<'a>),
}

/// Splits a text into literals and placeholders. Joined, the pieces are the text.
pub(crate) fn pieces<'a>(
    written: &'a WrittenText,
    context: ExpandContext<'a>,
) -> impl Iterator<Item = Piece<'a>> {
    let text = written.text.as_str();
    let mut closing = ClosingBrackets::new(text);
    // Where the next piece begins.
    let mut next = 0;
    std::iter::from_fn(move || {
        if next == text.len() {
            return None;
        }
        let begin = next;
        let mut from = begin;
        while let Some(found) = memchr::memchr3(b'$', b'{', b'%', &text.as_bytes()[from..]) {
            let start = from + found;
            let cursor = Cursor { text: &text[start..], start, closing: &mut closing };
            if let Some((length, placeholder)) = placeholder(cursor, written.syntax, context) {
                if start > begin {
                    next = start;
                    return Some(Piece::Text(&text[begin..start]));
                }
                next = start + length;
                return Some(Piece::Placeholder(&text[start..next], placeholder));
            }
            from = start + 1;
        }
        next = text.len();
        Some(Piece::Text(&text[begin..]))
    })
}

/// A position in a text at which a placeholder may begin.
struct Cursor<'a, 'c> {
    /// The text from there on.
    text: &'a str,
    /// The offset of the position.
    start: usize,
    closing: &'c mut ClosingBrackets<'a>,
}

/// A parsed placeholder.
pub(crate) enum Placeholder<'a> {
    /// A variable, perhaps with a default.
    Variable { name: &'a str, default: Option<&'a str> },
    /// A predefined value, such as a folder.
    Predefined { name: &'a str, value: String },
    /// The contents of a file.
    File(&'a str),
    /// A placeholder that Wharf cannot replace.
    Unknown { name: &'a str, why: MissingReason },
}

/// Parses the placeholder at a position; returns its length and content.
fn placeholder<'a>(
    cursor: Cursor<'a, '_>,
    syntax: Syntax,
    context: ExpandContext<'_>,
) -> Option<(usize, Placeholder<'a>)> {
    let Cursor { text, start, closing } = cursor;
    if let Some(rest) = text.strip_prefix("${") {
        let length = closing.matching_brace(start + 1)? - (start + 2);
        return Some((length + 3, braced(&rest[..length], syntax, context)?));
    }
    if syntax.contains(Syntax::POWERSHELL)
        && let Some(rest) = text.strip_prefix("$env:")
    {
        let name = identifier(rest)?;
        return Some((name.len() + 5, Placeholder::Variable { name, default: None }));
    }
    if syntax.contains(Syntax::SHELL) && text.starts_with("$(") {
        let end = closing.next_position(b')', start + 2)? - (start + 2);
        let why = MissingReason::Command;
        return Some((end + 3, Placeholder::Unknown { name: "$(…)", why }));
    }
    if syntax.contains(Syntax::DOLLAR)
        && let Some(rest) = text.strip_prefix('$')
    {
        let name = identifier(rest)?;
        return Some((name.len() + 1, Placeholder::Variable { name, default: None }));
    }
    if syntax.contains(Syntax::CURLY)
        && let Some(rest) = text.strip_prefix('{')
    {
        let end = closing.next_position(b'}', start + 1)? - (start + 1);
        let inner = match rest[..end].split_once(':')? {
            ("env", name) => Placeholder::Variable { name, default: None },
            ("file", path) => Placeholder::File(path),
            _ => return None,
        };
        return Some((end + 2, inner));
    }
    if syntax.contains(Syntax::PERCENT)
        && let Some(rest) = text.strip_prefix('%')
    {
        let name = identifier(rest)?;
        rest[name.len()..].starts_with('%').then_some(())?;
        return Some((name.len() + 2, Placeholder::Variable { name, default: None }));
    }
    None
}

/// Parses the text between `${` and `}`.
fn braced<'a>(
    inner: &'a str,
    syntax: Syntax,
    context: ExpandContext<'_>,
) -> Option<Placeholder<'a>> {
    if let Some(value) = predefined_value(inner, syntax, context) {
        return Some(Placeholder::Predefined { name: inner, value });
    }
    if syntax.contains(Syntax::INPUT)
        && let Some(name) = inner.strip_prefix("input:")
    {
        return Some(Placeholder::Unknown { name, why: MissingReason::Input });
    }
    if syntax.contains(Syntax::SECRETS)
        && let Some(name) = inner.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'))
    {
        let name = name.trim().strip_prefix("secrets.")?;
        return Some(Placeholder::Variable { name, default: None });
    }
    if syntax.contains(Syntax::EDITOR)
        && ["command:", "config:"].iter().any(|word| inner.starts_with(word))
    {
        return Some(Placeholder::Unknown { name: inner, why: MissingReason::ProgramOnly });
    }
    let inner = match inner.strip_prefix("env:") {
        Some(name) if syntax.contains(Syntax::ENV_COLON) => name.strip_prefix("//").unwrap_or(name),
        _ => inner,
    };
    let name = identifier(inner)?;
    // Check only the beginning: the rest may be long and may be parsed again.
    let default = match &inner[name.len()..] {
        "" => None,
        rest => Some(rest.strip_prefix(":-")?),
    };
    let counts = syntax.intersects(Syntax::BRACED | Syntax::ENV_COLON);
    counts.then_some(Placeholder::Variable { name, default })
}

/// Returns the value of a predefined placeholder, such as a folder.
fn predefined_value(name: &str, syntax: Syntax, context: ExpandContext<'_>) -> Option<String> {
    let separator = || if context.env.platform == Platform::Windows { "\\" } else { "/" };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    if syntax.contains(Syntax::PLUGIN) {
        match name {
            "CLAUDE_PLUGIN_ROOT" | "PLUGIN_ROOT" | "extensionPath" => {
                return context.plugin.map(text);
            }
            "workspacePath" | "CLAUDE_PROJECT_DIR" => return Some(text(context.folder)),
            "/" | "pathSeparator" => return Some(separator().to_owned()),
            _ => {}
        }
    }
    if syntax.contains(Syntax::EDITOR) {
        match name {
            "userHome" => return context.env.home.as_deref().map(text),
            "workspaceFolder" | "workspaceRoot" => return Some(text(context.folder)),
            "workspaceFolderBasename" => {
                return context.folder.file_name().map(|name| name.to_string_lossy().into_owned());
            }
            "/" | "pathSeparator" => return Some(separator().to_owned()),
            _ => {}
        }
    }
    None
}

/// Appends the value of a placeholder, or the placeholder itself if it has no value.
fn replace(
    whole: &str,
    placeholder: &Placeholder<'_>,
    context: ExpandContext<'_>,
    expanded: &mut Expanded,
) {
    let (variable, found) = match placeholder {
        Placeholder::Variable { name, default } => {
            let value = match default {
                Some(_) => context.env.nonempty_variable(name),
                None => context.env.variable(name),
            };
            let found = match (value, default) {
                (Some(value), _) => Ok((value.to_owned(), ValueOrigin::Environment)),
                (None, Some(default)) => Ok(((*default).to_owned(), ValueOrigin::Default)),
                (None, None) => Err(MissingReason::Variable),
            };
            (*name, found)
        }
        Placeholder::Predefined { name, value } => {
            (*name, Ok((value.clone(), ValueOrigin::Environment)))
        }
        Placeholder::File(path) => {
            let real = context.env.path_from(path, context.file_folder);
            let file = context.files.read(&real, context.level, context.folder);
            let found = match &file.text {
                Some(text) => Ok((text.trim().to_owned(), ValueOrigin::File)),
                None => Err(MissingReason::File),
            };
            (*path, found)
        }
        Placeholder::Unknown { name, why } => (*name, Err(*why)),
    };
    let from = match found {
        Ok((value, from)) => {
            expanded.text.push_str(&value);
            from
        }
        Err(why) => {
            expanded.text.push_str(whole);
            ValueOrigin::Missing(why)
        }
    };
    expanded.uses.push(PlaceholderUse { variable: variable.to_owned(), from });
}

/// Finds the `}` that matches a `{` before the text; a default may contain braces.
pub(crate) fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(MAX_PLACEHOLDER_LENGTH) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the identifier at the start of a text.
fn identifier(text: &str) -> Option<&str> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_next = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(is_first).then(|| text.split_once(|c| !is_next(c)).map_or(text, |(n, _)| n))
}

#[cfg(test)]
mod tests;

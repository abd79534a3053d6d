//! The subject of a trust decision: a definition before expansion, the files it names, and the
//! program it would start.
//!
//! Files are read once. The content that the person sees is the content that is stored, even if a
//! file changes while they read. Texts are kept before expansion. A path on a network share is not
//! looked at, see `real_path`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::as_written::redact_literals;
use super::command_words::words_of_command;
use crate::command;
use crate::document::{Node, Value};
use crate::env::Env;
use crate::expand::{ExpandContext, Piece, Placeholder, Syntax, expand, pieces};
use crate::named_files::{NamedFile, NamedFiles, Repository, normalize};
use crate::real_path::{is_on_other_share, real_path};
use crate::secret::{Secret, names_a_secret, redact_args, redact_command, redact_url};
use crate::server::{Definition, WrittenText};
use crate::spec::env_file_variables;

/// The number of folders in a command that are searched for the files in it.
const MAX_FOLDERS: usize = 8;

/// A definition and the files it names, as read for one decision.
#[derive(PartialEq, Eq)]
pub struct TrustSubject {
    pub(super) agreement_id: AgreementId,
    /// All fields of the fingerprint.
    pub(super) observed: BTreeMap<String, ObservedField>,
    /// The program that its command starts.
    pub program: Option<PathBuf>,
    /// The real path of that program, if its path is a link in the repository.
    pub program_real_path: Option<PathBuf>,
    /// Links of the repository in its working folder or its arguments, each with the field and the
    /// real path.
    pub links: Vec<(String, PathBuf)>,
    /// Its environment file.
    pub env_file: Option<EnvFile>,
    /// Other files whose contents are used: in placeholders, or by commands that print values.
    pub files: Vec<UsedFile>,
    /// Files of the repository in its command line. Their contents are not part of the fingerprint.
    pub repository_files: Vec<String>,
}

/// The key of a decision in the trust store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AgreementId {
    pub(super) folder: String,
    /// The file, relative to the folder.
    pub(super) file: String,
    pub(super) name: String,
}

/// The observed value of a field.
#[derive(PartialEq, Eq)]
pub(super) enum ObservedField {
    /// A text that is not a secret; stored as it is.
    Plain(String),
    /// A text that may be a secret, with its redacted form.
    MaybeSecret { text: Secret, redacted: String },
    /// The contents of a file.
    FileContents(Arc<str>),
}

/// The environment file (`envFile`) of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvFile {
    /// Its real path, if that differs from the path in the entry.
    pub real_path: Option<PathBuf>,
    /// The names of its variables; none if it cannot be read.
    pub variables: Option<Vec<String>>,
    /// Whether it is in the repository; otherwise it is a file of the person.
    pub is_in_repository: bool,
}

/// A file whose contents are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedFile {
    /// The path as written.
    pub named: String,
    /// Its real path, if that differs from the path in the entry.
    pub real_path: Option<PathBuf>,
    /// Whether it is in the repository; otherwise it is a file of the person.
    pub is_in_repository: bool,
}

impl AgreementId {
    pub(super) fn of(definition: &Definition) -> Self {
        let path = &definition.source.path;
        let file = path.strip_prefix(&*definition.folder).unwrap_or(path);
        Self {
            folder: super::folder_key(&definition.folder),
            file: file.to_string_lossy().replace('\\', "/"),
            name: definition.name.as_str().to_owned(),
        }
    }
}

impl TrustSubject {
    /// Reads a definition and the files it names.
    pub fn of(definition: &Definition, env: &Env) -> Self {
        Self::with_files(definition, env, &NamedFiles::default())
    }

    /// Does the same, and uses files that were read before.
    pub(crate) fn with_files(definition: &Definition, env: &Env, files: &NamedFiles) -> Self {
        let builder = SubjectBuilder {
            definition,
            env,
            files,
            repository: Repository::of(definition),
            subject: Self {
                agreement_id: AgreementId::of(definition),
                observed: BTreeMap::new(),
                program: None,
                program_real_path: None,
                links: Vec::new(),
                env_file: None,
                files: Vec::new(),
                repository_files: Vec::new(),
            },
        };
        builder.build()
    }
}

/// Omits the fields: they may hold secrets.
impl fmt::Debug for TrustSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrustSubject").field("address", &self.agreement_id).finish_non_exhaustive()
    }
}

/// Whether a value may be a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sensitivity {
    Public,
    Secret,
}

/// Builds a subject.
struct SubjectBuilder<'a> {
    definition: &'a Definition,
    env: &'a Env,
    files: &'a NamedFiles,
    repository: Repository,
    subject: TrustSubject,
}

impl SubjectBuilder<'_> {
    fn build(mut self) -> TrustSubject {
        self.add_plain("server name", self.definition.name.as_str());
        if let Some(raw) = &self.definition.raw {
            self.add_node("", raw, Sensitivity::Public);
        }
        self.add_env_file();
        self.add_placeholder_files();
        self.add_helpers();
        self.add_program();
        self.subject
    }

    fn context(&self) -> ExpandContext<'_> {
        ExpandContext::of(self.definition, self.env, self.files)
    }

    fn add_node(&mut self, field: &str, node: &Node, sensitivity: Sensitivity) {
        match &node.value {
            Value::Map(map) if map.is_empty() => self.add_plain(field, "={}"),
            Value::List(list) if list.is_empty() => self.add_plain(field, "=[]"),
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    let below = if is_secret_group(&key.text) || names_a_secret(&key.text) {
                        Sensitivity::Secret
                    } else {
                        sensitivity
                    };
                    let dot = if field.is_empty() { "" } else { "." };
                    self.add_node(&format!("{field}{dot}{}", quote_key(&key.text)), value, below);
                }
            }
            Value::List(list) => {
                let texts: Vec<&str> =
                    list.iter().map(|item| item.as_str().unwrap_or_default()).collect();
                let redacted = redact_args(texts.iter().copied());
                for (index, item) in list.iter().enumerate() {
                    let open = item.as_str().is_none_or(|text| text == redacted[index]);
                    let below = if open { sensitivity } else { Sensitivity::Secret };
                    self.add_node(&format!("{field}[{index}]"), item, below);
                }
            }
            Value::String(text) => {
                let is_plain = |text: &str| {
                    redact_command(text) == text
                        && (!text.contains("://") || redact_url(text) == text)
                };
                let open = sensitivity == Sensitivity::Public && is_plain(text);
                // `=` marks values that are not strings, so a string that begins with it is marked,
                // too.
                let quoted = text.starts_with('=').then(|| format!("={text:?}"));
                let text = quoted.as_deref().unwrap_or(text);
                if open { self.add_plain(field, text) } else { self.add_maybe_secret(field, text) }
            }
            // The mark distinguishes `1` from `"1"`.
            Value::Number(digits) if sensitivity == Sensitivity::Public => {
                self.add_plain(field, &format!("={digits}"));
            }
            Value::Number(digits) => self.add_maybe_secret(field, &format!("={digits}")),
            Value::Bool(truth) => self.add_plain(field, &format!("={truth}")),
            Value::Null => self.add_plain(field, "=null"),
        }
    }

    fn add_env_file(&mut self) {
        let Some(written) = &self.definition.fields.env_file else { return };
        // The path often has `${workspaceFolder}`. The fingerprint has the path before expansion,
        // so that values of variables are not stored.
        let text = expand(written, self.context()).text;
        let path = self.env.path_from(&text, &self.definition.folder);
        let file = self.read(&path);
        self.add_contents(&written.text, &file);
        let real_path = self.add_real_path(&written.text, &path, &file);
        let variables = file.text.as_deref().map(|text| env_file_variables(text).collect());
        // A missing file counts as part of the repository, which could create it.
        let is_in_repository =
            file.real.as_deref().is_none_or(|real| self.repository.contains(real, Some(real)));
        self.subject.env_file = Some(EnvFile { real_path, variables, is_in_repository });
    }

    /// Adds the files in placeholders such as `{file:arguments.txt}`: their contents can change
    /// while the entry stays the same.
    fn add_placeholder_files(&mut self) {
        let fields = &self.definition.fields;
        let mut named: Vec<String> = Vec::new();
        for written in fields.texts() {
            for piece in pieces(&written, self.context()) {
                if let Piece::Placeholder(_, Placeholder::File(path)) = piece
                    && !named.iter().any(|known| known == path)
                {
                    named.push(path.to_owned());
                }
            }
        }
        for named in named {
            let path = self.env.path_from(&named, self.context().file_folder);
            let file = self.read(&path);
            let is_in_repository =
                self.repository.controls(&named, &path, file.real.as_deref(), self.env);
            // The project cannot change a file of the person, so its contents are not recorded.
            if is_in_repository {
                self.add_contents(&named, &file);
            }
            self.add_used_file(named, &path, &file, is_in_repository);
        }
    }

    /// Adds commands that print values: the program of each, and every file it names.
    fn add_helpers(&mut self) {
        let fields = &self.definition.fields;
        if let Some(helper) = fields.headers_helper.as_ref().map(Secret::expose) {
            let program = words_of_command(helper)
                .first()
                .and_then(|word| self.find(word, &self.definition.folder));
            let program = program.map_or("not found".to_owned(), |path| path.display().to_string());
            self.add_plain("program path of the headers helper", &program);
            self.add_command_files(helper);
        }
        for (_, value) in fields.env.iter().chain(&fields.headers) {
            if value.syntax.contains(Syntax::RESOLVED)
                && let Some(command) = value.text.strip_prefix('!')
            {
                self.add_command_files(command);
            }
        }
    }

    fn add_command_files(&mut self, command: &str) {
        let words = words_of_command(command);
        let folder = &self.definition.folder;
        let changed_to =
            |word: &String| Some(self.env.path_from(word, folder)).filter(|it| self.is_folder(it));
        // `cd sub && ./run` names a file of `sub`.
        let folders: Vec<PathBuf> = std::iter::once(folder.to_path_buf())
            .chain(words.iter().filter_map(changed_to).take(MAX_FOLDERS))
            .collect();
        let in_folder = |word: &String| {
            folders
                .iter()
                .map(|folder| (word.clone(), self.env.path_from(word, folder)))
                .collect::<Vec<_>>()
        };
        for (word, path) in words.iter().flat_map(in_folder).collect::<Vec<_>>() {
            let real = self.real_file(&path);
            if real.is_some() && self.repository.contains(&path, real.as_deref()) {
                let file = self.read(&path);
                self.add_contents(&word, &file);
                self.add_used_file(word, &path, &file, true);
            }
        }
    }

    fn add_program(&mut self) {
        let fields = &self.definition.fields;
        if fields.command.is_none() {
            return;
        }
        let folder = command::working_folder(self.definition, self.env, self.files);
        let command = fields.command.as_ref().map(|it| expand(it, self.context()).text);
        let found = command.and_then(|command| self.find(&command, &folder));
        let rendered =
            found.as_deref().map_or("not found".to_owned(), |path| path.display().to_string());
        self.add_plain("program path", &rendered);
        if let Some(path) = &found {
            // A link in the repository is part of the fingerprint. A link outside is not: system
            // updates change it.
            let real = self.real_path(path).filter(|real| *real != normalize(path));
            if normalize(path).starts_with(self.repository.root())
                && let Some(real) = real
            {
                self.add_plain("program path behind the link", &real.display().to_string());
                self.subject.program_real_path = Some(real);
            }
        }
        let mut named: Vec<String> = Vec::new();
        let command = found.iter().map(|path| (path.clone(), normalize(path)));
        let args = fields.args.iter().map(|arg| {
            let path = self.env.path_from(&arg.text, &folder);
            (path.clone(), normalize(&path))
        });
        for (path, plain) in command.chain(args) {
            let real = self.real_file(&path);
            if real.is_some() && self.repository.contains(&plain, real.as_deref()) {
                let rendered = plain.strip_prefix(self.repository.root()).unwrap_or(&plain);
                let rendered = rendered.to_string_lossy().into_owned();
                if !named.contains(&rendered) {
                    named.push(rendered);
                }
            }
        }
        self.subject.repository_files = named;
        self.subject.program = found;
        self.add_links(&folder);
    }

    /// Adds the real paths of the working folder and of arguments with links of the repository: a
    /// changed link must not give the server another folder without a new decision.
    fn add_links(&mut self, folder: &Path) {
        let fields = &self.definition.fields;
        let texts: Vec<String> =
            fields.args.iter().map(|arg| expand(arg, self.context()).text).collect();
        let mut paths = vec![("cwd".to_owned(), folder.to_path_buf())];
        for (index, text) in texts.iter().enumerate() {
            // An option may contain its value, as in `--root=data`.
            let value = text.split_once('=').map(|(_, value)| value);
            for text in [Some(text.as_str()), value].into_iter().flatten() {
                paths.push((format!("args[{index}]"), self.env.path_from(text, folder)));
            }
        }
        for (field, path) in paths {
            let written = normalize(&path);
            let real = self.real_path(&path).filter(|real| *real != written);
            if written.starts_with(self.repository.root())
                && let Some(real) = real
            {
                self.add_plain(&format!("{field} behind the link"), &real.display().to_string());
                self.subject.links.push((field, real));
            }
        }
    }

    fn read(&self, path: &Path) -> Arc<NamedFile> {
        self.files.read(path, self.definition.source.level, &self.definition.folder)
    }

    /// Tells whether the path may be looked at.
    fn is_near(&self, path: &Path) -> bool {
        !is_on_other_share(path, &self.definition.folder)
    }

    fn find(&self, command: &str, folder: &Path) -> Option<PathBuf> {
        let is_near = self.is_near(&self.env.path_from(command, folder));
        is_near.then(|| command::find(command, self.env, folder)).flatten()
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.is_near(path) && path.is_dir()
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        self.is_near(path).then(|| real_path(path).ok()).flatten()
    }

    fn real_file(&self, path: &Path) -> Option<PathBuf> {
        self.real_path(path).filter(|real| real.is_file())
    }

    fn add_contents(&mut self, called: &str, file: &NamedFile) {
        let observed = match &file.text {
            Some(text) => ObservedField::FileContents(Arc::clone(text)),
            None => ObservedField::Plain("not readable".to_owned()),
        };
        self.subject.observed.insert(format!("contents of {called}"), observed);
    }

    /// Returns the real path of a file, if it differs. If the repository controls it, it is added
    /// to the fingerprint.
    fn add_real_path(&mut self, called: &str, path: &Path, file: &NamedFile) -> Option<PathBuf> {
        let real = file.real.as_deref()?;
        if real == normalize(path) {
            return None;
        }
        if self.repository.controls(called, path, Some(real), self.env) {
            self.add_plain(&format!("real path of {called}"), &real.display().to_string());
        }
        Some(real.to_owned())
    }

    fn add_used_file(
        &mut self,
        named: String,
        path: &Path,
        file: &NamedFile,
        is_in_repository: bool,
    ) {
        let real_path = self.add_real_path(&named, path, file);
        // A link in the repository may lead to a file of the person.
        let leads_out =
            real_path.as_deref().is_some_and(|real| !self.repository.contains(real, Some(real)));
        let is_in_repository = is_in_repository && !leads_out;
        self.subject.files.push(UsedFile { named, real_path, is_in_repository });
    }

    fn add_plain(&mut self, field: &str, text: &str) {
        self.subject.observed.insert(field.to_owned(), ObservedField::Plain(text.to_owned()));
    }

    fn add_maybe_secret(&mut self, field: &str, text: &str) {
        let syntax = self.definition.fields.syntax;
        let redacted =
            redact_literals(&WrittenText { text: text.to_owned(), syntax }, self.context());
        let observed = ObservedField::MaybeSecret { text: Secret::new(text), redacted };
        self.subject.observed.insert(field.to_owned(), observed);
    }
}

/// Quotes a key that could be read as a path of several keys, such as `args[0]`.
fn quote_key(key: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if !key.is_empty() && key.chars().all(is_plain) { key.to_owned() } else { format!("{key:?}") }
}

fn is_secret_group(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["env", "environment", "envs", "headers", "http_headers", "httpheaders"].contains(&key.as_str())
}

//! A temporary machine for one test: home folder, repository and system folder.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use wharf_config::trust::{TrustStore, TrustSubject};
use wharf_config::view::CatalogView;
use wharf_config::{
    Catalog, DiscoveryError, Env, Level, LoadOptions, Platform, Problem, Server, Source, load,
};

/// The secret in test files; no problem and no listing may contain it.
pub(crate) const CANARY: &str = "canary-8c1f2e";

/// A machine. The working folder is the root of a repository.
pub(crate) struct World {
    #[cfg_attr(not(unix), expect(dead_code, reason = "it removes the folder at the end"))]
    folder: tempfile::TempDir,
    root: PathBuf,
    pub(crate) env: Env,
    pub(crate) options: LoadOptions,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = wharf_config::real_path(folder.path()).expect("its real path");
        for below in ["home", "project/.git", "system"] {
            fs::create_dir_all(root.join(below)).expect("a folder");
        }
        let env = Env::new(Platform::Linux, root.join("project"))
            .with_home(root.join("home"))
            .with_system_root(root.join("system"));
        Self {
            folder,
            root,
            env,
            options: LoadOptions { with_defaults: true, ..LoadOptions::default() },
        }
    }

    /// Writes a file; see [`World::path`].
    pub(crate) fn with(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.write(path, text);
        self
    }

    /// Sets a variable.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.env = self.env.with_variable(name, value);
        self
    }

    /// Changes the working folder; creates it if needed.
    pub(crate) fn working_in(mut self, path: &str) -> Self {
        self.env.cwd = self.path(path);
        fs::create_dir_all(&self.env.cwd).expect("a folder");
        self
    }

    /// Writes or replaces a file.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        fs::write(self.new_path(path), text).expect("a file");
    }

    /// Returns a real path: `~/` is the home folder, `/` the system folder, others the repository.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        let (folder, rest) = match (path.strip_prefix('~'), path.strip_prefix('/')) {
            (Some(rest), _) => ("home", rest.trim_start_matches('/')),
            (_, Some(rest)) => ("system", rest),
            _ => ("project", path),
        };
        self.root.join(folder).join(rest)
    }

    /// Returns a real path and creates its parent folder.
    pub(crate) fn new_path(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        path
    }

    /// Loads the catalog and checks the invariants of every catalog.
    pub(crate) fn load(&self) -> Catalog {
        let catalog = self.try_load().expect("a catalog");
        let problems = all_problems(&catalog);
        for problem in problems {
            assert!(!format!("{problem:?}").contains(CANARY), "quotes a value: {problem:?}");
            assert!(problem.path.is_some(), "has no file: {problem:?}");
            // A problem about something out of reach needs no hint.
            let says_what_to_do = problem.hint.is_some() || problem.code == "unsupported";
            assert!(says_what_to_do, "has no hint: {problem:?}");
        }
        let listing = serde_json::to_string(&CatalogView::of(&catalog, true)).expect("JSON");
        assert!(!listing.contains(CANARY), "shows a secret: {listing}");
        assert!(!format!("{catalog:?}").contains(CANARY), "shows a secret: {catalog:?}");
        catalog
    }

    pub(crate) fn try_load(&self) -> Result<Catalog, DiscoveryError> {
        load(&self.env, self.options)
    }

    /// Renders all servers by name, each with its problems, and then the problems of files.
    pub(crate) fn show(&self) -> String {
        self.show_catalog(&self.load())
    }

    /// Does the same for a catalog that was changed after loading.
    pub(crate) fn show_catalog(&self, catalog: &Catalog) -> String {
        let mut rendered = String::new();
        for server in catalog.all() {
            self.show_server(server, &mut rendered);
        }
        for problem in &catalog.problems {
            self.show_problem(problem, &mut rendered);
        }
        rendered
    }

    /// Renders all problems; checks that the server `good` is loaded.
    pub(crate) fn show_problems(&self) -> String {
        let catalog = self.load();
        assert!(
            catalog.winner("good").is_some_and(|good| good.spec.is_some()),
            "the server `good` is loaded"
        );
        let mut rendered = String::new();
        for problem in all_problems(&catalog) {
            self.show_problem(problem, &mut rendered);
        }
        rendered
    }

    fn show_server(&self, server: &Server, rendered: &mut String) {
        let definition = &server.definition;
        let name = wharf_config::text::clip(definition.name.as_str(), 40);
        let transport = server.transport.map_or("unknown", |kind| kind.word());
        let at = self.place(&definition.source);
        let _ = write!(
            rendered,
            "{name}: {} {transport}, {at}:{}",
            server.state.word(),
            definition.line
        );
        if let Some(reason) = &server.reason {
            let _ = write!(rendered, ", {reason}");
        }
        if let Some(by) = &server.shadowed_by {
            let _ = write!(rendered, ", by {}", self.place(by));
        }
        if let Some(original) = &server.duplicate_of {
            let _ = write!(rendered, ", of {original}");
        }
        rendered.push('\n');
        for problem in &server.problems {
            rendered.push_str("  ");
            self.show_problem(problem, rendered);
        }
    }

    fn show_problem(&self, problem: &Problem, rendered: &mut String) {
        let severity = if problem.is_error() { "error" } else { "warning" };
        let path = problem.path.as_deref().map(|path| self.short(path)).unwrap_or_default();
        let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
        let message = self.without_root(&problem.message);
        let hint = self.without_root(problem.hint.as_deref().unwrap_or_default());
        let _ = writeln!(rendered, "{severity} {} {path}{line}: {message} ({hint})", problem.code);
    }

    fn place(&self, source: &Source) -> String {
        format!("{} {} {}", source.provider, source.level.word(), self.short(&source.path))
    }

    pub(crate) fn short(&self, path: &Path) -> String {
        self.without_root(&path.to_string_lossy())
    }

    /// Replaces the temporary folder in a text.
    pub(crate) fn without_root(&self, text: &str) -> String {
        let names = [("home", "~"), ("project", "[project]"), ("", "[root]")];
        let text = names.iter().fold(text.to_owned(), |text, (below, name)| {
            let path: PathBuf = self.root.join(below).components().collect();
            text.replace(&*path.to_string_lossy(), name)
        });
        if !cfg!(windows) {
            return text;
        }
        // Paths are compared as they are written on Unix; `\u{…}` is no path.
        let kept = text.replace(r"\u{", "\0");
        kept.replace('\\', "/").replace('\0', r"\u{")
    }

    /// Returns a real path as JSON text has it.
    pub(crate) fn in_json(&self, path: &str) -> String {
        self.path(path).to_string_lossy().replace('\\', "/").trim_end_matches('/').to_owned()
    }

    /// Accepts the project's definitions of these names.
    pub(crate) fn trust(&self, names: &[&str]) {
        let catalog = self.load();
        let (mut store, _) = TrustStore::load(&self.env);
        for name in names {
            let project = |own: &&Server| own.definition.source.level == Level::Project;
            for server in catalog.candidates(name).filter(project) {
                store.accept(&TrustSubject::of(&server.definition, &self.env));
            }
        }
        store.save().expect("a file");
    }

    /// Returns the temporary folder, which is removed with this value.
    #[cfg(unix)]
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }
}

fn all_problems(catalog: &Catalog) -> impl Iterator<Item = &Problem> {
    let of_servers = catalog.all().into_iter().flat_map(|server| &server.problems);
    of_servers.chain(&catalog.problems)
}

//! A world with a server that wants a sign-in, and a browser that writes down what it opens.
//!
//! The test itself is the person: it visits the address that the browser was asked to open.

use std::fs;
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wharf_testkit::oauth::{OAuthServer, OAuthServerOptions, visit};

use crate::world::World;

/// A limit that no test reaches, so that an error does not hang it.
const LIMIT: Duration = Duration::from_secs(30);

/// A world whose server `web` is protected by an authorization server.
pub(crate) struct SignInWorld {
    pub(crate) world: World,
    pub(crate) server: OAuthServer,
}

impl SignInWorld {
    pub(crate) fn new() -> Self {
        Self::with(OAuthServerOptions::default(), "")
    }

    /// Starts the servers, and defines `web` with more fields than its address.
    pub(crate) fn with(options: OAuthServerOptions, fields: &str) -> Self {
        let server = OAuthServer::start(options).unwrap();
        let entry = format!(r#""url": "{}"{fields}"#, server.url());
        let world = World::new().own_servers(&[("web", &entry)]);
        Self { world: with_browser(world), server }
    }

    /// Starts the servers with the default options; another function defines them.
    pub(crate) fn defined_by(define: impl FnOnce(World, &str) -> World) -> Self {
        let server = OAuthServer::start(OAuthServerOptions::default()).unwrap();
        let world = with_browser(define(World::new(), &server.url()));
        Self { world, server }
    }

    /// Starts a command line without a terminal.
    pub(crate) fn start(&self, line: &str) -> Child {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = self.world.command(&words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits for the next address that the browser is asked to open.
    pub(crate) fn opened(&self) -> String {
        let file = self.world.path("bin/browser.opened");
        let opened = wait_for(|| fs::read_to_string(&file).ok().filter(|it| it.ends_with('\n')));
        fs::remove_file(&file).unwrap();
        opened.trim().to_owned()
    }

    /// Runs `login` with these arguments, and signs in as the person; returns exit code and output.
    pub(crate) fn sign_in(&self, arguments: &str) -> Output {
        let login = self.start(&format!("login web {arguments}"));
        let page = visit(&self.opened()).unwrap();
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        login.wait_with_output().unwrap()
    }

    /// Renders an output with the addresses of this world replaced.
    pub(crate) fn render(&self, output: &Output) -> String {
        self.filter(&self.world.render(output))
    }

    /// Runs a command line and renders its output.
    pub(crate) fn run(&self, line: &str) -> String {
        self.render(&self.world.output(line))
    }

    /// Replaces the addresses of this world.
    pub(crate) fn filter(&self, text: &str) -> String {
        text.replace(&self.server.url(), "[server]")
            .replace(&self.server.issuer(), "[issuer]")
            .replace(&self.server.other_origin(), "[other]")
            .replace(&self.server.url().replace("/mcp", ""), "[origin]")
    }

    /// Returns the text of the credential store; empty if nothing is stored.
    pub(crate) fn stored(&self) -> String {
        let file = self.world.path("home/.wharf/credentials.json");
        fs::read_to_string(file).unwrap_or_default()
    }

    /// Checks that no text and no file but the store has a secret of this world.
    pub(crate) fn check_for_leaks(&self, texts: &[&str]) {
        let secrets = self.server.secrets();
        assert!(!secrets.is_empty());
        let files = files_below(&self.world.path("home"))
            .into_iter()
            .chain(files_below(&self.world.path("project")))
            .filter(|(path, _)| !path.ends_with("credentials.json"));
        let texts = texts.iter().map(|text| ("output".to_owned(), (*text).to_owned()));
        for (place, text) in texts.chain(files) {
            for secret in &secrets {
                assert!(!text.contains(secret.as_str()), "{secret} is in {place}:\n{text}");
            }
        }
    }
}

fn with_browser(world: World) -> World {
    let world = world.script("browser", "printf '%s\\n' \"$1\" >> \"$0.opened\"\n");
    let browser = world.path("bin/browser").display().to_string();
    world.variable("BROWSER", &browser)
}

/// Polls until there is a value.
pub(crate) fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < LIMIT, "it did not happen within {LIMIT:?}");
        thread::yield_now();
    }
}

/// Returns the paths and texts of all files in a folder.
fn files_below(folder: &std::path::Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            found.push((path.display().to_string(), text));
        }
    }
    found
}

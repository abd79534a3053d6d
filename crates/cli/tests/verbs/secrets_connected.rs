//! Verbs that connect reveal no secret, also if they fail: not in the output, not in written files.
//!
//! Each place has its own secret, so that a failing test says which one was revealed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::recording_server::RecordingServer;
use crate::world::World;

/// The prefix of all secrets; the name of the place follows.
const SECRET: &str = "s3cret-of-";

/// Servers of the user. `ok` works, `loud` echoes its arguments and variables and fails, `gone`
/// does not exist. UNAUTHORIZED, BROKEN and FOUND answer with 401, 500 and 200; `127.0.0.1:1`
/// refuses connections.
const SERVERS: [(&str, &str); 25] = [
    ("env", r#""command": "ok", "env": { "API_TOKEN": "s3cret-of-env", "B": "s3cret-of-env-b" }"#),
    ("output", r#""command": "ok", "env": { "A": "!echo s3cret-of-output" }"#),
    ("named", r#""command": "ok", "env": { "A": "HIDDEN" }"#),
    (
        "flag",
        r#""command": "ok", "args": ["--token", "s3cret-of-flag", "--api-key=s3cret-of-key"]"#,
    ),
    ("expanded", r#""command": "ok", "args": ["${HIDDEN}", "--who=${HIDDEN}"]"#),
    ("stored", r#""command": "ok", "auth": { "type": "bearer", "credentialId": "local" }"#),
    (
        "loud-env",
        r#""command": "loud", "env": { "API_TOKEN": "s3cret-of-loud-env", "A": "s3cret-of-loud-a" }"#,
    ),
    ("loud-output", r#""command": "loud", "env": { "A": "!echo s3cret-of-loud-output" }"#),
    ("loud-named", r#""command": "loud", "env": { "A": "HIDDEN" }"#),
    (
        "loud-flag",
        r#""command": "loud", "args": ["--token", "s3cret-of-loud-flag", "--api-key=s3cret-of-loud-key", "https://me:s3cret-of-loud-user@h/?k=s3cret-of-loud-query"]"#,
    ),
    ("loud-expanded", r#""command": "loud", "args": ["${HIDDEN}", "--who=${HIDDEN}"]"#),
    ("loud-stored", r#""command": "loud", "auth": { "type": "bearer", "credentialId": "local" }"#),
    ("loud-passed", r#""command": "loud", "passEnv": ["MY_API_KEY"]"#),
    ("gone", r#""command": "${HIDDEN}", "args": ["${HIDDEN}"], "cwd": "${HIDDEN}""#),
    ("slow", r#""command": "slow", "timeout": 200, "env": { "A": "s3cret-of-slow" }"#),
    (
        "strict",
        r#""command": "ok", "strict": true, "env": { "A": "!echo s3cret-of-strict >&2; exit 1" }"#,
    ),
    (
        "refused",
        r#""url": "http://me:s3cret-of-user@127.0.0.1:1/mcp?key=s3cret-of-query", "headers": { "Authorization": "Bearer s3cret-of-header", "X": "!echo s3cret-of-header-output", "Y": "HIDDEN" }"#,
    ),
    (
        "unauthorized",
        r#""url": "http://me:s3cret-of-user@UNAUTHORIZED/mcp?key=s3cret-of-query", "headers": { "X": "!echo s3cret-of-header-output", "Y": "HIDDEN" }"#,
    ),
    (
        "unauthorized-header",
        r#""url": "http://UNAUTHORIZED/mcp", "headers": { "Authorization": "Bearer s3cret-of-header" }"#,
    ),
    (
        "unauthorized-stored",
        r#""url": "http://UNAUTHORIZED/stored", "auth": { "type": "oauth", "credentialId": "web" }"#,
    ),
    (
        "broken",
        r#""url": "http://me:s3cret-of-user@BROKEN/mcp?key=s3cret-of-query", "headers": { "Authorization": "Bearer s3cret-of-header" }"#,
    ),
    (
        "nonsense",
        r#""url": "http://me:s3cret-of-user@FOUND/mcp?key=s3cret-of-query", "headers": { "X": "!echo s3cret-of-header-output" }"#,
    ),
    (
        "sse",
        r#""type": "sse", "url": "http://me:s3cret-of-user@BROKEN/sse?key=s3cret-of-query", "headers": { "X": "s3cret-of-header" }"#,
    ),
    ("scheme", r#""url": "${HIDDEN}""#),
    ("address", r#""url": "https://me:s3cret-of-user@[h/mcp?key=s3cret-of-query""#),
];

/// Writes its arguments and variables to stderr, in one line and split over lines.
const LOUD: &str = r#"
echo "given: $* / $API_TOKEN $A $OAUTH_ACCESS_TOKEN $MY_API_KEY" >&2
for word in "$@" "$A"; do printf '%s' "${word%????}" >&2; printf '%s\n' "${word#"${word%????}"}" >&2; done
exit 3
"#;

struct ConnectedWorld {
    world: World,
    /// The files before the first run; they contain secrets.
    before: BTreeMap<PathBuf, Vec<u8>>,
    servers: [RecordingServer; 3],
}

fn connected_world() -> ConnectedWorld {
    let servers = ["401 Unauthorized", "500 Internal Server Error", "200 OK"];
    let servers = servers.map(RecordingServer::with_status);
    let fill = |text: &str| {
        let names = ["UNAUTHORIZED", "BROKEN", "FOUND"];
        names.iter().zip(&servers).fold(text.to_owned(), |text, (name, server)| {
            text.replace(name, &server.address().to_string())
        })
    };
    let entries: Vec<(&str, String)> =
        SERVERS.iter().map(|(name, entry)| (*name, fill(entry))).collect();
    let entries: Vec<(&str, &str)> =
        entries.iter().map(|(name, entry)| (*name, entry.as_str())).collect();
    let world = World::new()
        .tool_server("ok")
        .script("loud", LOUD)
        .script("slow", "echo \"waiting with $A\" >&2\nread -r line\nread -r line\n")
        .variable("HIDDEN", "s3cret-of-variable")
        .variable("MY_API_KEY", "s3cret-of-passed")
        .variable("WHARF_LOG", "trace")
        .variable("RUST_LOG", "trace")
        .variable("RUST_BACKTRACE", "1")
        .own_servers(&entries)
        .home(".wharf/credentials.json", &fill(
            r#"{ "version": 1, "credentials": {
                 "local": { "type": "bearer", "resource": "https://h.example", "token": "s3cret-of-store" },
                 "web": { "type": "oauth", "resource": "http://UNAUTHORIZED/stored", "token": "s3cret-of-sign-in",
                          "refreshToken": "s3cret-of-refresh" } } }"#,
        ));
    let before = files(&world.path("home"));
    ConnectedWorld { world, before, servers }
}

impl ConnectedWorld {
    #[track_caller]
    fn check(&self, line: &str) {
        let rendered = self.world.run(line);
        assert!(!rendered.contains(SECRET), "wharf {line}:\n{rendered}");
        assert!(!rendered.contains("panicked"), "wharf {line}:\n{rendered}");
    }

    /// Checks all files that were written, and returns their number.
    fn check_written_files(&self) -> usize {
        let after = files(&self.world.path("home")).into_iter();
        let new = after.filter(|(path, bytes)| self.before.get(path) != Some(bytes));
        let looked = new.inspect(|(path, bytes)| {
            let text = String::from_utf8_lossy(bytes);
            assert!(!text.contains(SECRET), "{}:\n{text}", path.display());
        });
        looked.count()
    }
}

#[test]
fn verbs_that_connect_all_servers_show_no_secret() {
    let fixture = connected_world();
    for verb in ["tools", "tools --fresh", "doctor", "resources", "prompts", "list --all", "status"]
    {
        for flags in ["", " --json", " -vvv"] {
            fixture.check(&format!("{verb}{flags}"));
        }
    }
    assert!(fixture.check_written_files() > 3, "too few files were written");
}

#[test]
fn a_server_that_fails_shows_no_secret() {
    let fixture = connected_world();
    for (name, _) in SERVERS {
        for line in [
            format!("test {name} -vvv"),
            format!("test {name} --json"),
            format!("reconnect {name}"),
            format!("doctor {name} -vvv"),
            format!("tools --server {name} --fresh"),
            format!("call {name}/fail"),
            format!("call {name}/die --json -vvv"),
            format!("call {name}/echo text=x times=no"),
            format!("prompts --server {name}"),
            format!("read --server {name} a:b --json"),
            format!("logs {name}"),
            format!("get {name} --json"),
            format!("explain {name} -vvv"),
        ] {
            fixture.check(&line);
        }
    }
    assert!(fixture.check_written_files() > 3, "too few files were written");
    // The server did write its secrets; they were redacted.
    let rendered = fixture.world.run("test loud-flag");
    assert!(rendered.contains("given: --token ••• --api-key=•••"), "{rendered}");
    assert!(fixture.world.run("logs loud-env").contains("given:  / ••• •••"));
    let received: Vec<String> = fixture.servers.iter().map(RecordingServer::received).collect();
    for (at, secret) in [(0, "header"), (0, "sign-in"), (0, "query"), (1, "header"), (2, "query")] {
        assert!(received[at].contains(&format!("{SECRET}{secret}")), "{secret}: {}", received[at]);
    }
}

/// Returns all files below a folder with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
        }
    }
    found
}

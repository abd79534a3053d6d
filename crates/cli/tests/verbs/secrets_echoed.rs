//! A hostile server repeats its secrets in every encoding and place; Wharf redacts them in its
//! output and in the files that it writes.

#![expect(clippy::disallowed_methods, reason = "a test prepares files")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Value, json};

use crate::recording_server::RecordingServer;
use crate::test_servers::legacy_server_script;
use crate::world::World;

/// A secret with characters that need escaping in JSON, URLs and shells.
const SECRET: &str = "tig\"er/47?11+é>x~\\y";

/// Secrets in other places.
const FLAG: &str = "panther-0815-of-flag";
const PLAIN: &str = "leopard-0815-of-env";
const PASSWORD: &str = "lynx-0815/of+user";
const QUERY: &str = "ocelot-0815-of-query";
const HEADER: &str = "puma-0815-of-header";

/// Returns a secret in all encodings that a server could use.
fn encodings(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), inside_json(secret)];
    for (kept, upper) in [("-_.~", true), ("-_.~", false), ("-_.~/?+", true)] {
        forms.push(percent(secret, kept, upper));
    }
    for before in ["", "x", "xx", "user:"] {
        for after in ["", ":y", "zz"] {
            let text = format!("{before}{secret}{after}");
            forms.extend([STANDARD.encode(&text), URL_SAFE.encode(&text)]);
        }
    }
    forms
}

fn inside_json(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

fn percent(secret: &str, kept: &str, upper: bool) -> String {
    secret.bytes().fold(String::new(), |mut out, byte| {
        let is_kept = byte.is_ascii_alphanumeric() || kept.contains(char::from(byte));
        let _infallible = match (is_kept, upper) {
            (true, _) => out.write_char(char::from(byte)),
            (false, true) => write!(out, "%{byte:02X}"),
            (false, false) => write!(out, "%{byte:02x}"),
        };
        out
    })
}

/// Returns the texts that must not be found. For base64 that is the inner part, which does not
/// depend on the surrounding bytes.
fn needles(secret: &str) -> Vec<String> {
    let mut needles = vec![secret.to_owned(), inside_json(secret)];
    needles.extend([percent(secret, "-_.~", true), percent(secret, "-_.~", false)]);
    for before in 0..3 {
        let text = format!("{}{secret}", "x".repeat(before));
        for engine in [STANDARD, URL_SAFE] {
            let encoded = engine.encode(&text);
            needles.push(encoded[4..encoded.len() - 4].to_owned());
        }
    }
    needles
}

#[track_caller]
fn check(secrets: &[&str], text: &str, what: &str) {
    for needle in secrets.iter().flat_map(|secret| needles(secret)) {
        assert!(!text.contains(&needle), "{what}: {needle}\n{text}");
    }
}

/// Returns all files below a folder except those of the user.
fn files_written(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            all.extend(files_written(&path));
        } else if name != "mcp.json" && name != "credentials.json" {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned();
            all.push((path, text));
        }
    }
    all
}

/// A server that repeats `echo` wherever it can, and `in_schema` in its schemas.
fn hostile(echo: &str, in_schema: &str) -> String {
    let text = |value: Value| value.to_string().replace('\'', "'\\''");
    let property = json!({ "type": "string", "description": in_schema, "default": in_schema });
    let schema =
        json!({ "type": "object", "description": in_schema, "properties": { "a": property } });
    let tools = ["fail", "log", "die"].map(|name| {
        text(json!({ "name": name, "title": echo, "description": echo, "inputSchema": schema,
                     "annotations": { "title": echo }, "_meta": { "x": echo } }))
    });
    let error = text(json!({ "code": -32000, "message": echo, "data": { "why": echo } }));
    let log = text(json!({ "jsonrpc": "2.0", "method": "notifications/message",
                           "params": { "level": "error", "logger": echo, "data": { "x": echo } } }));
    let info = text(json!({ "protocolVersion": "2025-11-25", "instructions": echo,
        "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "logging": {} },
        "serverInfo": { "name": echo, "version": echo, "title": echo } }));
    let resources = text(
        json!({ "resources": [{ "uri": "note://a", "name": "a", "title": echo, "description": echo }] }),
    );
    let prompts = text(json!({ "prompts": [{ "name": "p", "title": echo, "description": echo,
                                             "arguments": [{ "name": "x", "description": echo }] }] }));
    let cases = format!(
        r#"*'"method":"initialize"'*) result '{info}';;
    *'"name":"die"'*) /bin/cat "$0.echo" >&2; exit 7;;
    *'"name":"log"'*) send '{log}'; result '{{"content":[]}}';;
    *'"method":"tools/call"'*) send '{{"jsonrpc":"2.0","id":'"$id"',"error":{error}}}';;
    *'"method":"resources/list"'*) result '{resources}';;
    *'"method":"prompts/list"'*) result '{prompts}';;"#
    );
    legacy_server_script("/bin/cat \"$0.echo\" >&2", "{}", &tools.join(","), &cases)
}

#[test]
fn secrets_repeated_by_a_server_in_any_encoding_are_redacted() {
    let secrets = [SECRET, FLAG, PLAIN];
    let echo = secrets.iter().flat_map(|secret| encodings(secret)).collect::<Vec<_>>().join(" | ");
    // Values that are not known to be secret are not redacted in schemas.
    let in_schemas =
        [SECRET, FLAG].iter().flat_map(|it| encodings(it)).collect::<Vec<_>>().join(" | ");
    let script = hostile(&echo, &in_schemas);
    let entry = json!({ "command": "box", "args": ["--token", FLAG],
                        "env": { "API_TOKEN": SECRET, "MODE": PLAIN } })
    .to_string();
    let world = World::new()
        .script("box", &script)
        .own_servers(&[("box", &entry[1..entry.len() - 1])])
        .variable("WHARF_LOG", "trace");
    fs::write(world.path("bin/box.echo"), format!("{echo}\n")).unwrap();
    for line in [
        "tools",
        "tools --json",
        "tools --fresh -vvv",
        "tools box/fail",
        "tools box/fail --json",
        "test box",
        "test box --json",
        "call box/fail a=x",
        "call box/fail a=x --json",
        "call box/log -vvv",
        "call box/die",
        "call box/die --json",
        "resources",
        "resources --json",
        "prompts",
        "prompts --json",
        "reconnect box",
        "doctor",
        "doctor box --json",
        "status",
        "status --json",
        "list --json",
        "explain box",
        "logs box",
        "logs box --json",
        "get box",
    ] {
        let output = world.run(line);
        assert!(!output.contains("panicked"), "{output}");
        check(&secrets, &output, line);
    }
    // The server did repeat its secrets; they were redacted.
    assert!(world.run("tools --json").contains("•••"));
    assert!(world.run("logs box").contains("••• | •••"));
    let files = files_written(&world.path("home/.wharf"));
    assert!(files.iter().any(|(path, _)| path.starts_with(world.path("home/.wharf/cache"))));
    for (path, text) in files {
        check(&secrets, &text, &path.display().to_string());
    }
}

#[test]
fn secrets_in_http_errors_challenges_and_redirects_are_redacted() {
    let secrets = [PASSWORD, QUERY, HEADER];
    let basic = STANDARD.encode(format!("me:{PASSWORD}"));
    let echo = secrets.iter().flat_map(|secret| encodings(secret)).collect::<Vec<_>>().join(" | ");
    let echo = format!("{echo} | {basic}");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32000, "message": echo } });
    let body = body.to_string();
    let in_path = percent(HEADER, "-_.~", true);
    let redirects = [
        format!("https://elsewhere.example/{HEADER}/{basic}"),
        format!("https://{HEADER}.elsewhere.example/?key={HEADER}"),
        format!("https://me:{HEADER}@elsewhere.example/{in_path}"),
    ];
    let mut answers = vec![
        (
            "401 Unauthorized".to_owned(),
            format!("WWW-Authenticate: Bearer error=\"{HEADER} {basic}\"\r\n"),
            echo.clone(),
        ),
        ("403 Forbidden".to_owned(), String::new(), echo.clone()),
        ("500 Internal Server Error".to_owned(), String::new(), echo.clone()),
        (
            "400 Bad Request".to_owned(),
            "Content-Type: application/json\r\n".to_owned(),
            body.clone(),
        ),
        ("200 OK".to_owned(), "Content-Type: application/json\r\n".to_owned(), body),
    ];
    for location in redirects {
        answers.push((
            "307 Temporary Redirect".to_owned(),
            format!("Location: {location}\r\n"),
            String::new(),
        ));
    }
    for (status, headers, body) in answers {
        let server = RecordingServer::with_response(&status, &headers, &body);
        let password = percent(PASSWORD, "-_.~", true);
        let entry = json!({
            "url": format!("http://me:{password}@{}/mcp?key={QUERY}", server.address()),
            "headers": { "X-Api-Key": HEADER },
        })
        .to_string();
        let world = World::new().own_servers(&[("box", &entry[1..entry.len() - 1])]);
        for line in ["test box", "test box --json", "tools -vvv", "call box/x", "status --json"] {
            let output = world.run(line);
            check(&secrets, &output, &format!("{status} {headers} {line}"));
            assert!(!output.to_lowercase().contains(HEADER), "{line}: {output}");
            assert!(!output.contains(&basic), "{line}: {output}");
        }
        for (path, text) in files_written(&world.path("home/.wharf")) {
            check(&secrets, &text, &path.display().to_string());
        }
        assert!(server.received().contains(HEADER), "the secret was sent");
    }
}

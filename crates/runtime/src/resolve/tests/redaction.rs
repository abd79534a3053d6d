//! Tests that no debug output or message of this folder contains a secret.

use std::fmt::Write as _;
use std::sync::Arc;

use super::super::command_cache::{CommandCache, CommandKey};
use super::World;
use super::world::{http_of, sent};
use crate::store::server_identity::ServerIdentity;

/// Stands for every secret.
const CANARY: &str = "canary-51fe";

/// Collects the debug output and messages of everything about a server.
async fn render_all(world: &World) -> String {
    let mut rendered = String::new();
    let trusted = world.trusted();
    let resolver = world.resolver();
    let identity = ServerIdentity::new(&trusted, &world.env);
    let _ = writeln!(rendered, "{trusted:?} {resolver:?} {identity:?}");
    match resolver.resolve(&trusted).await {
        Ok(server) => {
            let _ = writeln!(rendered, "{server:?}");
            let _ = writeln!(rendered, "{}", serde_json::to_string(&server.omissions).unwrap());
            if trusted.folder.is_none() {
                let (target, authorizer) = http_of(server);
                let _ = writeln!(rendered, "{target} {:?}", sent(&*authorizer).await);
            }
        }
        Err(error) => {
            let _ = writeln!(rendered, "{error} {error:?} {}", error.hint());
            let source = std::error::Error::source(&error);
            let _ = writeln!(rendered, "{:?}", source.map(ToString::to_string));
        }
    }
    rendered
}

#[tokio::test]
async fn no_debug_output_or_message_contains_a_secret() {
    let headers = format!(
        r#""headers": {{ "A": "{CANARY}", "B": "!echo {CANARY}", "C": "VARIABLE",
            "D": "!echo {CANARY} >&2; exit 1", "E": "!echo {CANARY}; exit 1", "F": "${{VARIABLE}}",
            "G": "{CANARY}\n{CANARY}" }}"#
    );
    let env = headers.replace("headers", "env");
    let auth = r#""auth": { "type": "bearer", "credentialId": "c" }"#;
    let cases = [
        format!(r#""url": "https://{CANARY}:{CANARY}@a.example/mcp?key={CANARY}", {headers}"#),
        format!(r#""url": "https://a.example/mcp?key={CANARY}", {auth}, {headers}"#),
        format!(
            r#""url": "https://{CANARY}@${{UNSET}}.example/${{VARIABLE}}?{CANARY}", {headers}"#
        ),
        format!(r#""strict": true, "url": "https://a.example", {headers}"#),
        format!(
            r#""strict": true, "url": "https://a.example", "headers": {{ "G": "{CANARY}\n" }}"#
        ),
        format!(r#""command": "server", "args": ["--token", "{CANARY}"], {auth}, {env}"#),
        format!(r#""strict": true, "command": "server", {env}"#),
        format!(r#""command": "${{VARIABLE}}", {env}"#),
        format!(r#""command": "/x --token {CANARY}", {env}"#),
        r#""command": "server", "cwd": "/${VARIABLE}""#.to_owned(),
    ];
    for fields in cases {
        let world = World::new()
            .with_variable("VARIABLE", CANARY)
            .with_credential(&format!("https://other.example/?{CANARY}"), None)
            .with_own(&fields);
        if let Ok(Some(credential)) = &mut *world.store.0.lock().unwrap() {
            credential.credential.token = wharf_config::Secret::new(CANARY);
        }
        let rendered = render_all(&world).await;
        assert!(!rendered.contains(CANARY), "{fields}\n{rendered}");
    }
}

#[tokio::test]
async fn debug_output_of_a_command_hides_it_and_its_output() {
    let world = World::new();
    let command = wharf_config::Secret::new(format!("echo {CANARY}"));
    let key = CommandKey { folder: world.root.clone(), command };
    let value = CommandCache::new(Arc::new(world.env.clone())).value(&key).await;
    let rendered = format!("{key:?} {value:?}");
    assert!(value.is_ok() && !rendered.contains(CANARY), "{rendered}");
}

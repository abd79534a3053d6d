//! Tests of trust: which definitions need a decision, and which changes need a new one.

use insta::assert_snapshot;
use wharf_config::DefinitionState;
use wharf_config::trust::{Trust, TrustStore, TrustSubject};

use crate::world::{CANARY, World};

const FILE: &str = ".cursor/mcp.json";

fn file(entry: &str) -> String {
    format!("{{ \"mcpServers\": {{ \"a\": {entry} }} }}")
}

fn trust_of(world: &World) -> Trust {
    world.load().winner("a").expect("the server").trust.clone()
}

/// Renders the differences from the accepted definition.
fn differences(world: &World) -> String {
    let Trust::Changed(differences) = trust_of(world) else {
        return format!("{:?}\n", trust_of(world));
    };
    let or_nothing = |text: Option<String>| text.unwrap_or("nothing".to_owned());
    let lines = differences.into_iter().map(|own| {
        let (before, after) = (or_nothing(own.before), or_nothing(own.after));
        world.without_root(&format!("{}: {before} → {after}\n", own.field))
    });
    lines.collect()
}

/// Renders the differences after an accepted entry is replaced by another one.
fn change(before: &str, after: &str) -> String {
    let world = World::new().with(FILE, file(before));
    world.trust(&["a"]);
    assert_eq!(trust_of(&world), Trust::Accepted, "{before}");
    world.write(FILE, file(after));
    differences(&world)
}

#[test]
fn a_definition_is_unknown_then_trusted_then_changed_then_trusted_again() {
    let world = World::new().with(FILE, file(r#"{ "command": "x" }"#));
    let state = |world: &World| {
        let catalog = world.load();
        let server = catalog.winner("a").expect("the server");
        format!("{:?} {}", server.trust, server.state.word())
    };
    let mut states = vec![state(&world)];
    world.trust(&["a"]);
    states.push(state(&world));
    world.write(FILE, file(r#"{ "command": "y" }"#));
    states.push(state(&world));
    world.trust(&["a"]);
    states.push(state(&world));
    assert_snapshot!(states.join("\n"), @r#"
    Unknown untrusted
    Accepted enabled
    Changed([FingerprintDifference { field: "command", before: Some("x"), after: Some("y") }]) untrusted
    Accepted enabled
    "#);
}

#[test]
fn a_change_of_any_field_needs_trust_again() {
    let stdio = r#"{ "command": "x", "args": ["-y", "package"] }"#;
    let cases = [
        (stdio, r#"{ "command": "y", "args": ["-y", "package"] }"#),
        (stdio, r#"{ "command": "x", "args": ["-y", "other"] }"#),
        (stdio, r#"{ "command": "x", "args": ["-y"] }"#),
        (stdio, r#"{ "command": "x", "args": ["-y", "package", "more"] }"#),
        (stdio, r#"{ "command": "x", "args": ["-y", "package"], "cwd": "/tmp" }"#),
        (stdio, r#"{ "command": "x", "args": ["-y", "package"], "env": { "A": "1" } }"#),
        (
            r#"{ "command": "x", "env": { "A": "1" } }"#,
            r#"{ "command": "x", "env": { "A": "2" } }"#,
        ),
        (r#"{ "url": "https://a.example/mcp" }"#, r#"{ "url": "https://b.example/mcp" }"#),
        (r#"{ "url": "https://a.example/mcp?k=1" }"#, r#"{ "url": "https://a.example/mcp?k=2" }"#),
        (
            r#"{ "url": "https://a.example", "headers": { "Authorization": "1" } }"#,
            r#"{ "url": "https://a.example", "headers": { "Authorization": "2" } }"#,
        ),
        (
            r#"{ "command": "x", "args": ["--token", "1"] }"#,
            r#"{ "command": "x", "args": ["--token", "2"] }"#,
        ),
        (r#"{ "command": "x", "timeout": 1 }"#, r#"{ "command": "x", "timeout": "1" }"#),
        (r#"{ "command": "x" }"#, r#"{ "command": "x", "whatever": { "it": [true, null] } }"#),
    ];
    let rendered = cases.map(|(before, after)| change(before, after));
    assert_snapshot!(rendered.join("\n"), @"
    command: x → y

    args[1]: package → other

    args[1]: package → nothing

    args[2]: nothing → more

    cwd: nothing → /tmp

    env.A: nothing → •••

    env.A: ••• → •••

    url: https://a.example/mcp → https://b.example/mcp

    url: ••• → •••

    headers.Authorization: ••• → •••

    args[1]: ••• → •••

    timeout: =1 → 1

    whatever.it[0]: nothing → =true
    whatever.it[1]: nothing → =null
    ");
}

#[test]
fn an_empty_list_or_object_differs_from_a_missing_one() {
    let tools = r#"{ "command": "x", "tools": [] }"#;
    assert_snapshot!(change(tools, r#"{ "command": "x" }"#), @"tools: =[] → nothing");
    assert_snapshot!(change(r#"{ "command": "x", "env": {} }"#, r#"{ "command": "x" }"#), @"env: ={} → nothing");
}

#[test]
fn a_crafted_key_cannot_imitate_another_field() {
    let trusted = r#"{ "command": "sh", "args": ["-c", "true"], "env": { "A": "1" } }"#;
    let forged = [
        r#"{ "command": "sh", "args": ["-c", "evil"], "args[1]": "true", "env": { "A": "1" } }"#,
        r#"{ "command": "sh", "args": ["-c", "evil"], "": { "args[1]": "true" }, "env": { "A": "1" } }"#,
        r#"{ "command": "evil", "": { "command": "sh" }, "args": ["-c", "true"], "env": { "A": "1" } }"#,
        r#"{ "command": "sh", "args": ["-c", "true"], "env": { "A": "evil", "": { "A": "1" } } }"#,
        r#"{ "command": "sh", "args": ["-c", "true"], "env": { "A": "evil" }, "env.A": "1" }"#,
        r#"{ "command": "sh", "args[0]": "-c", "args[1]": "true", "env": { "A": "1" } }"#,
        r#"{ "command": "sh", "args": { "[0]": "-c", "[1]": "true" }, "env": { "A": "1" } }"#,
    ];
    for forged in forged {
        let rendered = change(trusted, forged);
        assert!(!rendered.contains("Given"), "accepted as the trusted one: {forged}");
    }
}

#[test]
fn a_crafted_string_cannot_imitate_another_type() {
    for value in ["5", "true", "null", "[]", "{}"] {
        for (before, after) in
            [(value, format!("\"={value}\"")), ("\"=5\"", "\"=\\\"=5\\\"\"".into())]
        {
            let plain = |value: &str| format!("{{ \"command\": \"x\", \"args\": {value} }}");
            let rendered = change(&plain(before), &plain(&after));
            assert!(!rendered.contains("Given"), "{before} may become {after}");
            let hashed =
                |value: &str| format!("{{ \"command\": \"x\", \"env\": {{ \"A\": {value} }} }}");
            let rendered = change(&hashed(before), &hashed(&after));
            assert!(!rendered.contains("Given"), "the secret {before} may become {after}");
        }
    }
}

#[test]
fn a_change_of_formatting_keeps_trust() {
    let world = World::new().with(FILE, file(r#"{ "command": "x", "args": ["1"] }"#));
    world.trust(&["a"]);
    world.write(
        FILE,
        "{ // moved\n\"mcpServers\": {\n\"b\": {},\n\"a\": { \"args\": [\"1\",], \"command\": \"x\" }\n} }",
    );
    assert_eq!(trust_of(&world), Trust::Accepted);
}

#[test]
fn the_same_definition_in_another_place_needs_trust_again() {
    let entry = file(r#"{ "command": "x" }"#);
    let world = World::new().with(FILE, &entry);
    world.trust(&["a"]);
    let renamed = entry.replace("\"a\"", "\"b\"");
    world.write(FILE, &renamed);
    assert_eq!(world.load().winner("b").expect("the server").state, DefinitionState::Untrusted);
    world.write(FILE, "{}");
    world.write(".mcp.json", &entry);
    assert_eq!(trust_of(&world), Trust::Unknown);
    world.write("sub/.cursor/mcp.json", &entry);
    let below = world.working_in("sub");
    assert_eq!(trust_of(&below), Trust::Unknown);
}

#[test]
fn changed_contents_of_an_environment_file_need_trust_again() {
    let world = World::new()
        .with(FILE, file(r#"{ "command": "x", "envFile": "${workspaceFolder}/.env" }"#))
        .with(".env", format!("TOKEN={CANARY}\n"));
    world.trust(&["a"]);
    assert_eq!(trust_of(&world), Trust::Accepted);
    world.write(".env", format!("TOKEN={CANARY}\nPATH=/evil\n"));
    assert_snapshot!(differences(&world), @"contents of ${workspaceFolder}/.env: ••• → •••");
    std::fs::remove_file(world.path(".env")).expect("a file");
    assert_snapshot!(differences(&world), @"contents of ${workspaceFolder}/.env: ••• → not readable");
}

#[test]
fn a_changed_file_in_a_placeholder_needs_trust_again() {
    #[track_caller]
    fn check(written: &str) {
        let world = World::new().with("run.txt", "echo one").with("~/token", CANARY);
        let written = written.replace("ROOT", &world.in_json(""));
        world.write(
            "opencode.json",
            format!(
                r#"{{ "mcp": {{ "a": {{ "type": "local", "command": ["sh", "-c", "{{file:{written}}}"],
                   "environment": {{ "T": "{{file:~/token}}" }} }} }} }}"#
            ),
        );
        world.trust(&["a"]);
        assert_eq!(trust_of(&world), Trust::Accepted);
        world.write("~/token", "another");
        assert_eq!(trust_of(&world), Trust::Accepted, "a user file may change");
        world.write("run.txt", "echo two");
        let changed = world.without_root(&format!("contents of {written}: ••• → •••\n"));
        assert_eq!(differences(&world), changed);
    }
    check("run.txt");
    check("ROOT/run.txt");
    check("ROOT/../project/run.txt");
}

#[cfg(unix)]
#[test]
fn a_repository_file_is_recognized_under_every_path() {
    use std::os::unix::fs::symlink;

    /// Accepts an entry in a folder of the repository, then changes the file at its root.
    #[track_caller]
    fn check(named: &str) {
        let world = World::new().with("run.txt", "echo one").working_in("sub");
        let root = world.path("").to_string_lossy().trim_end_matches('/').to_owned();
        symlink(world.path("run.txt"), world.path("sub/link.txt")).expect("a link");
        symlink(&root, world.path("~/project")).expect("a link");
        let named = named.replace("ROOT", &root);
        world.write(
            "sub/opencode.json",
            format!(r#"{{ "mcp": {{ "a": {{ "command": ["sh", "-c", "{{file:{named}}}"] }} }} }}"#),
        );
        world.trust(&["a"]);
        assert_eq!(trust_of(&world), Trust::Accepted, "{named}");
        world.write("run.txt", "echo two");
        assert!(differences(&world).contains(": ••• → •••"), "{named}: {}", differences(&world));
    }
    check("../run.txt");
    check("ROOT/run.txt");
    check("ROOT/sub/../run.txt");
    check("link.txt");
    check("~/project/run.txt");
    check("~/../project/run.txt");
    if cfg!(target_os = "linux") {
        let here = std::env::current_dir().expect("a folder");
        let up = "../".repeat(here.components().count());
        check(&format!("/proc/self/cwd/{up}/ROOT/run.txt"));
        check("/proc/self/rootROOT/run.txt");
    }
}

#[cfg(unix)]
#[test]
fn the_target_of_a_repository_symlink_is_in_the_fingerprint() {
    use std::os::unix::fs::symlink;

    let world = World::new()
        .with(FILE, file(r#"{ "command": "x", "envFile": "vars" }"#))
        .with("~/one.env", "A=1")
        .with("~/two.env", "A=1");
    symlink(world.path("~/one.env"), world.path("vars")).expect("a link");
    world.trust(&["a"]);
    assert_eq!(trust_of(&world), Trust::Accepted);
    std::fs::remove_file(world.path("vars")).expect("a link");
    symlink(world.path("~/two.env"), world.path("vars")).expect("a link");
    assert_snapshot!(differences(&world), @"real path of vars: ~/one.env → ~/two.env");
}

#[cfg(unix)]
#[test]
fn a_changed_symlink_to_the_program_needs_trust_again() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let world = World::new().with(FILE, file(r#"{ "command": "./tool" }"#));
    for place in ["/one", "/two"] {
        world.write(place, "#!/bin/sh\n");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.path(place), mode).expect("a mode");
    }
    symlink(world.path("/one"), world.path("tool")).expect("a link");
    world.trust(&["a"]);
    assert_eq!(trust_of(&world), Trust::Accepted);
    std::fs::remove_file(world.path("tool")).expect("a link");
    symlink(world.path("/two"), world.path("tool")).expect("a link");
    assert_snapshot!(differences(&world), @"program path behind the link: [root]/system/one → [root]/system/two");
}

#[cfg(unix)]
#[test]
fn a_changed_symlink_in_cwd_or_arguments_needs_trust_again() {
    use std::os::unix::fs::symlink;

    #[track_caller]
    fn check(entry: &str, field: &str) {
        let world = World::new().with(FILE, file(entry));
        for place in ["/one/x", "/two/x"] {
            world.write(place, "");
        }
        symlink(world.path("/one"), world.path("data")).expect("a link");
        world.trust(&["a"]);
        assert_eq!(trust_of(&world), Trust::Accepted);
        std::fs::remove_file(world.path("data")).expect("a link");
        symlink(world.path("/two"), world.path("data")).expect("a link");
        let expected = format!("{field} behind the link: [root]/system/one → [root]/system/two\n");
        assert_eq!(differences(&world), expected, "{entry}");
    }
    check(r#"{ "command": "x", "cwd": "data" }"#, "cwd");
    check(r#"{ "command": "x", "args": ["-y", "./data"] }"#, "args[1]");
    check(r#"{ "command": "x", "args": ["--root=data"] }"#, "args[0]");
}

#[test]
fn a_script_that_prints_a_value_is_in_the_fingerprint() {
    #[track_caller]
    fn check(command: &str) {
        let entry = format!(
            r#"{{ "mcpServers": {{ "a": {{ "command": "x", "env": {{ "T": "!{command}" }} }} }} }}"#
        );
        let world = World::new().with(".wharf/mcp.json", entry).with("sub/token.sh", "echo one");
        world.trust(&["a"]);
        assert_eq!(trust_of(&world), Trust::Accepted);
        world.write("sub/token.sh", "echo two");
        assert!(matches!(trust_of(&world), Trust::Changed(_)), "{command}");
    }
    check("sub/token.sh");
    check("sh ./sub/token.sh --once");
    check("cd sub && ./token.sh|cat");
    check("sh -c 'x=$(sub/token.sh); echo $x'");
}

#[test]
fn files_in_every_expanded_field_are_in_the_fingerprint() {
    #[track_caller]
    fn check(field: &str) {
        let world = World::new().with("value.txt", "one");
        let entry = format!(
            r#"{{ "mcp": {{ "a": {{ "type": "remote", "url": "https://a.example", {field} }} }} }}"#
        );
        world.write("opencode.json", entry);
        world.trust(&["a"]);
        world.write("value.txt", "two");
        assert!(matches!(trust_of(&world), Trust::Changed(_)), "{field}");
    }
    check(r#""headers": { "A": "{file:value.txt}" }"#);
    check(r#""oauth": { "clientId": "{file:value.txt}" }"#);
    check(r#""oauth": { "clientSecret": "x{file:value.txt}" }"#);
    check(r#""oauth": { "scope": "{file:value.txt}" }"#);
    check(r#""oauth": { "redirectUri": "{file:value.txt}" }"#);
}

#[test]
fn a_difference_names_the_variables() {
    let before = r#"{ "url": "https://a.example", "headers": { "Authorization": "Bearer ${A}", "B": "x-${A:-s3cret}" } }"#;
    let after = r#"{ "url": "https://a.example", "headers": { "Authorization": "Bearer ${AWS_KEY}", "B": "y" } }"#;
    let world = World::new().with(".mcp.json", file(before));
    world.trust(&["a"]);
    world.write(".mcp.json", file(after));
    assert_snapshot!(differences(&world), @"
    headers.Authorization: Bearer ${A} → Bearer ${AWS_KEY}
    headers.B: •••${A:-•••} → •••
    ");
}

#[test]
fn accepting_saves_the_definition_as_it_was_shown() {
    let world = World::new()
        .with(FILE, file(r#"{ "command": "x", "envFile": ".env" }"#))
        .with(".env", "A=1\n");
    let catalog = world.load();
    let definition = &catalog.winner("a").expect("the server").definition;
    let subject = TrustSubject::of(definition, &world.env);
    world.write(".env", "A=1\nLD_PRELOAD=/evil\n");
    let (mut store, _) = TrustStore::load(&world.env);
    store.accept(&subject);
    store.save().expect("a file");
    assert_snapshot!(differences(&world), @"contents of .env: ••• → •••");
}

#[test]
fn a_refusal_applies_only_to_the_refused_definition() {
    let world = World::new().with(FILE, file(r#"{ "command": "x" }"#));
    let refuse = |world: &World| {
        let catalog = world.load();
        let (mut store, _) = TrustStore::load(&world.env);
        let definition = &catalog.winner("a").expect("the server").definition;
        store.refuse(&TrustSubject::of(definition, &world.env));
        store.save().expect("a file");
    };
    refuse(&world);
    assert_eq!(trust_of(&world), Trust::Refused);
    assert_eq!(world.load().winner("a").expect("the server").state, DefinitionState::Untrusted);
    let (store, _) = TrustStore::load(&world.env);
    assert!(!store.trusts_folder(&[world.path("").components().collect()]));
    world.write(FILE, file(r#"{ "command": "y" }"#));
    assert_eq!(trust_of(&world), Trust::Unknown, "another entry needs a decision");
    world.trust(&["a"]);
    assert_eq!(trust_of(&world), Trust::Accepted, "accepting replaces a refusal");
    world.write(FILE, file(r#"{ "command": "z" }"#));
    assert_snapshot!(differences(&world), @"command: y → z");
    refuse(&world);
    assert_eq!(trust_of(&world), Trust::Refused);
    world.write(FILE, file(r#"{ "command": "y" }"#));
    assert_eq!(trust_of(&world), Trust::Accepted, "accepted content stays accepted");
}

#[test]
fn differences_are_shown_unexpanded() {
    let world = World::new()
        .with(FILE, file(r#"{ "command": "x", "envFile": "one.env" }"#))
        .with_variable("SECRET", CANARY);
    world.trust(&["a"]);
    world.write(FILE, file(r#"{ "command": "${env:SECRET}", "envFile": "${env:SECRET}.env" }"#));
    let rendered = differences(&world);
    assert!(!rendered.contains(CANARY), "{rendered}");
    assert_snapshot!(rendered, @"
    command: x → ${env:SECRET}
    contents of ${env:SECRET}.env: nothing → not readable
    contents of one.env: not readable → nothing
    envFile: one.env → ${env:SECRET}.env
    ");
}

#[cfg(unix)]
#[test]
fn another_program_on_the_search_path_needs_trust_again() {
    use std::os::unix::fs::PermissionsExt;

    let mut world = World::new().with(FILE, file(r#"{ "command": "tool" }"#));
    for place in ["/one/tool", "/two/tool", "tool"] {
        world.write(place, "#!/bin/sh\n");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.path(place), mode).expect("a mode");
    }
    let path = |world: &World, folders: [&str; 2]| {
        folders.map(|folder| world.path(folder).to_string_lossy().into_owned()).join(":")
    };
    // An empty or relative folder would mean the working folder, which also has a `tool`.
    let first = format!(".::{}", path(&world, ["/one", "/two"]));
    world = world.with_variable("PATH", &first);
    world.trust(&["a"]);
    assert_eq!(trust_of(&world), Trust::Accepted);
    let second = path(&world, ["/two", "/one"]);
    world = world.with_variable("PATH", &second);
    assert_snapshot!(differences(&world), @"program path: [root]/system/one/tool → [root]/system/two/tool");
}

#[cfg(unix)]
#[test]
fn the_fingerprint_has_the_program_that_would_be_started() {
    use std::os::unix::fs::PermissionsExt;

    #[track_caller]
    fn check(entry: &str, found: &str) {
        let world = World::new().with(FILE, file(entry)).with_variable("PLACE", "sub");
        for place in ["tool", "sub/tool"] {
            world.write(place, "#!/bin/sh\n");
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(world.path(place), mode).expect("a mode");
        }
        world.trust(&["a"]);
        assert_eq!(trust_of(&world), Trust::Accepted, "{entry}");
        std::fs::remove_file(world.path(found)).expect("a file");
        let changed = format!("program path: [project]/{found} → not found\n");
        assert_eq!(differences(&world).replace("/./", "/"), changed, "{entry}");
    }
    check(r#"{ "command": "./tool" }"#, "tool");
    check(r#"{ "command": "./tool", "cwd": "" }"#, "tool");
    check(r#"{ "command": "./tool", "cwd": "sub" }"#, "sub/tool");
    check(r#"{ "command": "./tool", "cwd": "${env:PLACE}" }"#, "sub/tool");
    check(r#"{ "command": "${workspaceFolder}/sub/tool" }"#, "sub/tool");
    check(r#"{ "command": "${workspaceFolder}/tool", "cwd": "sub" }"#, "tool");
}

#[test]
fn secrets_are_kept_only_as_hashes() {
    let world = World::new().with(
        FILE,
        file(&format!(
            r#"{{
  "command": "x",
  "args": ["--token", "{CANARY}", "--api-key={CANARY}", "https://u:{CANARY}@a.example/?k={CANARY}"],
  "env": {{ "LOG_LEVEL": "{CANARY}", "N": 1234567 }},
  "headers": {{ "X-Any": "{CANARY}" }},
  "oauth": {{ "clientSecret": "{CANARY}" }},
  "password": ["{CANARY}"]
}}"#
        )),
    );
    world.trust(&["a"]);
    let kept = std::fs::read_to_string(world.path("~/.wharf/trust.json")).expect("a file");
    assert!(!kept.contains(CANARY) && !kept.contains("1234567"), "{kept}");
    assert_eq!(trust_of(&world), Trust::Accepted);
}

#[cfg(unix)]
#[test]
fn the_trust_file_is_accessible_only_to_its_owner() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::new().with(FILE, file(r#"{ "command": "x" }"#));
    world.trust(&["a"]);
    let about = std::fs::metadata(world.path("~/.wharf/trust.json")).expect("a file");
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
}

#[test]
fn with_a_malformed_trust_file_nothing_is_trusted() {
    let world = World::new().with(FILE, file(r#"{ "command": "x" }"#));
    world.trust(&["a"]);
    world.write("~/.wharf/trust.json", format!("{{\n  \"key\": \"{CANARY}"));
    assert_snapshot!(world.show(), @"
    a: untrusted stdio, cursor project [project]/.cursor/mcp.json:1
    error trust-store ~/.wharf/trust.json:2: the trust file is malformed; nothing is trusted (correct the file, or delete it and trust again)
    ");
    world.write("~/.wharf/trust.json", [0xff]);
    assert_snapshot!(world.show(), @r#"
    a: untrusted stdio, cursor project [project]/.cursor/mcp.json:1
    error not-utf8 ~/.wharf/trust.json:1: "trust.json" is not valid UTF-8 (line 1) (save it as UTF-8; line 1 is not)
    "#);
}

#[test]
fn nothing_of_an_untrusted_definition_is_expanded() {
    let mut world = World::new()
        .with(
            FILE,
            file(
                r#"{ "command": "${env:SECRET}", "args": ["${workspaceFolder}", "${env:NOBODY}"],
                     "env": { "A": "${env:SECRET}" }, "envFile": ".env" }"#,
            ),
        )
        .with(".env", "B=2\n")
        .with_variable("SECRET", CANARY);
    let catalog = world.load();
    let server = catalog.winner("a").expect("the server");
    assert!(server.spec.is_none() && server.uses.is_empty() && server.problems.is_empty());
    let fields = &server.definition.fields;
    let command = fields.command.as_ref().map(|command| command.text.as_str());
    assert_eq!(command, Some("${env:SECRET}"));
    world.options.trust_project = true;
    let catalog = world.load();
    let server = catalog.winner("a").expect("the server");
    let uses: Vec<String> =
        server.uses.iter().map(|own| format!("{} in {}", own.used.variable, own.field)).collect();
    assert_snapshot!(uses.join("\n"), @"
    SECRET in command
    workspaceFolder in args[0]
    NOBODY in args[1]
    SECRET in env.A
    ");
}

#[test]
fn user_files_need_no_trust() {
    let world = World::new().with("~/.cursor/mcp.json", file(r#"{ "command": "x" }"#));
    assert_eq!(trust_of(&world), Trust::NotNeeded);
}

#[test]
fn trusting_a_folder_trusts_no_definition_in_it() {
    let world = World::new().with(FILE, file(r#"{ "command": "x" }"#));
    let folders = [world.path("")];
    let folders = folders.map(|folder| folder.components().collect());
    let (mut store, _) = TrustStore::load(&world.env);
    assert!(!store.trusts_folder(&folders));
    store.accept_folder(&folders[0]);
    store.save().expect("a file");
    let (mut store, _) = TrustStore::load(&world.env);
    assert!(store.trusts_folder(&folders));
    assert_eq!(trust_of(&world), Trust::Unknown);
    assert!(store.revoke_folder(&folders[0]));
    assert!(!store.revoke_folder(&folders[0]));
    assert!(!store.trusts_folder(&folders));
}

#[test]
fn trust_can_be_revoked() {
    let world = World::new().with(
        FILE,
        r#"{ "mcpServers": { "a": { "command": "x" }, "b": { "command": "y" }, "c": { "command": "z" } } }"#,
    );
    let folders: [std::path::PathBuf; 1] = [world.path("").components().collect()];
    world.trust(&["a", "b", "c"]);
    let (mut store, _) = TrustStore::load(&world.env);
    assert!(store.trusts_folder(&folders), "a trusted definition is enough");
    assert!(store.revoke("a", &folders));
    assert!(!store.revoke("a", &folders));
    assert_eq!(store.revoke_all(&folders), ["b", "c"]);
    store.save().expect("a file");
    let catalog = world.load();
    assert!(catalog.servers.iter().all(|server| server.trust == Trust::Unknown));
}

#[test]
fn a_changed_headers_helper_needs_trust_again() {
    let entry = r#"{ "mcpServers": { "api": { "url": "https://h.example", "headersHelper": "sh scripts/h.sh" } } }"#;
    let world = World::new().with(".wharf/mcp.json", entry).with("scripts/h.sh", "echo one");
    world.trust(&["api"]);
    assert!(world.load().winner("api").is_some_and(|own| own.trust.allows_use()));
    world.write("scripts/h.sh", "echo two");
    assert!(world.load().winner("api").is_some_and(|own| !own.trust.allows_use()));
}

//! Tests of values: commands, variables and literals, and the messages for unresolved ones.

#[cfg(feature = "http")]
use insta::assert_snapshot;

use super::World;

/// Resolves the variable `V` of a program.
async fn check(written: &str, expected: &str) {
    let world = World::new()
        .with_variable("TOKEN", "from variable")
        .with_variable("EMPTY", "")
        .with_own(&format!(r#""command": "server", "env": {{ "V": {written:?} }}"#));
    let rendered = world.show_launch(&["V"]).await;
    let (_, rendered) = rendered.split_once('\n').unwrap();
    assert_eq!(rendered, expected, "{written}");
}

#[tokio::test]
async fn a_value_is_a_command_a_variable_or_a_literal() {
    check("TOKEN", "V=from variable").await;
    check("EMPTY", "V=EMPTY").await;
    check("UNKNOWN", "V=UNKNOWN").await;
    check("", "V=").await;
    check("a ${TOKEN}", "V=a from variable").await;
    check("${NOT_SET:-!echo x}", "V=!echo x").await;
    check("!echo ' two  words '", "V=two  words").await;
    check("!echo $TOKEN", "V=from variable").await;
    check("!pwd", "V=[root]/home").await;
}

#[tokio::test]
async fn a_command_of_a_trusted_project_runs_in_its_folder() {
    let world = World::new().with_project(r#""command": "server", "env": { "V": "!pwd" }"#);
    let rendered = world.show_launch(&["V"]).await;
    assert_eq!(rendered, "bin/server in project\nV=[root]/project");
}

#[tokio::test]
async fn a_placeholder_without_a_value_stays_as_written() {
    check("a ${NOT_SET}", "V=a ${NOT_SET}").await;
}

#[tokio::test]
async fn an_unresolved_value_is_omitted_with_its_reason() {
    let check = async |command: &str, why: &str| {
        check(command, &format!("V=(not set)\nenv \"V\" left out: {why}")).await;
    };
    check("!exit 1", "command exited 1").await;
    check("!echo half; exit 3", "command exited 3").await;
    check("!no-such-program-anywhere", "command exited 127").await;
    check("!kill -9 $$", "command was ended by signal 9").await;
    check("!true", "command printed nothing").await;
    check("!echo; echo ' '", "command printed nothing").await;
    check("!head -c 70000 /dev/zero", "command printed more than 64 KiB").await;
    check("!printf '\\377'", "the output of the command is not UTF-8").await;
    check("!printf 'a\\0b'", "its value has a zero byte").await;
}

#[cfg(feature = "http")]
#[tokio::test]
async fn the_warning_names_the_place_and_the_remedy() {
    let world = World::new()
        .with_own(r#""url": "https://a.example", "headers": { "Authorization": "!exit 1" }"#);
    let resolved = world.resolve().await.unwrap();
    let rendered = serde_json::to_string_pretty(&resolved.omissions).unwrap();
    assert_snapshot!(world.without_root(&rendered), @r#"
    [
      {
        "severity": "warning",
        "code": "omitted-value",
        "server": "a",
        "field": "headers.Authorization",
        "path": "[root]/home/.wharf/mcp.json",
        "line": 1,
        "message": "header \"Authorization\" left out: command exited 1",
        "hint": "run the command by hand to see its output"
      }
    ]
    "#);
}

#[tokio::test]
async fn a_strict_entry_is_an_error_instead() {
    let check = async |value: &str, expected: &str| {
        let fields = r#""strict": true, "command": "server", "env": { "V": "#;
        let world = World::new().with_own(&format!("{fields}{value:?} }}"));
        let error = world.resolve().await.unwrap_err();
        assert_eq!(format!("{error} ({})", error.hint()), expected);
    };
    let hint = "(correct \"env.V\", or remove \"strict\" to go on without it)";
    check("!exit 1", &format!("env \"V\" cannot be resolved: command exited 1 {hint}")).await;
    let expected = "env \"V\" cannot be resolved: a placeholder in it has no value";
    check("${NOT_SET}", &format!("{expected} {hint}")).await;
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_missing_folder_is_named_as_the_reason() {
    let world =
        World::new().with_own(r#""url": "https://a.example", "headers": { "A": "!echo x" }"#);
    let mut trusted = (*world.trusted()).clone();
    trusted.command_folder = world.root.join("gone");
    let resolved = world.resolver().resolve(&trusted.into()).await.unwrap();
    assert_snapshot!(world.without_root(&resolved.omissions[0].message), @r#"header "A" left out: command could not be started: program `/bin/sh` cannot run in [root]/gone, which is not a folder"#);
}

//! Errors of `wharf add`: each is explained, and nothing is changed.

use insta::assert_snapshot;

use crate::world::World;

/// Runs a command that must fail and create no file.
#[track_caller]
fn refused(words: &[&str]) -> String {
    let world = World::new().with_probe();
    let rendered = world.run_words(words);
    assert!(!world.path("project/.wharf").exists(), "{rendered}");
    assert!(!world.path("home/.wharf/mcp.json").exists(), "{rendered}");
    assert!(!world.path("home/.wharf/credentials.json").exists(), "{rendered}");
    rendered
}

fn line(line: &str) -> String {
    refused(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn conflicting_arguments_are_refused() {
    assert_snapshot!(line("add a --url https://a.example -- npx"), @"
    exit 2
    --- stderr
    error: Use either --url or -- <command...>, not both.
      hint: keep one of them
    ");
    assert_snapshot!(line("add a --token abc -- npx"), @"
    exit 2
    --- stderr
    error: --token requires --url (HTTP/SSE transport).
      hint: pass a token to a local server with --env
    ");
    assert_snapshot!(line("add a --token abc"), @r#"
    exit 2
    --- stderr
    error: Server "a" not found; to add it, --token requires --url (HTTP/SSE transport).
      hint: give the server's address with --url
    "#);
    assert_snapshot!(line("add a"), @"
    exit 2
    --- stderr
    error: no server was given
      hint: give --url URL for a remote server, or -- COMMAND… for a local one
    ");
    assert_snapshot!(line("add a --json"), @r#"
    exit 2
    --- stdout
    {
      "ok": false,
      "error": {
        "code": "usage",
        "message": "no server was given",
        "hint": "give --url URL for a remote server, or -- COMMAND… for a local one"
      }
    }
    --- stderr
    error: no server was given
      hint: give --url URL for a remote server, or -- COMMAND… for a local one
    "#);
    assert_snapshot!(line("add a --"), @"
    exit 2
    --- stderr
    error: no server was given
      hint: give --url URL for a remote server, or -- COMMAND… for a local one
    ");
    assert_snapshot!(line("add a --header X=y -- npx"), @"
    exit 2
    --- stderr
    error: --header and --transport require --url
      hint: use --env for a local server
    ");
    assert_snapshot!(line("add a --transport sse -- npx"), @"
    exit 2
    --- stderr
    error: --header and --transport require --url
      hint: use --env for a local server
    ");
    assert_snapshot!(line("add a --env X=y --url https://a.example"), @"
    exit 2
    --- stderr
    error: --env requires -- <command...>
      hint: use --header for a remote server
    ");
    assert_snapshot!(line("add a --env X -- npx"), @"
    exit 2
    --- stderr
    error: --env takes NAME=VALUE
      hint: write the name, an equals sign and the value
    ");
    assert_snapshot!(line("add a --env =x -- npx"), @"
    exit 2
    --- stderr
    error: --env takes NAME=VALUE
      hint: write the name, an equals sign and the value
    ");
    assert_snapshot!(line("add a --header X --url https://a.example"), @"
    exit 2
    --- stderr
    error: --header takes NAME=VALUE
      hint: write the name, an equals sign and the value
    ");
}

#[test]
fn parser_errors_are_reported() {
    assert_snapshot!(line("add"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <NAME>

    Usage: wharf add <NAME> [-- <COMMAND>...]

    For more information, try '--help'.
    ");
    assert_snapshot!(line("add a npx"), @"
    exit 2
    --- stderr
    error: the command of a server comes after `--`

      tip: wharf add a -- npx

    Usage: wharf add [OPTIONS] <NAME> [-- <COMMAND>...]

    For more information, try '--help'.
    ");
    assert_snapshot!(line("add a --transport ws --url https://a.example"), @"
    exit 2
    --- stderr
    error: invalid value 'ws' for '--transport <KIND>'
      [possible values: http, sse]

    For more information, try '--help'.
    ");
}

#[test]
fn a_token_must_be_one_word() {
    assert_snapshot!(refused(&["add", "a", "--url", "https://a.example", "--token", ""]), @"
    exit 2
    --- stderr
    error: --token takes one word
      hint: give the token, without spaces
    ");
    assert_snapshot!(refused(&["add", "a", "--url", "https://a.example", "--token", "a b"]), @"
    exit 2
    --- stderr
    error: --token takes one word
      hint: give the token, without spaces
    ");
    assert_snapshot!(line("add a --url https://a.example --token -"), @r#"
    exit 2
    --- stderr
    error: there is no token on the standard input
      hint: for example: `printf %s "$TOKEN" | wharf add NAME --url URL --token -`
    "#);
}

#[test]
fn server_names_are_validated() {
    let long = "x".repeat(101);
    assert_snapshot!(refused(&["add", "", "--", "npx"]), @"
    exit 1
    --- stderr
    error: Server name cannot be empty
    ");
    assert_snapshot!(refused(&["add", &long, "--", "npx"]), @"
    exit 1
    --- stderr
    error: Server name is too long (max 100 characters)
    ");
    assert_snapshot!(refused(&["add", "a b", "--", "npx"]), @"
    exit 1
    --- stderr
    error: Server name can only contain letters, numbers, dash, underscore and dot
    ");
    assert_snapshot!(refused(&["add", "a/b", "--", "npx"]), @"
    exit 1
    --- stderr
    error: Server name can only contain letters, numbers, dash, underscore and dot
    ");
    assert_snapshot!(refused(&["add", "a\u{1b}[31m", "--", "npx"]), @"
    exit 1
    --- stderr
    error: Server name can only contain letters, numbers, dash, underscore and dot
    ");
}

#[test]
fn an_invalid_entry_is_refused() {
    assert_snapshot!(line("add a --url a.example"), @r#"
    exit 1
    --- stderr
    error: Invalid server config: "url" must start with http://, https:// or unix://
      hint: write the whole address, such as https://example.com/mcp
    "#);
    assert_snapshot!(refused(&["add", "a", "--url", ""]), @r#"
    exit 1
    --- stderr
    error: Invalid server config: http server requires "url"
      hint: add "url" with the server's address
    "#);
    assert_snapshot!(refused(&["add", "a", "--", ""]), @r#"
    exit 1
    --- stderr
    error: Invalid server config: stdio server requires "command"
      hint: add "command" (the program to start), or "url" for a remote server
    "#);
}

#[test]
fn a_malformed_file_is_not_changed() {
    let broken = "{ \"mcpServers\": {\n  \"a\": s3cret\n";
    let world = World::new().home(".wharf/mcp.json", broken);
    assert_snapshot!(world.run("add b --scope user -- npx"), @"
    exit 1
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file has a syntax error (line 2)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 2, column 8 first; the file was not changed
    ");
    assert_snapshot!(world.run("add b --scope user --url https://b.example --token abc --json"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "b",
      "message": "could not edit ~/.wharf/mcp.json",
      "error": {
        "code": "file",
        "message": "could not edit ~/.wharf/mcp.json: the file has a syntax error (line 2): a string must be in double quotes; only `true`, `false` and `null` are unquoted",
        "hint": "correct line 2, column 8 first; the file was not changed",
        "path": "~/.wharf/mcp.json"
      }
    }
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file has a syntax error (line 2)
      cause: a string must be in double quotes; only `true`, `false` and `null` are unquoted
      hint: correct line 2, column 8 first; the file was not changed
    "#);
    assert_eq!(world.read("home/.wharf/mcp.json"), broken);
    assert!(!world.read("home/.wharf/credentials.json").contains("abc"));
    let world = World::new().home(".wharf/mcp.json", "{ \"mcpServers\": [] }");
    assert_snapshot!(world.run("add b --scope user -- npx"), @"
    exit 1
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: `mcpServers` is a list, not an object (line 1)
      hint: make `mcpServers` an object, or remove it
    ");
    let world = World::new().home(".wharf/mcp.json", "[]");
    assert_snapshot!(world.run("add b --scope user -- npx"), @"
    exit 1
    --- stderr
    error: could not edit ~/.wharf/mcp.json
      cause: the file is a list, not an object (line 1)
      hint: the file must hold one object with keys
    ");
}

#[test]
fn a_path_that_cannot_be_written_is_named() {
    let world = World::new().project(".wharf", "a file");
    assert_snapshot!(world.run("add a -- npx"), @r#"
    exit 1
    --- stderr
    error: "[project]/.wharf/mcp.json" cannot be written
      cause: File exists (os error 17)
      hint: "[project]/.wharf" must be a folder; move away what is there
    "#);
    assert_snapshot!(world.run("add a --url https://a.example --token abc"), @r#"
    exit 1
    --- stderr
    error: "[project]/.wharf/mcp.json" cannot be written
      cause: File exists (os error 17)
      hint: "[project]/.wharf" must be a folder; move away what is there
    "#);
    assert_eq!(world.read("project/.wharf"), "a file");
    assert!(!world.read("home/.wharf/credentials.json").contains("abc"));
    let world = World::new().home(".wharf", "a file");
    assert_snapshot!(world.run("add a --scope user -- npx"), @r#"
    exit 1
    --- stderr
    error: "~/.wharf/run/write.lock" cannot be locked
      cause: Not a directory (os error 20)
      hint: "~/.wharf" must be a folder; move away what is there
    "#);
    assert_snapshot!(world.run("add a -- npx"), @r#"
    exit 1
    --- stderr
    error: "~/.wharf/run/write.lock" cannot be locked
      cause: Not a directory (os error 20)
      hint: "~/.wharf" must be a folder; move away what is there
    "#);
    assert_eq!(world.read("home/.wharf"), "a file");
    assert!(!world.path("project/.wharf").exists());
    let world = World::new().project("file", "a file");
    let below = world.path("project/file/below").display().to_string();
    let world = world.variable("WHARF_HOME", &below);
    assert_snapshot!(world.run("add a --json -- npx"), @r#"
    exit 1
    --- stdout
    {
      "ok": false,
      "name": "a",
      "message": "\"[project]/file/below/run/write.lock\" cannot be locked",
      "error": {
        "code": "file",
        "message": "\"[project]/file/below/run/write.lock\" cannot be locked: Not a directory (os error 20)",
        "hint": "\"[project]/file/below\" must be a folder; move away what is there"
      }
    }
    --- stderr
    error: "[project]/file/below/run/write.lock" cannot be locked
      cause: Not a directory (os error 20)
      hint: "[project]/file/below" must be a folder; move away what is there
    "#);
    assert!(!world.path("project/.wharf").exists());
    let world = World::new().home(".wharf/mcp.json/folder", "");
    assert_snapshot!(world.run("add a --scope user -- npx"), @r#"
    exit 1
    --- stderr
    error: "~/.wharf/mcp.json" is a folder, not a file
      hint: move it away, or put a file in its place
    "#);
}

#[test]
fn without_a_home_folder_nothing_is_added() {
    let world = World::new();
    let mut command = world.command(&["add", "a", "--", "npx"]);
    command.env_remove("HOME");
    assert_snapshot!(world.render(&command.output().unwrap()), @"
    exit 1
    --- stderr
    error: there is no home folder for Wharf's files
      hint: set HOME, or WHARF_HOME to a folder of yours
    ");
}

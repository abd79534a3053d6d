//! Help, usage errors, version, completion scripts, the manual page, and a closed stdout.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn without_a_verb_there_is_help_and_exit_code_2() {
    assert_snapshot!(World::new().run(""), @"
    exit 2
    --- stderr
    Find, check, use and manage the MCP servers of every program on this machine

    Usage: wharf [OPTIONS] <COMMAND>

    Common:
      list         List the servers of all programs [alias: ls]
      tools        List the tools of your servers
      call         Call a tool
      add          Add a server to one of Wharf's own files
      doctor       Find problems, and say how to fix them

    Inspect:
      status       Show which servers are ready to start
      test         Connect to one server, and show the result
      get          Show one server's entry
      explain      Explain why a server is or is not used
      resources    List the resources of your servers
      prompts      List the prompts of your servers
      logs         Show what a server wrote to its error output

    Use:
      read         Read a resource
      prompt       Fill in a prompt, and print the resulting messages
      reconnect    Reconnect to a server

    Sign in:
      login        Sign in to a server [alias: reauth]
      logout       Sign out of a server [alias: unauth]
      credentials  Show the stored credentials, or move them

    Manage:
      add-json     Add a server whose entry is given as JSON
      remove       Remove a server from one of Wharf's own files [alias: rm]
      enable       Switch a server on
      disable      Switch a server off
      import       Copy servers from another program, or from a file, into Wharf's file
      export       Copy servers into another program's file

    Trust:
      trust        Trust servers that came with this project
      untrust      Stop trusting servers of this project

    Wharf itself:
      config       Show or change a setting of Wharf itself
      cache        Show or remove the records that are stored about servers
      mcp          Run one of the MCP servers that are built into Wharf
      completions  Print a completion script for your shell
      man          Print the manual page
      help         Print this message, or the help of a verb

    Options:
          --json           Print one JSON document, with secrets redacted
          --project <DIR>  Use this folder instead of the working folder
          --no-project     Ignore the files of projects
          --trust-project  Trust everything in this project, for this run only
      -q, --quiet          Suppress warnings and notices
      -v, --verbose...     Print more, such as which files were read; can be repeated
          --color <WHEN>   When to use colours [default: auto] [possible values: auto, always, never]
      -h, --help           Print help (see more with '--help')
      -V, --version        Print version

    Examples:
      wharf list                 every server, and where it comes from
      wharf tools                what agents can call
      wharf call fs/read path=a  one call
      wharf add docs -- npx -y @modelcontextprotocol/server-filesystem ~/docs
      wharf doctor               what is wrong, and how to fix it
      wharf help call            the help of one verb
      wharf list --json          the same as JSON, for programs

    Exit codes: 0 success, 1 failed or not found, 2 usage, 3 could not connect, 4 sign-in needed,
    5 timeout, 6 not trusted, 130 cancelled.
    ");
}

#[test]
fn the_help_of_a_verb_has_examples() {
    assert_snapshot!(World::new().run("list -h"), @"
    exit 0
    --- stdout
    List the servers of all programs

    Usage: wharf list [OPTIONS]

    Options:
          --all   Also show shadowed definitions and duplicates
      -h, --help  Print help (see more with '--help')

    Common options:
          --json           Print one JSON document, with secrets redacted
          --project <DIR>  Use this folder instead of the working folder
          --no-project     Ignore the files of projects
          --trust-project  Trust everything in this project, for this run only
      -q, --quiet          Suppress warnings and notices
      -v, --verbose...     Print more, such as which files were read; can be repeated
          --color <WHEN>   When to use colours [default: auto] [possible values: auto, always, never]

    Examples:
      wharf list
      wharf list --all               also the shadowed definitions and duplicates
      wharf list --project ~/app
      wharf list --json | jq -r '.servers[].name'
    ");
}

#[test]
fn the_long_help_says_which_files_are_written() {
    let help = World::new().run("--help");
    let about = help.split("Usage:").next().unwrap_or_default();
    assert_snapshot!(about, @"
    exit 0
    --- stdout
    Find, check, use and manage the MCP servers of every program on this machine

    Wharf reads the server definitions of Claude Code, Cursor, VS Code, Codex, Zed and many other
    programs, decides which definition wins for each name, and reports what is wrong. Only `wharf
    export` changes files of other programs, after it has shown the change. Nothing that came with a
    project is started before you trust it.
    ");
}

#[test]
fn usage_errors_exit_with_2() {
    assert_snapshot!(World::new().run("lst"), @"
    exit 2
    --- stderr
    error: unrecognized subcommand 'lst'

      tip: some similar subcommands exist: 'test', 'ls', 'list'

    Usage: wharf [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(World::new().run("list --no-daemon"), @"
    exit 2
    --- stderr
    error: '--no-daemon' has no effect: the background process that shares connections does not exist yet

    Usage: wharf [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(World::new().run("serve"), @"
    exit 2
    --- stderr
    error: 'wharf serve' does not exist yet

      tip: `wharf export PROGRAM` copies your servers to another program

    Usage: wharf [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(World::new().run("get"), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <NAME>

    Usage: wharf get <NAME>

    For more information, try '--help'.
    ");
    assert_snapshot!(World::new().run("list --color sometimes"), @"
    exit 2
    --- stderr
    error: invalid value 'sometimes' for '--color <WHEN>'
      [possible values: auto, always, never]

    For more information, try '--help'.
    ");
    assert_snapshot!(World::new().run("completions tcsh"), @"
    exit 2
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, zsh, fish, powershell, elvish]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
}

#[test]
fn the_version_is_shown() {
    let rendered = World::new().run("--version");
    assert_eq!(rendered, format!("exit 0\n--- stdout\nwharf {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_shell_has_a_completion_script_and_there_is_a_manual_page() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = world.output(&format!("completions {shell}"));
        let script = String::from_utf8(output.stdout).unwrap();
        // The script for Elvish is a static list; the others run `wharf complete`.
        let asks = if shell == "elvish" { "explain" } else { "wharf complete" };
        assert!(output.status.success() && script.contains(asks), "{shell}");
    }
    let page = String::from_utf8(world.output("man").stdout).unwrap();
    assert!(page.contains(".TH wharf 1") && page.contains("doctor"), "{page}");
}

#[test]
fn a_closed_stdout_ends_the_run_without_an_error() {
    let world = World::new();
    for line in [
        "list",
        "list --json",
        "doctor",
        "tools",
        "tools --json",
        "explain thinking",
        "completions bash",
        "--help",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let mut child =
            world.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
        assert!(!errors.contains("panicked") && !errors.contains("error"), "{line}: {errors}");
    }
}

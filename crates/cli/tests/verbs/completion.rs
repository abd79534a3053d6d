//! `wharf complete`: completion candidates, which are read from files only.

#![expect(clippy::disallowed_methods, reason = "a test starts a shell")]

use insta::assert_snapshot;

use crate::test_servers::legacy_server_script;
use crate::world::World;

/// Tools with arguments, and with names that are dangerous in a shell.
const TOOLS: &str = r#"{"name":"read","description":"Reads\na file","inputSchema":{"type":"object","required":["path"],"properties":{"path":{"type":"string","description":"Where\u001b[2J"},"mode":{"enum":["text","$(id)","bytes"]},"all":{"type":"boolean"},"tags":{"type":"array"},"$(id)":{}}}},{"name":"write","description":"`id`","inputSchema":{"type":"object"}},{"name":"$(touch evil)","inputSchema":{"type":"object"}},{"name":"-rf","inputSchema":{"type":"object"}}"#;

fn world() -> World {
    let server = legacy_server_script(r#"echo started >> "$0.seen""#, r#"{"tools":{}}"#, TOOLS, "");
    World::new()
        .script("files", &server)
        .own_servers(&[("disk", r#""command": "files""#), ("off", r#""command": "x", "enabled": false"#)])
        .project(".mcp.json", r#"{ "mcpServers": { "theirs": { "command": "files" }, "$(touch evil)": { "command": "files" } } }"#)
}

/// Returns the candidates for a command line, requested as fish does.
fn complete(world: &World, line: &str) -> String {
    let words = ["complete", "fish", "--", "wharf"].into_iter().chain(line.split(' '));
    let rendered = world.run_words(&words.collect::<Vec<_>>());
    let rendered = rendered.strip_prefix("exit 0\n").unwrap_or(&rendered).to_owned();
    rendered.strip_prefix("--- stdout\n").unwrap_or(&rendered).to_owned()
}

#[test]
fn verbs_flags_and_values_are_completed() {
    let world = World::new();
    assert_snapshot!(complete(&world, "re"), @"
    resources	List the resources of your servers
    read	Read a resource
    reconnect	Reconnect to a server
    remove	Remove a server from one of Wharf's own files
    ");
    assert_snapshot!(complete(&world, "call --t"), @"
    --timeout	How long the server may be silent, such as 30s or 2m
    --transport	The transport of a remote server [default: http]
    --token	A token for a remote server; `-` asks for it, or reads it from a pipe
    --trust-project	Trust everything in this project, for this run only
    ");
    assert_snapshot!(complete(&world, "--color "), @"
    auto	On a terminal, unless `NO_COLOR` is set
    always	Always
    never	Never
    ");
    assert_snapshot!(complete(&world, "list --color=a"), @"
    --color=auto	On a terminal, unless `NO_COLOR` is set
    --color=always	Always
    ");
    assert_snapshot!(complete(&world, "completions "), @"
    bash	Bash 3.2 or newer
    zsh	Zsh
    fish	Fish
    powershell	PowerShell 5 or newer
    elvish	Elvish: verbs and flags only
    ");
    assert_snapshot!(complete(&world, "config "), @"
    get	Show one setting, or all of them
    set	Change a setting
    help	Print this message or the help of the given subcommand(s)
    ");
    assert_snapshot!(complete(&world, "config get startup"), @"
    startup.mode	whether a listing waits for slow servers
    startup.timeout_ms	how long a listing waits before it uses cached tools
    ");
    assert_snapshot!(complete(&world, "import cur"), @"
    cursor	Cursor
    :files
    ");
    assert_snapshot!(complete(&world, "--project "), @"
    :folders
    ");
    assert_snapshot!(complete(&world, "add x -- npx "), @"");
    assert_snapshot!(complete(&world, "nonsense "), @"");
}

#[test]
fn servers_of_all_files_are_completed() {
    let world = world();
    assert_snapshot!(complete(&world, "test "), @"
    disk	server, enabled, Wharf · user
    off	server, disabled, Wharf · user
    theirs	server, untrusted, mcp.json · project
    ");
    assert_snapshot!(complete(&world, "tools --server d"), @"
    disk	server, enabled, Wharf · user
    ");
    assert_snapshot!(complete(&world, "trust "), @"
    theirs	server, untrusted, mcp.json · project
    ");
    assert_snapshot!(complete(&world, "tools "), @"
    disk	server, enabled, Wharf · user
    off	server, disabled, Wharf · user
    theirs	server, untrusted, mcp.json · project
    ");
    assert_eq!(complete(&world, "add d"), "");
}

#[test]
fn tools_and_arguments_are_completed_from_the_cache() {
    let world = world();
    assert_eq!(complete(&world, "call "), "");
    assert!(world.run("tools --server disk").starts_with("exit 0"));
    assert_snapshot!(complete(&world, "call "), @"
    disk/read	Reads
    disk/-rf
    disk/write	`id`
    ");
    assert_snapshot!(complete(&world, "call mcp_"), @"
    mcp_disk_read	Reads
    mcp_disk_rf
    mcp_disk_touch_evil
    mcp_disk_write	`id`
    ");
    assert_snapshot!(complete(&world, "tools d"), @"
    disk	server, enabled, Wharf · user
    disk/read	Reads
    disk/-rf
    disk/write	`id`
    ");
    assert_snapshot!(complete(&world, "call disk "), @"
    read	Reads
    write	`id`
    ");
    assert_snapshot!(complete(&world, "call disk/read "), @r"
    :nospace
    path=	string, required: Where\u{1b}[2J
    mode=	string
    all=	boolean
    tags=	list
    ");
    assert_snapshot!(complete(&world, "call disk read p"), @r"
    :nospace
    path=	string, required: Where\u{1b}[2J
    ");
    assert_snapshot!(complete(&world, "call --json disk/read path=a tags=b "), @"
    :nospace
    mode=	string
    all=	boolean
    tags=	list
    ");
    assert_snapshot!(complete(&world, "call mcp_disk_read mode="), @"
    mode=text
    mode=bytes
    ");
    assert_eq!(complete(&world, "call disk/read path=@"), ":files\n");
    assert_snapshot!(complete(&world, "call disk/read path:=3 "), @"
    :nospace
    mode=	string
    all=	boolean
    tags=	list
    ");
    assert_snapshot!(complete(&world, "call disk/read all:="), @"
    all:=true
    all:=false
    ");
    assert_snapshot!(complete(&world, "call disk/read mode:="), @"");
    assert_eq!(complete(&world, "call disk/nothing "), "");
    // Only `tools` started the server; completion ran nothing of the project and wrote nothing.
    assert_eq!(world.read("bin/files.seen"), "started\n");
    assert!(!world.path("project/evil").exists());
}

#[test]
fn only_candidates_are_printed() {
    let world = world().home(".cursor/mcp.json", "{ broken").variable("WHARF_LOG", "debug");
    for line in ["test ", "call ", "tools x"] {
        let words = ["complete", "bash", "--", &format!("wharf {line}")];
        let output = world.command(&words).output().unwrap();
        assert!(output.status.success(), "{line}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains("error"), "{line}");
    }
    let world = World::new().variable("WHARF_MCP_SERVERS", "no JSON");
    assert_eq!(complete(&world, "call "), "");
}

#[test]
fn fish_shows_the_candidates() {
    let fish = std::path::Path::new("/usr/bin/fish");
    // Not every machine has fish; the candidates for it are tested above.
    if !fish.exists() {
        return;
    }
    let world = world();
    assert!(world.run("tools --server disk").starts_with("exit 0"));
    let wharf = world.command(&[]);
    let folder = std::path::Path::new(wharf.get_program()).parent().unwrap().display().to_string();
    let script = "wharf completions fish | source; complete -C 'wharf call disk/read p'";
    let output = std::process::Command::new(fish)
        .args(["--no-config", "-c", script])
        .env_clear()
        .envs(wharf.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", format!("{folder}:/usr/bin:/bin"))
        .current_dir(wharf.get_current_dir().unwrap())
        .output()
        .unwrap();
    assert_snapshot!(world.render(&output), @r"
    exit 0
    --- stdout
    path=	string, required: Where\u{1b}[2J
    ");
}

//! A pipe, socket, device or folder in place of a state file does not make a verb hang.

#![expect(clippy::disallowed_methods, reason = "a test prepares files")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::test_servers::world_with_box;
use crate::world::World;

/// How long a verb may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

/// The kinds of special files that replace a state file.
const KINDS: [&str; 4] = ["pipe", "folder", "socket", "device"];

/// Verbs that read, connect, write, and show logs.
const VERBS: [&str; 5] =
    ["list", "call box/echo text=x", "trust --all", "logs box", "config set tools.naming classic"];

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

fn create_special_file(kind: &str, path: &Path) {
    match kind {
        "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        "folder" => fs::create_dir(path).unwrap(),
        "socket" => drop(UnixListener::bind(path).unwrap()),
        _ => symlink("/dev/zero", path).unwrap(),
    }
}

/// Runs all verbs at once; each must end by itself.
fn check_all_verbs_end(world: &World, what: &str) {
    let start = |line: &&'static str| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = world.command(&words);
        (*line, command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    };
    let runs: Vec<_> = VERBS.iter().map(start).collect();
    let began = Instant::now();
    for (line, mut run) in runs {
        while run.try_wait().unwrap().is_none() {
            if began.elapsed() > LIMIT {
                run.kill().unwrap();
                panic!("`wharf {line}` hangs: {what}");
            }
            sleep(Duration::from_millis(2));
        }
    }
}

/// A world in which every state file of Wharf exists.
fn world() -> World {
    let world = world_with_box()
        .project(".mcp.json", r#"{ "mcpServers": { "other": { "command": "box" } } }"#)
        .home(".wharf/config.toml", "[tools]\nnaming = \"classic\"\n");
    assert!(world.run("trust --all").starts_with("exit 0"));
    let added = world.run("add remote --scope user --url https://h.example --token t --no-probe");
    assert!(added.starts_with("exit 0"), "{added}");
    assert!(world.run("disable remote").starts_with("exit 0"));
    assert!(world.run("call box/die").starts_with("exit"), "it writes a log");
    assert!(world.run("tools").starts_with("exit 0"));
    world
}

#[test]
fn no_verb_hangs_on_a_pipe_or_device_in_place_of_a_state_file() {
    let example = world();
    let home = example.path("home/.wharf");
    let all = files(&home);
    let names: Vec<PathBuf> =
        all.iter().map(|path| path.strip_prefix(&home).unwrap().to_owned()).collect();
    for needed in ["mcp.json", "config.toml", "trust.json", "credentials.json", "run/write.lock"] {
        assert!(names.iter().any(|name| name == Path::new(needed)), "{needed}: {names:?}");
    }
    for folder in ["cache", "pins", "logs"] {
        assert!(names.iter().any(|name| name.starts_with(folder)), "{folder}: {names:?}");
    }
    for name in &names {
        for kind in KINDS {
            let path = home.join(name);
            let kept = example.path("kept");
            fs::rename(&path, &kept).unwrap();
            create_special_file(kind, &path);
            check_all_verbs_end(&example, &format!("{kind} at {}", name.display()));
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
            // A verb may have replaced the special file by a normal one.
            drop(if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) });
            fs::rename(&kept, &path).unwrap();
        }
    }
    assert!(example.run("call box/echo text=x").starts_with("exit 0"));
}

#[test]
fn a_pipe_in_place_of_a_run_marker_is_skipped() {
    let world = world();
    create_special_file(
        "pipe",
        &world.path("home/.wharf/run/servers-0123456789abcdef0123456789abcdef"),
    );
    create_special_file("pipe", &world.path("home/.wharf/results"));
    check_all_verbs_end(&world, "a pipe as a run marker");
}

#[test]
fn only_the_end_of_a_huge_log_is_read() {
    let world = world();
    let path = world.path("home/.wharf/logs/box.log");
    // A sparse file: it needs no disk space, but reading all of it would need all memory.
    fs::File::options().append(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    fs::File::options().append(true).open(&path).unwrap().write_all(b"\nthe end\n").unwrap();
    let output = world.run("logs box --lines 1");
    assert_eq!(output, "exit 0\n--- stdout\nthe end\n");
}

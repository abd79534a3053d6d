//! Concurrent writes to the config files, and processes that are killed while they write.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::world::World;

/// How many times each test repeats its step.
const ROUNDS: u32 = 40;

fn start(world: &World, line: &str) -> Child {
    let words: Vec<&str> = line.split(' ').collect();
    let mut command = world.command(&words);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Reads a file that must be complete JSON; null if it does not exist.
#[track_caller]
fn read_complete_json(world: &World, path: &str) -> Value {
    if !world.path(path).exists() {
        return Value::Null;
    }
    let text = world.read(path);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}\n{text}"))
}

fn names(world: &World) -> BTreeSet<String> {
    let file = read_complete_json(world, "project/.wharf/mcp.json");
    let servers = file.get("mcpServers").and_then(Value::as_object).into_iter().flatten();
    servers.map(|(name, _)| name.clone()).collect()
}

#[test]
fn entries_added_by_two_processes_at_once_are_all_saved() {
    let world = World::new();
    for round in 0..ROUNDS / 4 {
        let both = ["a", "b"].map(|name| {
            start(&world, &format!("add {name}{round} --url https://h.example --token {name}"))
        });
        for mut child in both {
            assert!(child.wait().unwrap().success());
        }
    }
    let expected = (0..ROUNDS / 4).flat_map(|round| [format!("a{round}"), format!("b{round}")]);
    let expected: BTreeSet<String> = expected.collect();
    assert_eq!(names(&world), expected);
    let list: Value = serde_json::from_slice(&world.output("list --all --json").stdout).unwrap();
    let states = list["servers"].as_array().unwrap().iter();
    let untrusted = states.filter(|server| server["state"] == "untrusted").count();
    assert_eq!((list["servers"].as_array().unwrap().len(), untrusted), (expected.len(), 0));
    let credentials = world.read("home/.wharf/credentials.json");
    assert_eq!(credentials.matches("\"token\"").count(), expected.len());
}

#[test]
fn a_killed_process_leaves_either_the_old_or_the_new_file() {
    let world = World::new();
    let line = |name: &str| format!("add {name} --url https://{name}.example --token t");
    let started = Instant::now();
    assert!(start(&world, &line("first")).wait().unwrap().success());
    let usual = started.elapsed();
    let mut killed = 0;
    for round in 0..ROUNDS {
        let before = names(&world);
        let name = format!("n{round}");
        let mut child = start(&world, &line(&name));
        // There is no event to wait for: the kills are spread over the duration of a run.
        thread::sleep(usual * round / ROUNDS);
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
        let mut with_it = before.clone();
        with_it.insert(name);
        let after = names(&world);
        assert!(after == before || after == with_it, "{before:?}\n{after:?}");
        read_complete_json(&world, "home/.wharf/credentials.json");
        read_complete_json(&world, "home/.wharf/trust.json");
    }
    assert!(killed > 0);
    // The lock is free again.
    let before = names(&world);
    assert!(world.output(&line("last")).status.success());
    assert_eq!(names(&world).len(), before.len() + 1);
}

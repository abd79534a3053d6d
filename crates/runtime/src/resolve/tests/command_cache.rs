//! Tests of commands: run once for all callers, limited, and killed afterwards.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::poll;
use wharf_config::Secret;

use super::super::command_cache::{CommandCache, CommandKey};
use super::super::shell::CommandFailure;
use super::World;

impl World {
    fn commands(&self) -> CommandCache {
        CommandCache::new(Arc::new(self.env.clone()))
    }

    fn key(&self, command: &str) -> CommandKey {
        CommandKey { folder: self.root.clone(), command: Secret::new(command) }
    }
}

/// A command that counts in a file how often it ran, and prints the number.
const COUNT: &str = "echo run >> runs; wc -l < runs | tr -d ' '";

#[tokio::test]
async fn a_command_runs_once_for_everybody() {
    let world = World::new();
    let (commands, key) = (world.commands(), world.key(COUNT));
    let values = join_all((0..20).map(|_| commands.value(&key))).await;
    assert!(values.iter().all(|value| *value == Ok(Secret::new("1"))), "{values:?}");
    assert_eq!(commands.value(&key).await, Ok(Secret::new("1")));
    assert_eq!(commands.cached(&key), Some(Secret::new("1")));
    assert_eq!(world.read("runs"), "run\n");
}

#[tokio::test]
async fn the_same_command_in_another_folder_runs_again() {
    let world = World::new();
    let commands = world.commands();
    let home = CommandKey { folder: world.root.join("home"), ..world.key("pwd") };
    assert_ne!(commands.value(&home).await, commands.value(&world.key("pwd")).await);
}

#[tokio::test]
async fn a_failure_is_returned_to_all_waiters_and_then_forgotten() {
    let world = World::new();
    let commands = world.commands();
    let key = world.key("echo run >> runs; test -e ready && echo value");
    let values = join_all((0..5).map(|_| commands.value(&key))).await;
    assert!(values.iter().all(|value| *value == Err(CommandFailure::Exited(1))), "{values:?}");
    assert_eq!(world.read("runs"), "run\n");
    world.write("ready", "");
    assert_eq!(commands.value(&key).await, Ok(Secret::new("value")));
}

#[tokio::test]
async fn a_command_ends_when_its_last_waiter_is_dropped() {
    let world = World::new();
    let mut lifeline = world.lifeline().await;
    let commands = world.commands();
    let key = world.key(
        "echo run >> runs; exec 9>lifeline; echo up >&9
         until test -e go; do sleep 0.01; done; echo value",
    );
    {
        let mut first = Box::pin(commands.value(&key));
        let mut second = pin!(commands.value(&key));
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        tokio::select! {
            _ = &mut first => panic!("the command waits for the file"),
            () = lifeline.is_up() => {}
        }
        drop(first);
        world.write("go", "");
        assert_eq!(second.await, Ok(Secret::new("value")));
        assert_eq!(world.read("runs"), "run\n");
    }
    let other = world.key("exec 9>lifeline; echo up >&9; sleep 600");
    {
        let waiting = pin!(commands.value(&other));
        tokio::select! {
            _ = waiting => panic!("it takes ten minutes"),
            () = lifeline.is_up() => {}
        }
    }
    lifeline.is_down().await;
    assert_eq!(commands.cached(&other), None);
}

#[tokio::test]
async fn a_command_and_its_children_are_killed_after_ten_seconds() {
    let world = World::new();
    let mut lifeline = world.lifeline().await;
    let commands = world.commands();
    let key = world.key("(exec 9>lifeline; echo up >&9; sleep 600) & sleep 600");
    let mut waiting = pin!(commands.value(&key));
    tokio::select! {
        _ = &mut waiting => panic!("it takes ten minutes"),
        () = lifeline.is_up() => {}
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();
    assert_eq!(waiting.await, Err(CommandFailure::TimedOut));
    lifeline.is_down().await;
}

#[tokio::test]
async fn a_child_in_the_background_neither_delays_the_value_nor_stays() {
    let world = World::new();
    let mut lifeline = world.lifeline().await;
    let commands = world.commands();
    let key = world.key(
        "(exec 9>lifeline; echo up >&9; touch here; sleep 600) &
         until test -e here; do sleep 0.01; done; echo value",
    );
    let value = tokio::time::timeout(Duration::from_secs(5), commands.value(&key)).await;
    assert_eq!(value, Ok(Ok(Secret::new("value"))));
    tokio::time::timeout(Duration::from_secs(5), lifeline.is_down()).await.unwrap();
}

#[tokio::test]
async fn a_command_has_no_input() {
    let world = World::new();
    let value = world.commands().value(&world.key("cat; echo end")).await;
    assert_eq!(value, Ok(Secret::new("end")));
}

#[tokio::test]
async fn a_refused_value_is_renewed_once_and_then_kept_for_a_while() {
    let world = World::new();
    let (commands, key) = (world.commands(), world.key(COUNT));
    assert_eq!(commands.value(&key).await, Ok(Secret::new("1")));
    let renewed = join_all((0..5).map(|_| commands.renew(&key))).await;
    assert!(renewed.iter().all(|value| *value == Ok(Secret::new("2"))), "{renewed:?}");
    assert_eq!(commands.renew(&key).await, Ok(Secret::new("2")));
    assert_eq!(commands.value(&key).await, Ok(Secret::new("2")));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(30)).await;
    tokio::time::resume();
    assert_eq!(commands.value(&key).await, Ok(Secret::new("2")));
    assert_eq!(commands.renew(&key).await, Ok(Secret::new("3")));
}

#[tokio::test]
async fn a_refused_value_is_not_used_again_when_renewing_fails() {
    let world = World::new();
    let commands = world.commands();
    let key = world.key("test ! -e broken && cat value");
    world.write("value", "old");
    assert_eq!(commands.value(&key).await, Ok(Secret::new("old")));
    world.write("broken", "");
    assert_eq!(commands.renew(&key).await, Err(CommandFailure::Exited(1)));
    assert_eq!(commands.cached(&key), None);
    std::fs::remove_file(world.root.join("broken")).unwrap();
    world.write("value", "new");
    assert_eq!(commands.value(&key).await, Ok(Secret::new("new")));
}

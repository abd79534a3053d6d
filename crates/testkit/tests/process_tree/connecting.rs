//! What an attempt to connect leaves behind: nothing, whenever it is given up; and what it says.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use wharf_protocol::peer::NoHandler;
use wharf_protocol::transport::process::GracePeriod;
use wharf_protocol::view::send::ClientInfo;
use wharf_protocol::{ConnectOptions, StdioSpec, connect_stdio};

use super::trial::{DEADLINE, Trial, until};

const GRACE: GracePeriod =
    GracePeriod { after_eof: Duration::from_millis(30), after_term: Duration::from_millis(30) };

fn attempt(trial: &Trial, words: &str) -> (StdioSpec, ConnectOptions) {
    let spec = StdioSpec { grace: GRACE, ..StdioSpec::new(trial.launch(words)) };
    let options = ConnectOptions {
        tasks: trial.tracker.clone(),
        ..ConnectOptions::new(ClientInfo::new("wharf-test", "1"))
    };
    (spec, options)
}

async fn check_that_nothing_is_left(trial: &Trial) {
    trial.tracker.close();
    tokio::time::timeout(DEADLINE, trial.tracker.wait()).await.unwrap();
    assert_eq!(trial.alive(), [0_u32; 0]);
}

#[tokio::test]
async fn whoever_gives_up_a_silent_server_can_wait_for_its_whole_tree_to_end() {
    let trial = Trial::new();
    let (spec, options) = attempt(&trial, "deaf heir stray name=server sleep");
    let everybody = until(|| trial.alive().len() == 3, || format!("{:?}", trial.alive()));
    tokio::select! {
        _ = connect_stdio(&spec, &options, Arc::new(NoHandler)) => panic!("it is no server"),
        () = everybody => {}
    }
    check_that_nothing_is_left(&trial).await;
}

#[tokio::test]
async fn a_server_that_is_given_up_while_it_starts_does_not_stay() {
    for polls in 1..4 {
        let trial = Trial::new();
        let (spec, options) = attempt(&trial, "heir stray name=server sleep");
        let mut connecting = Box::pin(connect_stdio(&spec, &options, Arc::new(NoHandler)));
        for _ in 0..polls {
            let polled = std::future::poll_fn(|context| {
                Poll::Ready(connecting.as_mut().poll(context).is_pending())
            });
            assert!(polled.await);
            tokio::task::yield_now().await;
        }
        drop(connecting);
        check_that_nothing_is_left(&trial).await;
    }
}

#[tokio::test]
async fn a_program_that_only_chats_is_told_apart_from_a_silent_one() {
    let check = async |words: &str, timeout: Duration, expected: &str| {
        let trial = Trial::new();
        let (spec, options) = attempt(&trial, words);
        let options = ConnectOptions { timeout, ..options };
        let connected = connect_stdio(&spec, &options, Arc::new(NoHandler)).await;
        assert_eq!(connected.err().unwrap().to_string(), expected);
        check_that_nothing_is_left(&trial).await;
    };
    let silent = "the server did not answer within 100ms";
    check("sleep", Duration::from_millis(100), silent).await;
    let chats = "the server writes no MCP messages to its output";
    check("name=server sleep", Duration::from_secs(2), chats).await;
}

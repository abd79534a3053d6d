//! Tests that a cancelled attempt to connect leaves no process behind, and its errors.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use wharf_protocol::peer::NoHandler;
use wharf_protocol::transport::process::GracePeriod;
use wharf_protocol::view::send::ClientInfo;
use wharf_protocol::{ConnectOptions, StdioSpec, connect_stdio};

use super::test_tree::{DEADLINE, TestTree, until};

const GRACE: GracePeriod =
    GracePeriod { after_eof: Duration::from_millis(30), after_term: Duration::from_millis(30) };

fn attempt(tree: &TestTree, words: &str) -> (StdioSpec, ConnectOptions) {
    let spec = StdioSpec { grace: GRACE, ..StdioSpec::new(tree.launch(words)) };
    let options = ConnectOptions {
        tasks: tree.tracker.clone(),
        ..ConnectOptions::new(ClientInfo::new("wharf-test", "1"))
    };
    (spec, options)
}

async fn check_that_nothing_is_left(tree: &TestTree) {
    tree.tracker.close();
    tokio::time::timeout(DEADLINE, tree.tracker.wait()).await.unwrap();
    assert_eq!(tree.alive(), [0_u32; 0]);
}

#[tokio::test]
async fn cancelling_a_connection_ends_the_whole_process_tree() {
    let tree = TestTree::new();
    let (spec, options) = attempt(&tree, "deaf heir stray name=server sleep");
    let everybody = until(|| tree.alive().len() == 3, || format!("{:?}", tree.alive()));
    tokio::select! {
        _ = connect_stdio(&spec, &options, Arc::new(NoHandler)) => panic!("it is not a server"),
        () = everybody => {}
    }
    check_that_nothing_is_left(&tree).await;
}

#[tokio::test]
async fn cancelling_during_the_start_ends_the_server() {
    for polls in 1..4 {
        let tree = TestTree::new();
        let (spec, options) = attempt(&tree, "heir stray name=server sleep");
        let mut connecting = Box::pin(connect_stdio(&spec, &options, Arc::new(NoHandler)));
        for _ in 0..polls {
            let polled = std::future::poll_fn(|context| {
                Poll::Ready(connecting.as_mut().poll(context).is_pending())
            });
            assert!(polled.await);
            tokio::task::yield_now().await;
        }
        drop(connecting);
        check_that_nothing_is_left(&tree).await;
    }
}

#[tokio::test]
async fn output_that_is_not_mcp_is_distinguished_from_silence() {
    let check = async |words: &str, timeout: Duration, expected: &str| {
        let tree = TestTree::new();
        let (spec, options) = attempt(&tree, words);
        let options = ConnectOptions { timeout, ..options };
        let connected = connect_stdio(&spec, &options, Arc::new(NoHandler)).await;
        assert_eq!(connected.err().unwrap().to_string(), expected);
        check_that_nothing_is_left(&tree).await;
    };
    let silent = "the server did not answer within 100ms";
    check("sleep", Duration::from_millis(100), silent).await;
    let chats = "the server's output contains text that is not MCP";
    check("name=server sleep", Duration::from_secs(2), chats).await;
}

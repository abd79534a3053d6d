//! When a connection is reused, and when it is closed.

use super::super::HttpError;
use super::scripted_server::{
    ScriptedReply, TIMEOUT, TestServer, answer, client, fetch, ok, post, send,
};

#[tokio::test]
async fn requests_follow_each_other_on_one_connection() {
    let server = TestServer::start(|seen| ScriptedReply::Keep(ok(seen.line()))).await;
    let client = client();
    for path in ["/1", "/2", "/3"] {
        assert_eq!(fetch(&client, &server.at(path)).await.unwrap(), format!("POST {path}"));
    }
    assert_eq!(server.connections(), 1);
    let seen = server.seen().pop().unwrap();
    assert_eq!(seen.body, b"{}");
    assert_eq!(seen.header("host"), Some(&*format!("127.0.0.1:{}", server.port)));
    assert!(seen.header("user-agent").unwrap().starts_with("wharf/"));
    assert_eq!(seen.header("accept-encoding"), None);
}

#[tokio::test]
async fn concurrent_requests_have_their_own_connections() {
    let server = TestServer::start(|_| ScriptedReply::Keep(ok("a"))).await;
    let client = client();
    let address = server.at("/");
    for _ in 0..2 {
        let all = (0..3).map(|_| fetch(&client, &address));
        for answer in futures_util::future::join_all(all).await {
            assert_eq!(answer.unwrap(), "a");
        }
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_response_without_a_body_keeps_the_connection() {
    let server = TestServer::start(|_| ScriptedReply::Keep(answer("202 Accepted", "", ""))).await;
    let client = client();
    for _ in 0..3 {
        drop(send(&client, &server.at("/")).await.unwrap());
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_chunked_response_that_was_read_keeps_the_connection() {
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
                           2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
    let server = TestServer::start(|_| ScriptedReply::Keep(CHUNKED.to_owned())).await;
    let client = client();
    for _ in 0..3 {
        assert_eq!(fetch(&client, &server.at("/")).await.unwrap(), "abc");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_unread_response_that_has_arrived_keeps_the_connection() {
    let server = TestServer::start(|_| ScriptedReply::Keep(ok(&"x".repeat(1000)))).await;
    let client = client();
    for _ in 0..3 {
        drop(send(&client, &server.at("/")).await.unwrap());
    }
    assert_eq!(server.connections(), 1);
}

const EVENT: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nevent\r\n";

#[tokio::test]
async fn a_released_stream_keeps_the_connection_if_it_ends_soon() {
    let server =
        TestServer::start(|_| ScriptedReply::Later(EVENT.to_owned(), "0\r\n\r\n".to_owned())).await;
    let client = client();
    for _ in 0..3 {
        let mut response = send(&client, &server.at("/")).await.unwrap();
        assert_eq!(response.body.chunk().await.unwrap().unwrap(), "event");
        response.body.release();
        server.go_on();
        while client.idle_connections() == 0 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_released_stream_that_does_not_end_is_closed() {
    let server = TestServer::start(|_| ScriptedReply::Hold(EVENT.to_owned())).await;
    let client = client();
    let mut response = send(&client, &server.at("/")).await.unwrap();
    assert_eq!(response.body.chunk().await.unwrap().unwrap(), "event");
    response.body.release();
    tokio::time::pause();
    server.until_closed(1).await;
}

#[tokio::test]
async fn dropping_an_open_stream_closes_its_connection() {
    let server = TestServer::start(|_| ScriptedReply::Hold(EVENT.to_owned())).await;
    let client = client();
    let mut response = send(&client, &server.at("/")).await.unwrap();
    assert_eq!(response.body.chunk().await.unwrap().unwrap(), "event");
    drop(response);
    tokio::time::timeout(TIMEOUT, server.until_closed(1)).await.unwrap();
}

#[tokio::test]
async fn dropping_a_request_closes_its_connection() {
    let server = TestServer::start(|_| ScriptedReply::Hold(String::new())).await;
    let client = client();
    let sending = client.send(post(&server.at("/")));
    let arrived = async {
        while server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = sending => panic!("there is no response"),
        () = arrived => {}
    }
    tokio::time::timeout(TIMEOUT, server.until_closed(1)).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_not_used_again() {
    let server = TestServer::start(|seen| ScriptedReply::Close(ok(seen.line()))).await;
    let client = client();
    for (closed, path) in [(1, "/1"), (2, "/2"), (3, "/3")] {
        assert_eq!(fetch(&client, &server.at(path)).await.unwrap(), format!("POST {path}"));
        server.until_closed(closed).await;
    }
    assert_eq!((server.connections(), server.seen().len()), (3, 3));
}

#[tokio::test]
async fn a_closed_connection_is_replaced_by_a_new_one() {
    let server = TestServer::start(|seen| ScriptedReply::Close(ok(seen.line()))).await;
    let client = client();
    for _ in 0..10 {
        assert_eq!(fetch(&client, &server.at("/")).await.unwrap(), "POST /");
    }
    assert_eq!((server.connections(), server.seen().len()), (10, 10));
}

#[tokio::test]
async fn a_request_that_may_have_been_read_is_not_sent_again() {
    let server = TestServer::start(|seen| match seen.line() {
        "POST /good" => ScriptedReply::Keep(ok("a")),
        _ => ScriptedReply::Close(String::new()),
    })
    .await;
    let client = client();
    fetch(&client, &server.at("/good")).await.unwrap();
    let error = fetch(&client, &server.at("/bad")).await.unwrap_err();
    assert!(matches!(error, HttpError::NoResponse { never_sent: false, .. }), "{error:?}");
    let lines: Vec<_> = server.seen().iter().map(|seen| seen.line().to_owned()).collect();
    assert_eq!(lines, ["POST /good", "POST /bad"]);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_connection_is_used_for_as_long_as_the_server_says() {
    let server = TestServer::start(|seen| {
        let timeout = seen.header("x-idle-timeout").unwrap();
        ScriptedReply::Keep(answer("200 OK", &format!("keep-alive: timeout={timeout}\r\n"), ""))
    })
    .await;
    for (timeout, connections) in [("1", 2), ("30", 1)] {
        let client = client();
        let before = server.connections();
        for _ in 0..2 {
            let mut outgoing = post(&server.at("/"));
            outgoing.headers.insert("x-idle-timeout", timeout.parse().unwrap());
            drop(client.send(outgoing).await.unwrap());
        }
        assert_eq!(server.connections() - before, connections, "{timeout}");
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = TestServer::start(|_| ScriptedReply::Keep(ok("a"))).await;
    let client = client();
    fetch(&client, &server.at("/")).await.unwrap();
    tokio::time::pause();
    server.until_closed(1).await;
    drop(client);
}

#[tokio::test]
async fn dropping_the_client_closes_its_connections() {
    let server = TestServer::start(|_| ScriptedReply::Keep(ok("a"))).await;
    let client = client();
    fetch(&client, &server.at("/")).await.unwrap();
    drop(client);
    tokio::time::timeout(TIMEOUT, server.until_closed(1)).await.unwrap();
}

#[tokio::test]
async fn a_closed_client_returns_an_error_and_has_no_tasks() {
    let server = TestServer::start(|_| ScriptedReply::Keep(ok("a"))).await;
    let client = client();
    fetch(&client, &server.at("/")).await.unwrap();
    tokio::time::timeout(TIMEOUT, client.close()).await.unwrap();
    let error = fetch(&client, &server.at("/")).await.unwrap_err();
    assert!(matches!(error, HttpError::Closed) && error.never_sent());
    tokio::time::timeout(TIMEOUT, server.until_closed(1)).await.unwrap();
}

#[test]
fn a_body_can_outlive_its_runtime() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (first, second) = (runtime(), runtime());
    let server = first.block_on(TestServer::start(|_| ScriptedReply::Keep(ok("a"))));
    let client = client();
    let response = first.block_on(send(&client, &server.at("/"))).unwrap();
    drop(first);
    drop(response);
    drop(client);
    drop(second);
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_on_a_socket_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let server = TestServer::start_on_socket(&path, |seen| ScriptedReply::Keep(ok(seen.line())));
    let client = client();
    let address = format!("unix://{}#/mcp?x=1", path.display());
    for _ in 0..2 {
        assert_eq!(fetch(&client, &address).await.unwrap(), "POST /mcp?x=1");
    }
    assert_eq!(server.connections(), 1);
    assert_eq!(server.seen()[0].header("host"), Some("localhost"));
}

#[tokio::test]
async fn user_information_becomes_a_header() {
    let server =
        TestServer::start(|seen| ScriptedReply::Keep(ok(seen.header("authorization").unwrap())))
            .await;
    let address = server.at("/").replace("127.0.0.1", "m%65:p%20w@127.0.0.1");
    assert_eq!(fetch(&client(), &address).await.unwrap(), "Basic bWU6cCB3");
}

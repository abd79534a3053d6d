//! Error messages and hints when a server cannot be reached, and whether the request was sent.

use super::super::HttpError;
use super::scripted_server::{ScriptedReply, TestServer, client, fetch, render};

#[tokio::test]
async fn a_refused_connection_is_reported() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let address = format!("http://me:secret@127.0.0.1:{port}/?key=secret");
    let error = fetch(&client(), &address).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }) && error.never_sent());
    let text = render(&error).replace(&port.to_string(), "PORT");
    let text: Vec<_> = text.lines().filter(|line| !line.contains("cause")).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    could not connect to http://127.0.0.1:PORT
      hint: check that the server is running, and the port in its address
    ");
}

#[tokio::test]
async fn an_unknown_host_is_reported() {
    // A label of a name has at most 63 letters, so this lookup fails without the network.
    let address = format!("http://{}/", "a".repeat(64));
    let error = fetch(&client(), &address).await.unwrap_err();
    assert!(matches!(error, HttpError::Lookup { .. }), "{error:?}");
    assert!(error.never_sent() && error.hint().is_some());
}

#[cfg(unix)]
#[tokio::test]
async fn a_missing_socket_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("unix://{}/none.sock#/mcp", folder.path().display());
    let error = fetch(&client(), &address).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }) && error.never_sent());
    assert!(error.hint().unwrap().starts_with("there is no such socket"));
}

#[tokio::test]
async fn a_response_that_is_not_http_is_reported() {
    for text in ["SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 abc\r\n\r\n", "{}\n"] {
        let server = TestServer::start(move |_| ScriptedReply::Close(text.to_owned())).await;
        let error = fetch(&client(), &server.at("/")).await.unwrap_err();
        assert!(matches!(error, HttpError::NoResponse { .. }), "{error:?}");
        assert!(!error.never_sent(), "{text}");
    }
}

#[tokio::test]
async fn a_connection_closed_without_a_response_is_reported() {
    let server = TestServer::start(|_| ScriptedReply::Close(String::new())).await;
    let error = fetch(&client(), &server.at("/")).await.unwrap_err();
    assert!(!error.never_sent());
    assert_eq!(server.seen().len(), 1);
    let text = render(&error).replace(&server.port.to_string(), "PORT");
    insta::assert_snapshot!(text, @r"
    http://127.0.0.1:PORT did not send a response
      cause: connection closed before message completed
    ");
}

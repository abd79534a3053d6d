//! The limits for responses: headers, body size, compression and timeouts.

use std::time::Duration;

use super::super::{HttpClient, HttpClientOptions, HttpError, HttpPhase};
use super::scripted_server::{ScriptedReply, TestServer, answer, client, fetch, ok, render, send};

async fn answering(text: String) -> TestServer {
    TestServer::start(move |_| ScriptedReply::Close(text.clone())).await
}

#[tokio::test]
async fn more_than_a_hundred_headers_are_refused() {
    for (count, is_fine) in [(90, true), (110, false)] {
        let server = answering(answer("200 OK", &"a: b\r\n".repeat(count), "")).await;
        assert_eq!(fetch(&client(), &server.at("/")).await.is_ok(), is_fine, "{count}");
    }
}

#[tokio::test]
async fn a_head_of_more_than_64_kib_is_refused() {
    for (size, is_fine) in [(60_000, true), (70_000, false)] {
        let header = format!("a: {}\r\n", "x".repeat(size));
        let server = answering(answer("200 OK", &header, "")).await;
        assert_eq!(fetch(&client(), &server.at("/")).await.is_ok(), is_fine, "{size}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let server = answering(format!("HTTP/1.1 200 OK\r\na: {}", "x".repeat(1_000_000))).await;
    let error = fetch(&client(), &server.at("/")).await.unwrap_err();
    assert!(matches!(error, HttpError::NoResponse { never_sent: false, .. }), "{error:?}");
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let long = "x".repeat(100_000);
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunks = format!("{chunked}{}0\r\n\r\n", "64\r\n".to_owned() + &"x".repeat(100) + "\r\n");
    let endless = format!("{chunked}{:x}\r\n{long}", 1_u64 << 40);
    for (text, limit, is_fine) in [
        (ok(&long), 100_000, true),
        (ok(&long), 99_999, false),
        (chunks.clone(), 100, true),
        (chunks, 99, false),
        (endless, 50_000, false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n".to_owned(), 100, false),
    ] {
        let server = answering(text).await;
        let response = send(&client(), &server.at("/")).await.unwrap();
        let result = response.body.collect(limit).await;
        assert_eq!(result.is_ok(), is_fine, "{limit}");
        if let Err(error) = result {
            assert!(error.to_string().ends_with(&format!("more than {limit} bytes")), "{error}");
        }
    }
}

#[tokio::test]
async fn a_body_of_a_megabyte_arrives_whole() {
    let long: String = ('a'..='z').cycle().take(1_000_000).collect();
    let server = answering(ok(&long)).await;
    assert_eq!(fetch(&client(), &server.at("/")).await.unwrap(), long);
}

#[tokio::test]
async fn a_body_that_breaks_off_is_an_error() {
    let server = answering("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_owned()).await;
    let error = fetch(&client(), &server.at("/")).await.unwrap_err();
    assert!(matches!(error, HttpError::IncompleteBody { .. }), "{error:?}");
    assert!(!error.never_sent());
}

#[tokio::test]
async fn a_compressed_response_is_refused_with_a_hint() {
    let server = answering(answer("200 OK", "content-encoding: gzip\r\n", "x")).await;
    let error = fetch(&client(), &server.at("/")).await.unwrap_err();
    let text = render(&error).replace(&server.port.to_string(), "PORT");
    insta::assert_snapshot!(text, @r"
    http://127.0.0.1:PORT sent a compressed response that was not requested
      hint: turn compression off for this endpoint
    ");
    let server = answering(answer("200 OK", "content-encoding: identity\r\n", "x")).await;
    assert_eq!(fetch(&client(), &server.at("/")).await.unwrap(), "x");
}

#[tokio::test]
async fn waiting_for_a_response_times_out() {
    let server = TestServer::start(|_| ScriptedReply::Hold(String::new())).await;
    let limit = Duration::from_millis(50);
    let options = HttpClientOptions { header_timeout: Some(limit), ..HttpClientOptions::default() };
    let error = fetch(&HttpClient::new(&options), &server.at("/")).await.unwrap_err();
    assert!(matches!(error, HttpError::TimedOut { phase: HttpPhase::Answer, .. }), "{error:?}");
    assert!(!error.never_sent());
    assert!(error.to_string().ends_with("did not answer within 50ms"));
}

#[tokio::test]
async fn connecting_times_out() {
    // It accepts connections and sends nothing, so the TLS handshake never ends.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/", listener.local_addr().unwrap());
    let options = HttpClientOptions {
        connect_timeout: Duration::from_millis(50),
        ..HttpClientOptions::default()
    };
    let error = fetch(&HttpClient::new(&options), &address).await.unwrap_err();
    assert!(matches!(error, HttpError::TimedOut { phase: HttpPhase::Connect, .. }), "{error:?}");
    assert!(error.never_sent());
}

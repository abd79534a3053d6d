//! Which redirects are followed.

use super::super::{HttpError, Refusal};
use super::world::{Reply, Server, client, fetch, ok, post, post_with, redirect, send, shown};

/// Starts a server that redirects from `/mcp` and answers anything else with the request line.
async fn redirecting(status: u16, location: &str) -> Server {
    let answer = redirect(status, location);
    Server::start(move |seen| match seen.line() {
        "POST /mcp" => Reply::Keep(answer.clone()),
        line => Reply::Keep(ok(line)),
    })
    .await
}

fn refusal(error: &HttpError) -> Refusal {
    match error {
        HttpError::Redirected { reason, .. } => *reason,
        error => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn method_body_and_headers_are_kept_within_the_origin() {
    for status in [301, 302, 307, 308] {
        let server = redirecting(status, "/mcp/").await;
        let outgoing = post_with(&server.at("/mcp"), "authorization", "Bearer x");
        let response = client().send(outgoing).await.unwrap();
        assert_eq!(response.target.to_string(), server.at("/mcp/"));
        assert_eq!(response.body.collect(100).await.unwrap(), "POST /mcp/");
        let seen = server.seen().pop().unwrap();
        assert_eq!((&*seen.body, seen.header("authorization")), (&b"{}"[..], Some("Bearer x")));
        assert_eq!(server.connections(), 1);
    }
}

#[tokio::test]
async fn see_other_is_refused() {
    let server = redirecting(303, "/mcp/").await;
    let error = fetch(&client(), &server.at("/mcp")).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::SeeOther);
    assert!(!error.never_sent());
}

#[tokio::test]
async fn another_origin_is_asked_if_there_is_nothing_to_protect() {
    let other = redirecting(307, "/").await;
    let server = redirecting(307, &other.at("/other")).await;
    assert_eq!(fetch(&client(), &server.at("/mcp")).await.unwrap(), "POST /other");
    assert_eq!(other.seen()[0].header("host"), Some(&*format!("127.0.0.1:{}", other.port)));
}

#[tokio::test]
async fn credentials_never_reach_another_origin() {
    let other = redirecting(307, "/").await;
    let server = redirecting(307, &other.at("/other")).await;
    let address = server.at("/mcp");
    let with_user = address.replace("127.0.0.1", "me:secret@127.0.0.1");
    let mut marked = post(&address);
    marked.carries_credentials = true;
    let mut sensitive = post_with(&address, "x-api-key", "secret");
    sensitive.headers.get_mut("x-api-key").unwrap().set_sensitive(true);
    let requests = [
        post(&with_user),
        post_with(&address, "authorization", "Bearer secret"),
        post_with(&address, "cookie", "secret"),
        post_with(&address, "mcp-session-id", "secret"),
        sensitive,
        marked,
    ];
    for request in requests {
        let error = client().send(request).await.unwrap_err();
        assert_eq!(refusal(&error), Refusal::Credentials);
        assert!(!shown(&error).contains("secret"), "{}", shown(&error));
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn an_upgrade_with_credentials_says_what_to_change() {
    let server = redirecting(308, "https://127.0.0.1/mcp?key=secret").await;
    let outgoing = post_with(&server.at("/mcp"), "authorization", "Bearer secret");
    let error = client().send(outgoing).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::Upgrade);
    let text = shown(&error).replace(&server.port.to_string(), "PORT");
    insta::assert_snapshot!(text, @r"
    http://127.0.0.1:PORT/mcp redirects to https://127.0.0.1/mcp, which was not followed: the request carries credentials that are meant for the first address only
      hint: change the address in the configuration to https://127.0.0.1/mcp
    ");
}

#[tokio::test]
async fn what_is_no_address_is_not_followed() {
    for location in ["http://", "ftp://127.0.0.1/", "file:///etc/passwd", "unix:///run/a.sock"] {
        let server = redirecting(307, location).await;
        let error = fetch(&client(), &server.at("/mcp")).await.unwrap_err();
        assert_eq!(refusal(&error), Refusal::NotAnAddress, "{location}");
    }
}

#[tokio::test]
async fn a_circle_ends() {
    let server = redirecting(307, "/mcp").await;
    let error = fetch(&client(), &server.at("/mcp")).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::TooMany);
    assert_eq!(server.seen().len(), 6);
}

#[tokio::test]
async fn a_redirect_to_nowhere_has_been_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let server = redirecting(307, &nowhere).await;
    let error = fetch(&client(), &server.at("/mcp")).await.unwrap_err();
    assert_eq!(refusal(&error), Refusal::Unreachable);
    assert!(!error.never_sent());
    assert!(shown(&error).contains("cause: could not connect to"), "{}", shown(&error));
}

#[tokio::test]
async fn an_answer_that_only_looks_like_a_redirect_is_an_answer() {
    let server =
        Server::start(|_| Reply::Keep(super::world::answer("307 Redirect", "", "x"))).await;
    assert_eq!(send(&client(), &server.at("/")).await.unwrap().status, 307);
}

#[tokio::test]
async fn what_is_no_mcp_is_sent_to_its_target_alone_and_answered_as_a_whole() {
    let other = redirecting(307, "/").await;
    let server = redirecting(307, &other.at("/other")).await;
    let send = async |path: &str, limit| {
        let (target, body) = (server.at(path).parse().unwrap(), "spans".into());
        client().post(&target, http::HeaderMap::new(), body, limit).await
    };
    let answer = send("/v1/traces", 100).await.unwrap();
    assert_eq!((answer.status().as_u16(), &answer.body()[..]), (200, &b"POST /v1/traces"[..]));
    assert_eq!(&server.seen()[0].body[..], b"spans");
    assert!(matches!(send("/v1/traces", 5).await, Err(HttpError::TooLarge { limit: 5, .. })));
    assert_eq!(refusal(&send("/mcp", 100).await.unwrap_err()), Refusal::Credentials);
    assert_eq!(other.connections(), 0);
}

//! Which redirects are followed.

use std::net::SocketAddr;

use super::super::connector::NAMES;
use super::super::{HttpError, RedirectPolicy, RedirectRefusal};
use super::scripted_server::{
    ScriptedReply, TestServer, client, fetch, ok, post, post_with, redirect, render, send,
};

/// Starts a server that redirects from `/mcp` and answers anything else with the request line.
async fn redirecting(status: u16, location: &str) -> TestServer {
    let answer = redirect(status, location);
    TestServer::start(move |seen| match seen.line() {
        "POST /mcp" => ScriptedReply::Keep(answer.clone()),
        line => ScriptedReply::Keep(ok(line)),
    })
    .await
}

fn refusal(error: &HttpError) -> RedirectRefusal {
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
    assert_eq!(refusal(&error), RedirectRefusal::SeeOther);
    assert!(!error.never_sent());
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_followed_without_credentials() {
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
        assert_eq!(refusal(&error), RedirectRefusal::Credentials);
        assert!(!render(&error).contains("secret"), "{}", render(&error));
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn an_upgrade_with_credentials_says_what_to_change() {
    let server = redirecting(308, "https://127.0.0.1/mcp?key=secret").await;
    let outgoing = post_with(&server.at("/mcp"), "authorization", "Bearer secret");
    let error = client().send(outgoing).await.unwrap_err();
    assert_eq!(refusal(&error), RedirectRefusal::Credentials);
    let text = render(&error).replace(&server.port.to_string(), "PORT");
    insta::assert_snapshot!(text, @r"
    http://127.0.0.1:PORT/mcp redirects to https://127.0.0.1/mcp, which was not followed: the request carries credentials that are meant for the first address only
      hint: change the address in the configuration to https://127.0.0.1/mcp
    ");
}

#[tokio::test]
async fn an_invalid_location_is_not_followed() {
    for location in ["http://", "ftp://127.0.0.1/", "file:///etc/passwd", "unix:///run/a.sock"] {
        let server = redirecting(307, location).await;
        let error = fetch(&client(), &server.at("/mcp")).await.unwrap_err();
        assert_eq!(refusal(&error), RedirectRefusal::NotAnAddress, "{location}");
    }
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let server = redirecting(307, "/mcp").await;
    let error = fetch(&client(), &server.at("/mcp")).await.unwrap_err();
    assert_eq!(refusal(&error), RedirectRefusal::TooMany);
    assert_eq!(server.seen().len(), 6);
}

#[tokio::test]
async fn a_redirect_to_an_unreachable_server_counts_as_sent() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let server = redirecting(307, &nowhere).await;
    let error = fetch(&client(), &server.at("/mcp")).await.unwrap_err();
    assert_eq!(refusal(&error), RedirectRefusal::Unreachable);
    assert!(!error.never_sent());
    assert!(render(&error).contains("cause: could not connect to"), "{}", render(&error));
}

#[tokio::test]
async fn a_redirect_status_without_location_is_a_response() {
    let server = TestServer::start(|_| {
        ScriptedReply::Keep(super::scripted_server::answer("307 Redirect", "", "x"))
    })
    .await;
    assert_eq!(send(&client(), &server.at("/")).await.unwrap().status, 307);
}

#[tokio::test]
async fn post_refuses_other_origins_and_returns_the_whole_body() {
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
    assert_eq!(refusal(&send("/mcp", 100).await.unwrap_err()), RedirectRefusal::Credentials);
    assert_eq!(other.connections(), 0);
}

/// Sets the addresses of a name in this test.
fn name(name: &str, addresses: &[&str]) {
    let addresses = addresses.iter().map(|it| SocketAddr::new(it.parse().unwrap(), 0)).collect();
    NAMES.with_borrow_mut(|names| names.insert(name.to_owned(), addresses));
}

/// Returns an address of this machine besides the loopback, if there is one.
fn own_address() -> Option<String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("192.0.2.7:9").ok()?;
    Some(socket.local_addr().unwrap().ip().to_string())
}

#[tokio::test]
async fn a_remote_server_cannot_redirect_to_this_machine_under_any_name() {
    name("far.test", &["127.0.0.1"]);
    name("loopback.test", &["127.0.0.1"]);
    name("zero.test", &["0.0.0.0"]);
    name("mapped.test", &["::ffff:127.0.0.1"]);
    name("link.test", &["169.254.169.254"]);
    name("mixed.test", &["192.0.2.7", "127.0.0.1"]);
    let mut hosts: Vec<String> = [
        "loopback.test",
        "zero.test",
        "mapped.test",
        "link.test",
        "mixed.test",
        "localhost",
        "localhost.",
        "x.localhost",
        "127.0.0.1",
        "0.0.0.0",
        "0",
        "2130706433",
        "0x7f.1",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[fe80::1]",
    ]
    .map(str::to_owned)
    .into();
    if let Some(own) = own_address() {
        name("own.test", &[&own]);
        hosts.extend(["own.test".to_owned(), own]);
    }
    let near = TestServer::start(|_| ScriptedReply::Keep(ok("secret"))).await;
    for host in hosts {
        let server = redirecting(307, &format!("http://{host}:{}/", near.port)).await;
        let far = format!("http://far.test:{}/mcp", server.port);
        let error = fetch(&client(), &far).await.unwrap_err();
        assert_eq!(refusal(&error), RedirectRefusal::LocalAddress, "{host}");
    }
    assert_eq!(near.connections(), 0);
}

#[tokio::test]
async fn a_chain_of_redirects_cannot_lead_to_this_machine() {
    name("far.test", &["127.0.0.1"]);
    let near = TestServer::start(|_| ScriptedReply::Keep(ok("secret"))).await;
    // Its name counts as remote, although it resolves to this machine.
    let server = redirecting(307, "/again").await;
    let (port, target) = (server.port, near.at("/"));
    let chain = TestServer::start(move |seen| match seen.line() {
        "POST /mcp" => ScriptedReply::Keep(redirect(307, &format!("http://far.test:{port}/mcp"))),
        _ => ScriptedReply::Keep(redirect(307, &target)),
    })
    .await;
    let error = fetch(&client(), &format!("http://far.test:{}/mcp", chain.port)).await.unwrap_err();
    assert_eq!(refusal(&error), RedirectRefusal::LocalAddress);
    assert_eq!((near.connections(), server.connections()), (0, 0));
}

#[tokio::test]
async fn a_pooled_connection_to_an_unchecked_address_is_not_used_for_a_redirect() {
    name("far.test", &["127.0.0.1"]);
    name("own-entry.test", &["127.0.0.1"]);
    let near = TestServer::start(|_| ScriptedReply::Keep(ok("secret"))).await;
    let own = format!("http://own-entry.test:{}/", near.port);
    let server = redirecting(307, &own).await;
    let client = client();
    // A configured address leads there, and its connection is in the pool.
    assert_eq!(fetch(&client, &own).await.unwrap(), "secret");
    let error = fetch(&client, &format!("http://far.test:{}/mcp", server.port)).await.unwrap_err();
    assert_eq!(refusal(&error), RedirectRefusal::LocalAddress);
    assert_eq!(near.seen().len(), 1);
}

#[tokio::test]
async fn a_local_server_may_redirect_to_a_local_server() {
    let near = TestServer::start(|_| ScriptedReply::Keep(ok("fine"))).await;
    for host in ["localhost", "127.0.0.1"] {
        let server = redirecting(307, &format!("http://{host}:{}/", near.port)).await;
        assert_eq!(fetch(&client(), &server.at("/mcp")).await.unwrap(), "fine", "{host}");
    }
}

#[tokio::test]
async fn a_request_that_must_not_be_sent_twice_gets_the_redirect_as_its_answer() {
    let server = redirecting(307, "/mcp/").await;
    let mut outgoing = post(&server.at("/mcp"));
    outgoing.redirects = RedirectPolicy::Return;
    assert_eq!(client().send(outgoing).await.unwrap().status, 307);
    assert_eq!(server.seen().len(), 1);
}

//! Requests through proxies, and exemptions from them.

use super::super::proxy::{ProxyRoute, ProxyRules};
use super::super::{HttpClient, HttpClientOptions, HttpError, Proxies};
use super::scripted_server::{ScriptedReply, TestServer, answer, fetch, ok, render};

fn through(http: &str, https: &str, none: &str) -> HttpClient {
    let proxies = Proxies {
        http: http.to_owned(),
        https: https.to_owned(),
        all: String::new(),
        none: none.to_owned(),
    };
    HttpClient::new(&HttpClientOptions { proxies, ..HttpClientOptions::default() })
}

/// Starts a proxy that answers forwarded requests with their first line.
async fn proxy() -> TestServer {
    TestServer::start(|seen| ScriptedReply::Keep(ok(seen.line()))).await
}

#[tokio::test]
async fn a_plain_request_is_forwarded() {
    let proxy = proxy().await;
    let address = proxy.at("").replace("http://", "http://me:pw@");
    let client = through(&address, "", "");
    for _ in 0..2 {
        let line = fetch(&client, "http://mcp.example/path?x=1").await.unwrap();
        assert_eq!(line, "POST http://mcp.example/path?x=1");
    }
    assert_eq!(proxy.connections(), 1);
    let seen = proxy.seen().pop().unwrap();
    assert_eq!(seen.header("host"), Some("mcp.example"));
    assert_eq!(seen.header("proxy-authorization"), Some("Basic bWU6cHc="));
}

#[tokio::test]
async fn local_servers_are_never_reached_through_a_proxy() {
    let proxy = proxy().await;
    let server = TestServer::start(|_| ScriptedReply::Keep(ok("direct"))).await;
    let client = through(&proxy.at(""), "", "");
    assert_eq!(fetch(&client, &server.at("/")).await.unwrap(), "direct");
    let by_name = server.at("/").replace("127.0.0.1", "localhost");
    assert_eq!(fetch(&client, &by_name).await.unwrap(), "direct");
    assert_eq!(proxy.connections(), 0);
}

/// Tells whether a request goes through the proxy, with this `no_proxy`.
fn is_forwarded(none: &str, address: &str) -> bool {
    let (http, none) = ("proxy.example:3128".to_owned(), none.to_owned());
    let rules = ProxyRules::new(&Proxies { http, none, ..Proxies::default() });
    match rules.route(&address.parse().unwrap()).unwrap() {
        ProxyRoute::Forward(proxy) => {
            assert_eq!(proxy.origin.to_string(), "http://proxy.example:3128");
            true
        }
        ProxyRoute::Direct => false,
        ProxyRoute::Tunnel(_) | ProxyRoute::Socks(_) => panic!("neither is set"),
    }
}

#[test]
fn hosts_can_be_exempt() {
    let host = "http://mcp.example.com/";
    for none in ["", "other.com", "cp.example.com", "example.com:81", "10.0.0.0/8"] {
        assert!(is_forwarded(none, host), "{none}");
    }
    for none in [
        "mcp.example.com",
        "x, MCP.example.com",
        "example.com",
        ".example.com",
        "*.example.com",
        "*",
        "example.com:80",
        "*:80",
    ] {
        assert!(!is_forwarded(none, host), "{none}");
    }
    assert!(!is_forwarded("10.0.0.0/8", "http://10.1.2.3/"));
    assert!(!is_forwarded("*", "http://10.1.2.3/"));
    assert!(!is_forwarded("[2001:db8::1]", "http://[2001:db8::1]/"));
    assert!(!is_forwarded("[2001:db8::1]:8080", "http://[2001:db8::1]:8080/"));
    assert!(is_forwarded("2001:db8::1", "http://[2001:db8::2]/"));
    assert!(!is_forwarded("", "https://mcp.example.com/"));
}

#[tokio::test]
async fn a_refused_tunnel_says_why() {
    for (status, cause) in [
        ("407 Proxy Authentication Required", "the proxy rejected the credentials (407)"),
        ("403 Forbidden", "the proxy answered 403"),
    ] {
        let proxy = TestServer::start(move |_| ScriptedReply::Close(answer(status, "", ""))).await;
        let address = proxy.at("").replace("http://", "http://me:secret@");
        let error = fetch(&through("", &address, ""), "https://mcp.example/").await.unwrap_err();
        assert!(error.never_sent());
        let text = render(&error);
        assert!(text.contains(cause) && !text.contains("secret"), "{text}");
        let seen = proxy.seen().pop().unwrap();
        assert_eq!(seen.line(), "CONNECT mcp.example:443");
        assert_eq!(seen.header("proxy-authorization"), Some("Basic bWU6c2VjcmV0"));
    }
}

#[tokio::test]
async fn an_invalid_proxy_setting_is_an_error() {
    let error = fetch(&through("ftp://secret", "", ""), "http://mcp.example/").await.unwrap_err();
    assert!(matches!(error, HttpError::Proxy { proxy: None, .. }), "{error:?}");
    insta::assert_snapshot!(render(&error), @r"
    could not reach http://mcp.example through the proxy
      cause: the proxy setting is not an address such as `http://host:port`
      hint: check `http_proxy`, `https_proxy` and `all_proxy`, or name the host in `no_proxy`
    ");
}

#[tokio::test]
async fn an_unreachable_proxy_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://me:secret@{}", listener.local_addr().unwrap());
    drop(listener);
    let error = fetch(&through(&proxy, "", ""), "http://mcp.example/").await.unwrap_err();
    let text = render(&error);
    let start = "could not reach http://mcp.example through the proxy http://127.0.0.1:";
    assert!(text.starts_with(start) && !text.contains("secret"), "{text}");
    assert!(error.never_sent());
}

#[test]
fn lower_case_variables_take_precedence() {
    let variables = |name: &str| match name {
        "http_proxy" => Some("http://small".to_owned()),
        "HTTP_PROXY" => Some("http://capital".to_owned()),
        "HTTPS_PROXY" => Some("http://me:secret@capital".to_owned()),
        "NO_PROXY" => Some("capital".to_owned()),
        "all_proxy" => Some(String::new()),
        "ALL_PROXY" => Some("http://unused".to_owned()),
        _ => None,
    };
    let proxies = Proxies::from_variables(variables);
    let expected = ["http://small", "http://me:secret@capital", "", "capital"];
    assert_eq!([&*proxies.http, &*proxies.https, &*proxies.all, &*proxies.none], expected);
    assert!(!format!("{proxies:?}").contains("secret"));
}

mod socks {
    //! A minimal SOCKS5 proxy: it records the requested address and responds itself.

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::super::super::{HttpClient, HttpClientOptions, Proxies};
    use super::super::scripted_server::{fetch, ok};

    async fn serve(listener: TcpListener) -> String {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = [0; 3];
        stream.read_exact(&mut hello).await.unwrap();
        stream.write_all(&[5, 0]).await.unwrap();
        let mut request = [0; 5];
        stream.read_exact(&mut request).await.unwrap();
        assert_eq!(request[..4], [5, 1, 0, 3], "the proxy should look up the name");
        let mut name = vec![0; usize::from(request[4]) + 2];
        stream.read_exact(&mut name).await.unwrap();
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
        let port = name.split_off(name.len() - 2);
        let mut head = [0; 1024];
        let count = stream.read(&mut head).await.unwrap();
        assert!(head[..count].starts_with(b"POST /mcp HTTP/1.1\r\n"));
        stream.write_all(ok("socks").as_bytes()).await.unwrap();
        format!("{}:{}", String::from_utf8(name).unwrap(), port[1])
    }

    #[tokio::test]
    async fn a_request_goes_through_socks() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let all = format!("socks5h://{}", listener.local_addr().unwrap());
        let proxies = Proxies { all, ..Proxies::default() };
        let client =
            HttpClient::new(&HttpClientOptions { proxies, ..HttpClientOptions::default() });
        let (asked, answer) =
            tokio::join!(serve(listener), fetch(&client, "http://mcp.example/mcp"));
        assert_eq!((asked.as_str(), answer.unwrap().as_str()), ("mcp.example:80", "socks"));
    }
}

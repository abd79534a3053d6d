//! TLS: root certificates, HTTP/2 and tunnels. The servers are threads with blocking sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::super::{HttpClient, HttpClientOptions, HttpError, Proxies};
use super::scripted_server::{client, fetch, ok, render};

type Stream = StreamOwned<ServerConnection, TcpStream>;

/// A secure server for `localhost` and `mcp.example` with a certificate that it signed itself.
struct TlsServer {
    port: u16,
    connections: Arc<AtomicUsize>,
    certificate: PathBuf,
    _folder: tempfile::TempDir,
}

impl TlsServer {
    fn start(protocol: &'static [u8], serve: fn(&mut Stream) -> std::io::Result<()>) -> Self {
        let names = ["localhost".to_owned(), "mcp.example".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let certificate = folder.path().join("authority.pem");
        #[expect(clippy::disallowed_methods, reason = "a file in a folder of the test")]
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                count.fetch_add(1, Ordering::SeqCst);
                let connection = ServerConnection::new(config.clone()).unwrap();
                let mut stream = StreamOwned::new(connection, stream);
                // An error means that the client has closed the connection.
                thread::spawn(move || serve(&mut stream).is_ok());
            }
        });
        Self { port, connections, certificate, _folder: folder }
    }

    fn address(&self) -> String {
        format!("https://localhost:{}/mcp", self.port)
    }

    /// Returns the options of a client that trusts it.
    fn trusted(&self) -> HttpClientOptions {
        HttpClientOptions {
            extra_roots: vec![self.certificate.clone()],
            ..HttpClientOptions::default()
        }
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Answers each request with its first line.
fn serve_http1(stream: &mut Stream) -> std::io::Result<()> {
    loop {
        let mut head = Vec::new();
        let mut byte = [0];
        // The body of every request here is `{}`.
        while !head.ends_with(b"\r\n\r\n{}") {
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let line = String::from_utf8(head).unwrap().lines().next().unwrap().to_owned();
        stream.write_all(ok(&line).as_bytes())?;
        stream.flush()?;
    }
}

/// Implements just enough HTTP/2 to answer every request with 200 and its stream id.
fn serve_http2(stream: &mut Stream) -> std::io::Result<()> {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    let mut preface = [0; 24];
    stream.read_exact(&mut preface)?;
    assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    write_frame(stream, SETTINGS, 0, 0, b"")?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let (kind, flags) = (head[3], head[4]);
        let number = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        stream.read_exact(&mut payload)?;
        match kind {
            SETTINGS if flags & 1 == 0 => write_frame(stream, SETTINGS, 1, 0, b"")?,
            DATA if flags & 1 == 1 => {
                // 0x88 is `:status: 200` in the static table.
                write_frame(stream, HEADERS, 4, number, &[0x88])?;
                write_frame(stream, DATA, 1, number, format!("stream {number}").as_bytes())?;
            }
            _ => {}
        }
    }
}

fn write_frame(
    stream: &mut Stream,
    kind: u8,
    flags: u8,
    number: u32,
    payload: &[u8],
) -> std::io::Result<()> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(number.to_be_bytes());
    frame.extend(payload);
    stream.write_all(&frame)?;
    stream.flush()
}

#[tokio::test]
async fn an_extra_root_certificate_is_trusted() {
    let server = TlsServer::start(b"http/1.1", serve_http1);
    let client = HttpClient::new(&server.trusted());
    for _ in 0..3 {
        assert_eq!(fetch(&client, &server.address()).await.unwrap(), "POST /mcp HTTP/1.1");
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn an_unknown_authority_is_refused_with_a_hint() {
    let server = TlsServer::start(b"http/1.1", serve_http1);
    let error = fetch(&client(), &server.address()).await.unwrap_err();
    assert!(matches!(error, HttpError::Tls { .. }) && error.never_sent(), "{error:?}");
    let text = render(&error);
    assert!(text.starts_with("could not set up TLS with https://localhost:"), "{text}");
    assert!(text.contains("UnknownIssuer") && text.contains("`SSL_CERT_FILE`"), "{text}");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let server = TlsServer::start(b"http/1.1", serve_http1);
    let address = server.address().replace("localhost", "127.0.0.1");
    let error = fetch(&HttpClient::new(&server.trusted()), &address).await.unwrap_err();
    assert!(error.hint().unwrap().contains("another name"), "{error:?}");
}

#[tokio::test]
async fn a_server_without_tls_is_rejected() {
    let server = super::scripted_server::TestServer::start(|_| {
        super::scripted_server::ScriptedReply::Keep(ok(""))
    })
    .await;
    let address = server.at("/").replace("http:", "https:");
    // The server waits for an empty line, so the handshake ends only with the timeout.
    let options = HttpClientOptions {
        connect_timeout: std::time::Duration::from_millis(100),
        ..HttpClientOptions::default()
    };
    let error = fetch(&HttpClient::new(&options), &address).await.unwrap_err();
    assert!(error.never_sent(), "{error:?}");
    assert_eq!(server.seen().len(), 0);
}

#[tokio::test]
async fn requests_share_one_http2_connection() {
    let server = TlsServer::start(b"h2", serve_http2);
    let client = HttpClient::new(&server.trusted());
    let address = server.address();
    let all = (0..8).map(|_| fetch(&client, &address));
    let mut answers: Vec<String> =
        futures_util::future::join_all(all).await.into_iter().map(Result::unwrap).collect();
    answers.push(fetch(&client, &address).await.unwrap());
    answers.sort_by_key(|answer| (answer.len(), answer.clone()));
    let expected: Vec<String> = (0..9).map(|index| format!("stream {}", 2 * index + 1)).collect();
    assert_eq!(answers, expected);
    assert_eq!(server.connections(), 1);
    client.close().await;
    assert!(matches!(fetch(&client, &address).await, Err(HttpError::Closed)));
}

#[tokio::test]
async fn many_first_requests_to_http1_do_not_wait_for_each_other() {
    let server = TlsServer::start(b"http/1.1", serve_http1);
    let client = HttpClient::new(&server.trusted());
    let address = server.address();
    let all = (0..8).map(|_| fetch(&client, &address));
    for answer in futures_util::future::join_all(all).await {
        assert_eq!(answer.unwrap(), "POST /mcp HTTP/1.1");
    }
    assert!(server.connections() <= 8);
}

#[tokio::test]
async fn a_secure_request_goes_through_a_tunnel() {
    let server = TlsServer::start(b"http/1.1", serve_http1);
    let port = server.port;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let tunnel = thread::spawn(move || relay(&listener, port));
    let proxies = Proxies { https: proxy, ..Proxies::default() };
    let client = HttpClient::new(&HttpClientOptions { proxies, ..server.trusted() });
    let answer = fetch(&client, "https://mcp.example/mcp").await.unwrap();
    assert_eq!(answer, "POST /mcp HTTP/1.1");
    assert_eq!(tunnel.join().unwrap(), "CONNECT mcp.example:443 HTTP/1.1");
    assert_eq!(server.connections(), 1);
}

/// Accepts one `CONNECT` and forwards all bytes to a port; returns the request line.
fn relay(listener: &TcpListener, port: u16) -> String {
    let (mut client, _) = listener.accept().unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        client.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.write_all(b"HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n").unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || std::io::copy(&mut from, &mut to).is_ok());
    thread::spawn(move || std::io::copy(&mut client, &mut server).is_ok());
    String::from_utf8(head).unwrap().lines().next().unwrap().to_owned()
}

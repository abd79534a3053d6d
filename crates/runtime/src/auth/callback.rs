//! Receives the answer of the page at an address of this machine.
//!
//! Any page in the browser, and any user of this machine, can send requests to the address. So only
//! a request to its path and host counts, and only with the state of this sign-in; all others get
//! an error page, and the wait goes on. Browsers open connections that they never use, so each
//! connection is read by itself.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use url::{Host, Url};
use wharf_config::Secret;

use super::answer::ExpectedAnswer;
use super::error::{AnswerFlaw, SignInError};
use super::peer;
use super::prompt::is_loopback;

/// The path of the callback where the entry names none.
const PATH: &str = "/callback";

/// How many bytes the head of a request may have.
const MAX_HEAD: usize = 32 << 10;

/// How long a request may take.
const LIMIT: Duration = Duration::from_secs(10);

/// How many connections are read at the same time; a further one ends the oldest.
const MAX_CONNECTIONS: usize = 32;

/// Listens at the address of the callback.
pub(super) struct CallbackListener {
    listeners: Vec<TcpListener>,
    address: Url,
}

/// What a request to the callback brought.
pub(super) enum CallbackEvent {
    /// The answer to this sign-in.
    Answered(Result<Secret, SignInError>),
    /// Something else, which was refused.
    Ignored(String),
}

impl CallbackListener {
    /// Listens on a port, or on any free one. `redirect` is the address that is registered, if it is
    /// on this machine.
    pub(super) async fn bind(
        redirect: Option<&Url>,
        port: Option<u16>,
        preferred: Option<u16>,
    ) -> Result<Self, SignInError> {
        let own_port = redirect.and_then(Url::port_or_known_default);
        let fixed = port.or(own_port.filter(|_| redirect.is_some_and(has_port)));
        let failed = |port| move |source| SignInError::Callback { port, source };
        let hosts = hosts(redirect);
        let listeners = match (fixed, preferred) {
            (Some(port), _) => bind_all(&hosts, port).await.map_err(failed(port))?,
            // The port of an earlier sign-in is taken: any other one.
            (None, Some(port)) => match bind_all(&hosts, port).await {
                Ok(listeners) => listeners,
                Err(_) => bind_all(&hosts, 0).await.map_err(failed(0))?,
            },
            (None, None) => bind_all(&hosts, 0).await.map_err(failed(0))?,
        };
        let port = listeners[0].local_addr().map_err(failed(0))?.port();
        let base = format!("http://127.0.0.1:{port}{PATH}");
        let mut address = match redirect {
            Some(redirect) => redirect.clone(),
            None => Url::parse(&base).map_err(|_| SignInError::InvalidRedirect)?,
        };
        address.set_port(Some(port)).map_err(|()| SignInError::InvalidRedirect)?;
        Ok(Self { listeners, address })
    }

    /// Returns the address of the callback.
    pub(super) fn address(&self) -> &Url {
        &self.address
    }

    /// Waits for the answer, and reports requests that are something else.
    pub(super) async fn wait(
        &self,
        expected: &ExpectedAnswer,
        mut ignored: impl FnMut(String),
    ) -> Result<Secret, SignInError> {
        let (sender, mut events) = mpsc::channel(MAX_CONNECTIONS);
        let mut connections = JoinSet::new();
        let mut open = VecDeque::new();
        loop {
            tokio::select! {
                accepted = accept(&self.listeners) => {
                    let Ok(stream) = accepted else {
                        // Too many open files; the person may still paste.
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        continue;
                    };
                    let (sender, expected) = (sender.clone(), expected.clone());
                    let address = self.address.clone();
                    open.retain(|connection: &AbortHandle| !connection.is_finished());
                    if open.len() >= MAX_CONNECTIONS
                        && let Some(oldest) = open.pop_front()
                    {
                        oldest.abort();
                    }
                    open.push_back(connections.spawn(async move {
                        let serve = serve(stream, &address, &expected);
                        if let Ok(Ok(event)) = tokio::time::timeout(LIMIT, serve).await {
                            drop(sender.send(event).await);
                        }
                    }));
                }
                Some(_) = connections.join_next() => {}
                Some(event) = events.recv() => match event {
                    CallbackEvent::Answered(answer) => return answer,
                    CallbackEvent::Ignored(reason) => ignored(reason),
                },
            }
        }
    }
}

fn has_port(redirect: &Url) -> bool {
    redirect.port().is_some()
}

/// Returns the addresses to listen on. `localhost` may be either.
fn hosts(redirect: Option<&Url>) -> Vec<IpAddr> {
    let (v4, v6) = (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));
    match redirect.and_then(Url::host) {
        Some(Host::Ipv4(address)) => vec![address.into()],
        Some(Host::Ipv6(address)) => vec![address.into()],
        Some(Host::Domain(_)) => vec![v4, v6],
        None => vec![v4],
    }
}

/// Tells whether this machine has no address of this kind.
fn is_no_address(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::Unsupported)
        // No support of IPv6 at all: EAFNOSUPPORT on Linux and macOS, WSAEAFNOSUPPORT.
        || matches!(error.raw_os_error(), Some(97 | 47 | 10047))
}

/// Listens on all addresses with one port.
async fn bind_all(hosts: &[IpAddr], port: u16) -> io::Result<Vec<TcpListener>> {
    let mut listeners: Vec<TcpListener> = Vec::new();
    for host in hosts {
        let port = match listeners.first() {
            Some(first) => first.local_addr()?.port(),
            None => port,
        };
        match TcpListener::bind(SocketAddr::new(*host, port)).await {
            Ok(listener) => listeners.push(listener),
            // A machine may have no IPv6. With any other error, another program may have the port,
            // and could receive the answer.
            Err(error) if !listeners.is_empty() && is_no_address(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(listeners)
}

async fn accept(listeners: &[TcpListener]) -> io::Result<TcpStream> {
    let accepts = listeners.iter().map(|listener| Box::pin(listener.accept()));
    let (accepted, ..) = futures_util::future::select_all(accepts).await;
    Ok(accepted?.0)
}

/// Reads one request and answers it with a page.
async fn serve(
    mut stream: TcpStream,
    address: &Url,
    expected: &ExpectedAnswer,
) -> io::Result<CallbackEvent> {
    let head = read_head(&mut stream).await?;
    let outcome = if peer::is_other_user(&stream) {
        Err(Refused::Request("403 Forbidden"))
    } else {
        read_answer(&head, address, expected)
    };
    let (status, title, text) = match &outcome {
        Ok(_) => ("200 OK", "Signed in", RETURN),
        Err(Refused::Answer(_)) => ("200 OK", "The sign-in did not succeed", RETURN),
        Err(Refused::Request(reason)) => (*reason, "This is not the answer to a sign-in", AGAIN),
    };
    let body = page(title, text);
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
         content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\n\
         x-content-type-options: nosniff\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    // The person may have closed the page already.
    drop(stream.write_all(response.as_bytes()).await);
    drop(stream.shutdown().await);
    Ok(match outcome {
        Ok(code) => CallbackEvent::Answered(Ok(code)),
        Err(Refused::Answer(error)) => CallbackEvent::Answered(Err(error)),
        Err(Refused::Request(reason)) => CallbackEvent::Ignored(reason.to_owned()),
    })
}

/// Why a request brings no code.
enum Refused {
    /// It is the answer to this sign-in, which failed.
    Answer(SignInError),
    /// It is something else; the status of the response.
    Request(&'static str),
}

fn read_answer(head: &str, address: &Url, expected: &ExpectedAnswer) -> Result<Secret, Refused> {
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if method != "GET" {
        return Err(Refused::Request("405 Method Not Allowed"));
    }
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    // A page of another site can let its own name resolve to this machine.
    if !host.is_some_and(|host| is_own_host(host, address)) {
        return Err(Refused::Request("403 Forbidden"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if path != address.path() {
        return Err(Refused::Request("404 Not Found"));
    }
    expected.code(query).map_err(|error| match error {
        SignInError::RejectedAnswer(AnswerFlaw::State) => Refused::Request("400 Bad Request"),
        error => Refused::Answer(error),
    })
}

fn is_own_host(host: &str, address: &Url) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}/")) else { return false };
    is_loopback(&url) && url.port_or_known_default() == address.port_or_known_default()
}

async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await?;
        if count == 0 || head.len() + count > MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.extend_from_slice(&chunk[..count]);
    }
    String::from_utf8(head).map_err(|_| io::ErrorKind::InvalidData.into())
}

const RETURN: &str = "Return to the program that you came from: it says how it went on. You can \
                      close this page.";
const AGAIN: &str = "Nothing was changed. If you are signing in, use the page that the program \
                     has opened last.";

/// Renders a page. Its texts are constant: nothing of a request is repeated.
fn page(title: &str, text: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>body{{font:16px/1.5 sans-serif;max-width:36em;margin:4em auto;padding:0 1em}}\
         </style></head><body><h1>{title}</h1><p>{text}</p></body></html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected() -> ExpectedAnswer {
        let issuer = Some("https://as.example".to_owned());
        ExpectedAnswer { state: "s".to_owned(), issuer, names_issuer: false }
    }

    /// Sends a request and returns the status of the response.
    async fn send(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(!response.contains("secret-code"), "{response}");
        response.lines().next().unwrap_or_default().to_owned()
    }

    fn get(target: &str, host: &str) -> String {
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")
    }

    #[tokio::test]
    async fn only_the_answer_of_this_sign_in_ends_the_wait() {
        let listener = CallbackListener::bind(None, None, None).await.unwrap();
        let port = listener.address().port().unwrap();
        let own = format!("127.0.0.1:{port}");
        let good = "/callback?code=secret-code&state=s";
        let mut reasons = Vec::new();
        let sending = async {
            // A connection without a request does not block the others.
            let idle = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let mut statuses = Vec::new();
            for (target, host) in [
                ("/favicon.ico", own.clone()),
                ("/callback?code=secret-code&state=t", own.clone()),
                (good, format!("evil.example:{port}")),
                (good, "127.0.0.1:1".to_owned()),
                (good, own.clone()),
            ] {
                statuses.push(send(port, &get(target, &host)).await);
            }
            drop(idle);
            statuses
        };
        let answers = expected();
        let (code, statuses) =
            tokio::join!(listener.wait(&answers, |reason| reasons.push(reason)), sending);
        assert_eq!(code.unwrap().expose(), "secret-code");
        let statuses: Vec<&str> = statuses.iter().map(|line| &line[9..12]).collect();
        assert_eq!(statuses, ["404", "400", "403", "403", "200"]);
        assert_eq!(reasons.len(), 4);
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_an_error_only_if_it_is_configured() {
        let first = CallbackListener::bind(None, None, None).await.unwrap();
        let port = first.address().port().unwrap();
        let error = CallbackListener::bind(None, Some(port), None).await.err().unwrap();
        assert!(matches!(error, SignInError::Callback { port: taken, .. } if taken == port));
        let redirect = Url::parse(&format!("http://127.0.0.1:{port}/done")).unwrap();
        assert!(CallbackListener::bind(Some(&redirect), None, None).await.is_err());
        let other = CallbackListener::bind(None, None, Some(port)).await.unwrap();
        assert_ne!(other.address().port(), Some(port));
    }

    #[tokio::test]
    async fn idle_connections_do_not_keep_the_answer_out() {
        let listener = CallbackListener::bind(None, None, None).await.unwrap();
        let port = listener.address().port().unwrap();
        let sending = async {
            let mut idle = Vec::new();
            for _ in 0..2 * MAX_CONNECTIONS {
                idle.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
            }
            send(port, &get("/callback?code=secret-code&state=s", &format!("127.0.0.1:{port}")))
                .await
        };
        let answers = expected();
        let both = async { tokio::join!(listener.wait(&answers, |_| ()), sending) };
        // Shorter than the limit of an idle connection.
        let (code, _) = tokio::time::timeout(LIMIT / 2, both).await.unwrap();
        assert_eq!(code.unwrap().expose(), "secret-code");
    }

    #[tokio::test]
    async fn the_address_of_the_redirect_is_the_one_to_listen_on() {
        // A port that another program has on one of the two addresses of the name is taken.
        if let Ok(other) = TcpListener::bind("[::1]:0").await {
            let port = other.local_addr().unwrap().port();
            let redirect = Url::parse(&format!("http://localhost:{port}/done")).unwrap();
            assert!(CallbackListener::bind(Some(&redirect), None, None).await.is_err());
        }
        let redirect = Url::parse("http://127.0.0.1/done").unwrap();
        let listener = CallbackListener::bind(Some(&redirect), None, None).await.unwrap();
        assert_eq!(hosts(Some(&redirect)), [IpAddr::V4(Ipv4Addr::LOCALHOST)]);
        drop(listener);
        let redirect = Url::parse("http://127.5.5.5:9/done").unwrap();
        assert_eq!(hosts(Some(&redirect)), [IpAddr::from([127, 5, 5, 5])]);
    }

    #[tokio::test]
    async fn a_refusal_of_the_page_ends_the_wait_with_its_reason() {
        let listener = CallbackListener::bind(None, None, None).await.unwrap();
        let port = listener.address().port().unwrap();
        let target = "/callback?error=access_denied&state=s";
        let request = get(target, &format!("localhost:{port}"));
        let answers = expected();
        let (code, _) = tokio::join!(listener.wait(&answers, |_| ()), send(port, &request));
        assert_eq!(code.unwrap_err().to_string(), "access_denied");
    }
}

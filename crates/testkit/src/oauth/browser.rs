//! A person with a browser: opens the address of a sign-in, and follows the redirect.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use url::Url;

/// The limit of one request.
const LIMIT: Duration = Duration::from_secs(20);

/// Where an authorization server sends the person after the sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationRedirect(pub String);

impl AuthorizationRedirect {
    /// Opens the address of a sign-in; does not follow the redirect.
    pub fn of(address: &str) -> io::Result<Self> {
        let response = get(address)?;
        let status = response.lines().next().unwrap_or_default();
        location(&response)
            .map(Self)
            .ok_or_else(|| io::Error::other(format!("no redirect: {status}")))
    }

    /// Returns a parameter, such as `code`.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let url = Url::parse(&self.0).ok()?;
        let mut pairs = url.query_pairs();
        pairs.find_map(|(own, value)| (own == name).then(|| value.into_owned()))
    }
}

/// Opens an address and follows its redirect, as a browser does; returns the last response, head
/// and body.
pub fn visit(address: &str) -> io::Result<String> {
    let response = get(address)?;
    match location(&response) {
        Some(location) => get(&location),
        None => Ok(response),
    }
}

fn location(response: &str) -> Option<String> {
    let head = response.lines().take_while(|line| !line.is_empty());
    head.into_iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned())
    })
}

/// Sends a GET request to a loopback address; returns head and body.
fn get(address: &str) -> io::Result<String> {
    let url = Url::parse(address).map_err(io::Error::other)?;
    let authority = format!(
        "{}:{}",
        url.host_str().unwrap_or_default(),
        url.port_or_known_default().unwrap_or(80)
    );
    let mut stream = TcpStream::connect(&authority)?;
    stream.set_read_timeout(Some(LIMIT))?;
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let request =
        format!("GET {target} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    Ok(String::from_utf8_lossy(&response).into_owned())
}

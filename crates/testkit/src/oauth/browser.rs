//! A person with a browser: opens the address of a sign-in, and follows the redirects.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use url::Url;
use url::form_urlencoded::Serializer;

/// The limit of one request.
const LIMIT: Duration = Duration::from_secs(20);

/// The most redirects that are followed.
const MAX_REDIRECTS: usize = 12;

/// Where an authorization server sends the person after the sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationRedirect(pub String);

impl AuthorizationRedirect {
    /// Opens the address of a sign-in; does not follow the redirect.
    pub fn of(address: &str) -> io::Result<Self> {
        let response = TestBrowser::default().send(address, None)?;
        location(&response).map(Self).ok_or_else(|| io::Error::other("there is no redirect"))
    }

    /// Returns a parameter, such as `code`.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let url = Url::parse(&self.0).ok()?;
        let mut pairs = url.query_pairs();
        pairs.find_map(|(own, value)| (own == name).then(|| value.into_owned()))
    }
}

/// Opens an address and follows its redirects; returns the last response, head and body.
pub fn visit(address: &str) -> io::Result<String> {
    TestBrowser::default().open(address)
}

/// A browser with cookies, for addresses on loopback.
#[derive(Debug, Default)]
pub struct TestBrowser {
    cookies: BTreeMap<String, String>,
}

impl TestBrowser {
    /// Opens an address and follows its redirects; returns the last response, head and body.
    pub fn open(&mut self, address: &str) -> io::Result<String> {
        self.follow(address, None)
    }

    /// Submits a form and follows the redirects; returns the last response, head and body.
    pub fn submit(&mut self, address: &str, fields: &[(&str, &str)]) -> io::Result<String> {
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        self.follow(address, Some(&body))
    }

    fn follow(&mut self, address: &str, form: Option<&str>) -> io::Result<String> {
        let (mut address, mut form) = (address.to_owned(), form);
        for _ in 0..MAX_REDIRECTS {
            let response = self.send(&address, form)?;
            let Some(next) = location(&response) else { return Ok(response) };
            let base = Url::parse(&address).map_err(io::Error::other)?;
            address = base.join(&next).map_err(io::Error::other)?.into();
            form = None;
        }
        Err(io::Error::other("there are too many redirects"))
    }

    /// Sends one request; returns head and body.
    fn send(&mut self, address: &str, form: Option<&str>) -> io::Result<String> {
        let url = Url::parse(address).map_err(io::Error::other)?;
        let port = url.port_or_known_default().unwrap_or(80);
        let authority = format!("{}:{port}", url.host_str().unwrap_or_default());
        let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (verb, body) = form.map_or(("GET", ""), |form| ("POST", form));
        let request = format!(
            "{verb} {target} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\
             cookie: {}\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             content-length: {}\r\n\r\n{body}",
            cookies.join("; "),
            body.len()
        );
        let mut stream = TcpStream::connect(&authority)?;
        stream.set_read_timeout(Some(LIMIT))?;
        stream.write_all(request.as_bytes())?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response)?;
        let response = String::from_utf8_lossy(&response).into_owned();
        for (name, value) in headers(&response) {
            let cookie = value.split(';').next().and_then(|pair| pair.split_once('='));
            if let (true, Some((own, value))) = (name == "set-cookie", cookie) {
                self.cookies.insert(own.trim().to_owned(), value.to_owned());
            }
        }
        self.cookies.retain(|_, value| !value.is_empty());
        Ok(response)
    }
}

fn location(response: &str) -> Option<String> {
    headers(response).find(|(name, _)| name == "location").map(|(_, value)| value.to_owned())
}

/// Returns the headers of a response; names are in lower case.
fn headers(response: &str) -> impl Iterator<Item = (String, &str)> {
    let head = response.lines().skip(1).take_while(|line| !line.is_empty());
    head.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim()))
    })
}

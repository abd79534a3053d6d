//! Gets through a proxy that then only passes on bytes: `CONNECT` over HTTP, or SOCKS.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;

use http::{HeaderValue, Uri};
use hyper::rt::{Read, ReadBuf, Write};
use hyper_util::client::legacy::connect::proxy::{SocksV4, SocksV5};
use tower_service::Service;

use super::connect::{Tcp, Wire};
use super::error::Cause;
use super::proxy::Proxy;

/// The longest answer of a proxy.
const LONGEST_HEAD: usize = 8 * 1024;

/// A proxy that answers something else than yes.
#[derive(Debug, thiserror::Error)]
pub(super) enum TunnelError {
    #[error("the proxy wants other credentials (407)")]
    Credentials,
    #[error("the proxy answered {0}")]
    Status(u16),
    #[error("the proxy does not speak HTTP")]
    NotHttp,
    #[error("the connection to the proxy failed")]
    Broken(#[from] io::Error),
}

/// Asks the proxy at the other end of a connection for a connection to a server.
pub(super) async fn connect(
    mut wire: Wire,
    server: &str,
    authorization: Option<&HeaderValue>,
) -> Result<Wire, TunnelError> {
    let mut request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    write(&mut wire, &request).await?;
    match read_status(&mut wire).await? {
        200..=299 => Ok(wire),
        407 => Err(TunnelError::Credentials),
        status => Err(TunnelError::Status(status)),
    }
}

/// Reads up to the empty line. One byte at a time, as what follows belongs to the server; it is a
/// hundred bytes once per connection.
async fn read_status(wire: &mut Wire) -> Result<u16, TunnelError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match read_byte(wire).await? {
            Some(byte) if head.len() < LONGEST_HEAD => head.push(byte),
            Some(_) => return Err(TunnelError::NotHttp),
            None => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = line.strip_prefix(b"HTTP/1.").ok_or(TunnelError::NotHttp)?;
    let status = line.get(2..5).and_then(|digits| std::str::from_utf8(digits).ok());
    status.and_then(|digits| digits.parse().ok()).ok_or(TunnelError::NotHttp)
}

async fn write(wire: &mut Wire, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = poll_fn(|cx| Pin::new(&mut *wire).poll_write(cx, bytes)).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    poll_fn(|cx| Pin::new(&mut *wire).poll_flush(cx)).await
}

async fn read_byte(wire: &mut Wire) -> io::Result<Option<u8>> {
    let mut byte = [0];
    let mut buffer = ReadBuf::new(&mut byte);
    poll_fn(|cx| Pin::new(&mut *wire).poll_read(cx, buffer.unfilled())).await?;
    Ok(buffer.filled().first().copied())
}

/// Connects to a server through a SOCKS proxy.
///
/// With `socks4` and `socks5` names are looked up here, with `socks4a` and `socks5h` by the proxy.
pub(super) async fn socks(proxy: &Proxy, tcp: Tcp, server: &Uri) -> Result<Wire, Cause> {
    let scheme = proxy.uri.scheme_str().unwrap_or_default().to_owned();
    let server = match scheme.as_str() {
        "socks4" | "socks5" => looked_up(server, scheme == "socks4").await?,
        _ => with_port(server)?,
    };
    if scheme.starts_with("socks4") {
        let mut socks = SocksV4::new(proxy.uri.clone(), tcp);
        return Ok(Wire::new(socks.call(server).await.map_err(to_cause)?));
    }
    let mut socks = SocksV5::new(proxy.uri.clone(), tcp);
    if let Some((user, password)) = proxy.user() {
        socks = socks.with_auth(user.to_owned(), password.to_owned());
    }
    Ok(Wire::new(socks.call(server).await.map_err(to_cause)?))
}

/// The errors of the handshake are shown in a form for programmers only, so say it ourselves.
fn to_cause<E: std::fmt::Debug>(_: E) -> Cause {
    "the SOCKS handshake failed".into()
}

fn with_port(server: &Uri) -> Result<Uri, Cause> {
    let host = server.host().unwrap_or_default();
    Ok(Uri::try_from(format!("http://{host}:{}/", port(server)))?)
}

async fn looked_up(server: &Uri, only_version_4: bool) -> Result<Uri, Cause> {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let mut addresses = tokio::net::lookup_host((host, port(server))).await?;
    let address = addresses.find(|address| address.is_ipv4() || !only_version_4);
    let address = address.ok_or("the host has no address that the proxy could use")?;
    Ok(Uri::try_from(format!("http://{address}/"))?)
}

fn port(server: &Uri) -> u16 {
    let default = if server.scheme_str() == Some("https") { 443 } else { 80 };
    server.port_u16().unwrap_or(default)
}

//! Makes a tunnel through a proxy, with `CONNECT` over HTTP or with SOCKS.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;

use http::{HeaderValue, Uri};
use hyper::rt::{Read, ReadBuf, Write};
use hyper_util::client::legacy::connect::proxy::{SocksV4, SocksV5};
use tower_service::Service;

use super::connector::{ByteStream, Tcp};
use super::error::BoxError;
use super::proxy::Proxy;

/// The size limit for the response head of a proxy.
const MAX_HEAD_BYTES: usize = 8 * 1024;

/// Why a proxy did not make a tunnel.
#[derive(Debug, thiserror::Error)]
pub(super) enum TunnelError {
    #[error("the proxy rejected the credentials (407)")]
    Credentials,
    #[error("the proxy answered {0}")]
    Status(u16),
    #[error("the proxy does not speak HTTP")]
    NotHttp,
    #[error("the connection to the proxy failed")]
    Broken(#[from] io::Error),
}

/// Requests a connection to a server from the proxy at the other end of a stream.
pub(super) async fn connect(
    mut stream: ByteStream,
    server: &str,
    authorization: Option<&HeaderValue>,
) -> Result<ByteStream, TunnelError> {
    let mut request = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n").into_bytes();
    if let Some(value) = authorization {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    write(&mut stream, &request).await?;
    match read_status(&mut stream).await? {
        200..=299 => Ok(stream),
        407 => Err(TunnelError::Credentials),
        status => Err(TunnelError::Status(status)),
    }
}

/// Reads the head of the proxy's response. It reads single bytes, because the bytes after the head
/// belong to the server; the head has about a hundred bytes.
async fn read_status(stream: &mut ByteStream) -> Result<u16, TunnelError> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match read_byte(stream).await? {
            Some(byte) if head.len() < MAX_HEAD_BYTES => head.push(byte),
            Some(_) => return Err(TunnelError::NotHttp),
            None => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = line.strip_prefix(b"HTTP/1.").ok_or(TunnelError::NotHttp)?;
    let status = line.get(2..5).and_then(|digits| std::str::from_utf8(digits).ok());
    status.and_then(|digits| digits.parse().ok()).ok_or(TunnelError::NotHttp)
}

async fn write(stream: &mut ByteStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = poll_fn(|cx| Pin::new(&mut *stream).poll_write(cx, bytes)).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    poll_fn(|cx| Pin::new(&mut *stream).poll_flush(cx)).await
}

async fn read_byte(stream: &mut ByteStream) -> io::Result<Option<u8>> {
    let mut byte = [0];
    let mut buffer = ReadBuf::new(&mut byte);
    poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, buffer.unfilled())).await?;
    Ok(buffer.filled().first().copied())
}

/// Connects to a server through a SOCKS proxy.
///
/// With `socks4` and `socks5`, names are looked up here; with `socks4a` and `socks5h`, by the
/// proxy.
pub(super) async fn socks(proxy: &Proxy, tcp: Tcp, server: &Uri) -> Result<ByteStream, BoxError> {
    let scheme = proxy.uri.scheme_str().unwrap_or_default().to_owned();
    let server = match scheme.as_str() {
        "socks4" | "socks5" => resolve(server, scheme == "socks4").await?,
        _ => with_port(server)?,
    };
    if scheme.starts_with("socks4") {
        let mut socks = SocksV4::new(proxy.uri.clone(), tcp);
        return Ok(ByteStream::new(socks.call(server).await.map_err(socks_error)?));
    }
    let mut socks = SocksV5::new(proxy.uri.clone(), tcp);
    if let Some((user, password)) = proxy.user() {
        socks = socks.with_auth(user.to_owned(), password.to_owned());
    }
    Ok(ByteStream::new(socks.call(server).await.map_err(socks_error)?))
}

/// Replaces the errors of the SOCKS handshake, which have only `Debug`.
fn socks_error<E: std::fmt::Debug>(_: E) -> BoxError {
    "the SOCKS handshake failed".into()
}

fn with_port(server: &Uri) -> Result<Uri, BoxError> {
    let host = server.host().unwrap_or_default();
    Ok(Uri::try_from(format!("http://{host}:{}/", port(server)))?)
}

async fn resolve(server: &Uri, only_version_4: bool) -> Result<Uri, BoxError> {
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

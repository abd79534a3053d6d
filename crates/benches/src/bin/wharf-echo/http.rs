//! Streamable HTTP without streams: one thread per keep-alive connection, one write per response.
//!
//! It supports only what the benchmarks need: requests have a `Content-Length`, and the path is
//! ignored.

#![expect(clippy::print_stdout, reason = "the first line is the address of the server")]

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::catalog::ToolCatalog;
use crate::response::{ClientSession, EchoResponse};
use crate::stdio::write_parts;

/// The first size of the buffer of a connection; a usual request fits.
const READ: usize = 16 << 10;
/// The longest request that is accepted.
const MAX_REQUEST_BYTES: usize = 64 << 20;

/// Serves until stdin is closed.
pub(crate) fn serve(address: SocketAddr, catalog: ToolCatalog) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    println!("http://{}/mcp", listener.local_addr()?);
    let catalog = Arc::new(catalog);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let catalog = Arc::clone(&catalog);
            // An error ends only this connection.
            thread::spawn(move || serve_connection(stream, &catalog).ok());
        }
    });
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}

fn serve_connection(mut stream: TcpStream, catalog: &ToolCatalog) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut session = ClientSession::new(catalog);
    let mut buffer = vec![0; READ];
    let mut filled = 0;
    let (mut body, mut out) = (Vec::new(), Vec::new());
    loop {
        let Some(head) = Head::read(&buffer[..filled])? else {
            if !fill(&mut stream, &mut buffer, &mut filled)? {
                return Ok(());
            }
            continue;
        };
        let end = head.length + head.body;
        while filled < end {
            if !fill(&mut stream, &mut buffer, &mut filled)? {
                return Ok(());
            }
        }
        body.clear();
        let (status, tail, close) = if head.is_post {
            match session.answer(&buffer[head.length..end], &mut body) {
                EchoResponse::NoResponse => ("202 Accepted", "", ""),
                EchoResponse::Reply(tail) => ("200 OK", tail, "}"),
                EchoResponse::UnknownMethod => ("404 Not Found", "", "}"),
            }
        } else {
            ("405 Method Not Allowed", "", "")
        };
        out.clear();
        let length = body.len() + tail.len() + close.len();
        let kind = if length > 0 { "Content-Type: application/json\r\n" } else { "" };
        write!(out, "HTTP/1.1 {status}\r\n{kind}Content-Length: {length}\r\n\r\n")?;
        out.extend_from_slice(&body);
        if tail.is_empty() {
            out.extend_from_slice(close.as_bytes());
            stream.write_all(&out)?;
        } else {
            write_parts(&mut stream, [&out, tail.as_bytes(), close.as_bytes()])?;
        }
        buffer.copy_within(end..filled, 0);
        filled -= end;
    }
}

/// Reads once; returns false at the end of the stream.
fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>, filled: &mut usize) -> io::Result<bool> {
    if *filled == buffer.len() {
        buffer.resize(buffer.len() * 2, 0);
    }
    let read = stream.read(&mut buffer[*filled..])?;
    *filled += read;
    Ok(read > 0)
}

/// The needed parts of the head of a request.
struct Head {
    is_post: bool,
    length: usize,
    body: usize,
}

impl Head {
    /// Returns `None` while the head is incomplete.
    fn read(text: &[u8]) -> io::Result<Option<Self>> {
        let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") else {
            let is_too_long = text.len() >= READ;
            return if is_too_long {
                Err(io::Error::other("the request head is too long"))
            } else {
                Ok(None)
            };
        };
        let mut body = 0;
        for line in text[..end].split(|&byte| byte == b'\n').skip(1) {
            let name = line.iter().position(|&byte| byte == b':').map(|colon| line.split_at(colon));
            let Some((name, value)) = name else { continue };
            if name.eq_ignore_ascii_case(b"content-length") {
                let value = std::str::from_utf8(&value[1..]).unwrap_or_default();
                body = value.trim().parse().map_err(io::Error::other)?;
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                return Err(io::Error::other("a request must have a Content-Length"));
            }
        }
        if body > MAX_REQUEST_BYTES {
            return Err(io::Error::other("a request is too long"));
        }
        Ok(Some(Self { is_post: text.starts_with(b"POST "), length: end + 4, body }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(bool, usize, usize)>) {
        let head = Head::read(text.as_bytes()).expect("a head");
        assert_eq!(head.map(|head| (head.is_post, head.length, head.body)), expected);
    }

    #[test]
    fn the_head_has_the_length_of_the_body() {
        check("POST /mcp HTTP/1.1\r\nHost: a\r\ncontent-length: 12\r\n\r\n{", Some((true, 51, 12)));
        check("GET /mcp HTTP/1.1\r\nHost: a\r\n\r\n", Some((false, 30, 0)));
        check("POST /mcp HTTP/1.1\r\nContent-Length: 12\r\n", None);
    }

    #[test]
    fn a_body_of_unknown_length_is_refused() {
        assert!(Head::read(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n").is_err());
        assert!(Head::read(b"POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n").is_err());
    }
}

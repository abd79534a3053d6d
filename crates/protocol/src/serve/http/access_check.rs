//! Access control: checks `Host`, `Origin` and the bearer token before anything else.
//!
//! A web page can send requests to this machine, and with DNS rebinding also under its own host
//! name. So `Host` must be a loopback or configured name, and `Origin`, if present, a trusted one.

use std::net::{Ipv4Addr, Ipv6Addr};

use axum::response::Response;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use super::options::HttpServerOptions;
use super::reply;

/// Checks whether a request is allowed, before anything else is read.
pub(super) fn check_access(
    options: &HttpServerOptions,
    parts: &Parts,
) -> Result<(), Box<Response>> {
    // A request may have its host in the target and in a header; both must be allowed.
    let mut hosts = parts
        .uri
        .authority()
        .map(Authority::as_str)
        .into_iter()
        .chain(host(&parts.headers))
        .peekable();
    if hosts.peek().is_none() || !hosts.all(|host| is_own_host(options, host)) {
        return Err(Box::new(reply::plain_error(StatusCode::FORBIDDEN, "Host not allowed")));
    }
    let origin = parts.headers.get(header::ORIGIN);
    if !origin.is_none_or(|origin| is_trusted_origin(options, origin)) {
        return Err(Box::new(reply::plain_error(StatusCode::FORBIDDEN, "Origin not allowed")));
    }
    check_token(options, &parts.headers)
}

fn host(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::HOST)?.to_str().ok()
}

fn is_own_host(options: &HttpServerOptions, authority: &str) -> bool {
    let name = without_port(authority);
    is_loopback(name)
        || options
            .hosts
            .iter()
            .any(|own| own.eq_ignore_ascii_case(name) || own.eq_ignore_ascii_case(authority))
}

fn is_trusted_origin(options: &HttpServerOptions, origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else { return false };
    let is_listed = options.origins.iter().any(|it| it.eq_ignore_ascii_case(origin));
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    is_listed || authority.is_some_and(|authority| is_loopback(without_port(authority)))
}

/// Removes `:port`; the colons of an IPv6 address are inside brackets.
fn without_port(authority: &str) -> &str {
    if authority.starts_with('[') {
        return authority.find(']').map_or(authority, |end| &authority[..=end]);
    }
    authority.split_once(':').map_or(authority, |(name, _)| name)
}

fn is_loopback(name: &str) -> bool {
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || inner.is_some_and(|it| it.parse::<Ipv6Addr>().is_ok_and(|it| it.is_loopback()))
}

fn check_token(options: &HttpServerOptions, headers: &HeaderMap) -> Result<(), Box<Response>> {
    let Some(token) = &options.token else { return Ok(()) };
    let presented = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = presented.and_then(|presented| {
        let (scheme, secret) = presented.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
    });
    if bearer.is_some_and(|secret| token.matches(secret)) {
        return Ok(());
    }
    let mut response = reply::plain_error(StatusCode::UNAUTHORIZED, "Unauthorized");
    let challenge = if bearer.is_some() { r#"Bearer error="invalid_token""# } else { "Bearer" };
    let challenge = HeaderValue::from_static(challenge);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    Err(Box::new(response))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(headers: &[(&'static str, &str)], expected: u16) {
        check_target("/mcp", headers, expected);
    }

    fn check_target(target: &str, headers: &[(&'static str, &str)], expected: u16) {
        let mut options = HttpServerOptions::default();
        options.hosts.push("wharf.example".to_owned());
        options.origins.push("https://app.example".to_owned());
        let mut request = http::Request::builder().uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let found = check_access(&options, &parts)
            .map_or_else(|refusal| refusal.status().as_u16(), |()| 200);
        assert_eq!(found, expected, "{headers:?}");
    }

    #[test]
    fn only_loopback_and_configured_hosts_are_accepted() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.9.9.9", "[::1]:1"] {
            check(&[("host", host)], 200);
        }
        check(&[("host", "wharf.example:443")], 200);
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::2]"] {
            check(&[("host", host)], 403);
        }
        check(&[], 403);
        check_target("http://localhost/mcp", &[], 200);
        check_target("http://localhost/mcp", &[("host", "evil.example")], 403);
        check_target("http://evil.example/mcp", &[("host", "localhost")], 403);
    }

    #[test]
    fn only_loopback_and_configured_origins_are_accepted() {
        for origin in ["http://localhost:5173", "https://127.0.0.1", "https://app.example"] {
            check(&[("host", "localhost"), ("origin", origin)], 200);
        }
        for origin in ["null", "https://evil.example", "http://localhost.evil.example", "x"] {
            check(&[("host", "localhost"), ("origin", origin)], 403);
        }
    }
}

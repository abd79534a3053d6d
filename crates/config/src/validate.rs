//! Decides how a server is reached, and whether its definition says enough for that.
//!
//! The check is about structure only: whether the program exists or the address answers is for
//! `status`, `doctor` and the connection to find out.

use crate::server::{Fields, TransportKind};

/// Why a definition cannot be used. The texts are part of the product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Invalid {
    /// It is unclear which one is meant.
    #[error("both \"command\" and \"url\" are set")]
    Both,
    /// A local server without a program.
    #[error("stdio server requires \"command\"")]
    NoCommand,
    /// A remote server without an address.
    #[error("{} server requires \"url\"", .0.word())]
    NoUrl(TransportKind),
    /// No such transport.
    #[error("unknown server type \"{0}\"")]
    UnknownType(String),
    /// A transport we know and do not speak.
    #[error("WebSocket is not supported")]
    WebSocket,
    /// An address that no transport could reach.
    #[error("\"url\" must start with http://, https:// or unix://")]
    Scheme,
    /// An address with no host.
    #[error("\"url\" has no host")]
    NoHost,
}

impl Invalid {
    /// Names the field to look at.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            Self::Both | Self::NoCommand => "command",
            Self::NoUrl(_) | Self::Scheme | Self::NoHost => "url",
            Self::UnknownType(_) | Self::WebSocket => "type",
        }
    }

    /// Says what to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Both => "keep \"command\" for a local server or \"url\" for a remote one",
            Self::NoCommand => {
                "add \"command\" (the program to start), or \"url\" for a remote server"
            }
            Self::NoUrl(_) => "add \"url\" with the server's address",
            Self::UnknownType(_) => "use stdio, http or sse",
            Self::WebSocket => "ask the server's author for its Streamable HTTP address",
            Self::Scheme => "write the whole address, such as https://example.com/mcp",
            Self::NoHost => "write the host after the two slashes",
        }
    }
}

/// Returns the transport of an entry, as far as the written fields tell.
pub(crate) fn transport(fields: &Fields) -> Result<TransportKind, Invalid> {
    let has_command = fields.command.as_ref().is_some_and(|command| !command.text.is_empty());
    let has_url = fields.url.as_ref().is_some_and(|url| !url.text.is_empty());
    let named = fields.kind.as_deref().map(kind_from_word).transpose()?;
    if has_command && has_url {
        return Err(Invalid::Both);
    }
    let kind = named.unwrap_or(match (has_command, has_url) {
        (false, true) => fields.url_kind.unwrap_or(TransportKind::Http),
        _ => TransportKind::Stdio,
    });
    match kind {
        TransportKind::Stdio if !has_command => Err(Invalid::NoCommand),
        TransportKind::Http | TransportKind::Sse if !has_url => Err(Invalid::NoUrl(kind)),
        _ => Ok(kind),
    }
}

/// Checks an address. One that still has a placeholder is left to its warning.
pub(crate) fn check_url(url: &str) -> Result<(), Invalid> {
    let Some((scheme, rest)) = url.trim().split_once("://") else {
        return if url.contains(['$', '{', '%']) { Ok(()) } else { Err(Invalid::Scheme) };
    };
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => {
            let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            if host.is_empty() || host.starts_with(':') { Err(Invalid::NoHost) } else { Ok(()) }
        }
        "unix" => Ok(()),
        "ws" | "wss" => Err(Invalid::WebSocket),
        scheme if scheme.contains(['$', '{', '%']) => Ok(()),
        _ => Err(Invalid::Scheme),
    }
}

/// Reads the word a file uses for its transport.
pub(crate) fn kind_from_word(word: &str) -> Result<TransportKind, Invalid> {
    match word.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "stdio" | "local" => Ok(TransportKind::Stdio),
        "http" | "streamablehttp" | "streamable" | "remote" => Ok(TransportKind::Http),
        "sse" => Ok(TransportKind::Sse),
        "ws" | "wss" | "websocket" => Err(Invalid::WebSocket),
        _ => Err(Invalid::UnknownType(crate::text::clip(word, 100))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand::Syntax;
    use crate::server::Written;

    /// Takes fields as `name=value`; shows the transport, or why there is none.
    fn check(fields: &str, expected: &str) {
        let mut read = Fields::default();
        for (name, value) in fields.split_whitespace().filter_map(|field| field.split_once('=')) {
            let written = Some(Written { text: value.to_owned(), syntax: Syntax::empty() });
            match name {
                "type" => read.kind = Some(value.to_owned()),
                "command" => read.command = written,
                "url" => read.url = written,
                _ => read.url_kind = Some(TransportKind::Sse),
            }
        }
        let shown = match transport(&read) {
            Ok(kind) => kind.word().to_owned(),
            Err(invalid) => format!("{invalid} ({})", invalid.field()),
        };
        assert_eq!(shown, expected, "{fields}");
    }

    #[test]
    fn the_fields_tell_the_transport() {
        check("command=x", "stdio");
        check("url=u", "http");
        check("url=u url-is-sse=", "sse");
        check("type=http url=u url-is-sse=", "http");
        check("type=sse url=u", "sse");
        check("command=x url=", "stdio");
        check("command= url=u", "http");
    }

    #[test]
    fn every_word_for_a_transport_is_understood() {
        for word in ["stdio", "local", "STDIO"] {
            check(&format!("type={word} command=x"), "stdio");
        }
        let http = ["http", "streamable-http", "streamable_http", "streamableHttp", "remote"];
        for word in http {
            check(&format!("type={word} url=u"), "http");
        }
        check("type=SSE url=u", "sse");
    }

    #[test]
    fn what_is_missing_or_too_much_is_said_in_these_words() {
        check("command=x url=u", "both \"command\" and \"url\" are set (command)");
        check("", "stdio server requires \"command\" (command)");
        check("command=", "stdio server requires \"command\" (command)");
        check("type=stdio url=u", "stdio server requires \"command\" (command)");
        check("type=http", "http server requires \"url\" (url)");
        check("type=http command=x", "http server requires \"url\" (url)");
        check("type=sse", "sse server requires \"url\" (url)");
        check("type=pigeon command=x", "unknown server type \"pigeon\" (type)");
        check("type=ws url=u", "WebSocket is not supported (type)");
        check("type=websocket", "WebSocket is not supported (type)");
    }

    #[test]
    fn a_word_that_is_no_word_is_cut_and_cleaned() {
        let Err(invalid) = kind_from_word(&format!("\u{1b}{}", "y".repeat(1_000))) else {
            panic!("no such transport");
        };
        let shown = invalid.to_string();
        assert!(shown.starts_with("unknown server type \"\\u{1b}yyy"), "{shown}");
        assert!(shown.ends_with("yyy…\"") && shown.len() < 200, "{shown}");
    }

    /// Shows what is wrong with an address.
    fn check_address(url: &str, expected: &str) {
        let shown = check_url(url).map_or_else(|invalid| invalid.to_string(), |()| String::new());
        assert_eq!(shown, expected, "{url}");
    }

    #[test]
    fn addresses_that_can_be_reached_are_fine() {
        let fine = [
            "https://a.example/mcp",
            "HTTP://localhost:8080",
            "http://[::1]:80/mcp",
            " https://a.example ",
            "unix:///run/a.sock#/mcp",
            "https://user:word@a.example/?k=v",
            "${BASE}/mcp",
            "${SCHEME}://a.example",
            "https://${HOST}/mcp",
            "{env:URL}",
            "%URL%",
        ];
        for url in fine {
            check_address(url, "");
        }
    }

    #[test]
    fn addresses_that_cannot_be_reached_say_why() {
        let scheme = "\"url\" must start with http://, https:// or unix://";
        for url in ["a.example/mcp", "ftp://a.example", "file:///x", "mailto:a"] {
            check_address(url, scheme);
        }
        for url in ["https://", "https:///mcp", "http://:80", "https://user@/mcp", "http://?x"] {
            check_address(url, "\"url\" has no host");
        }
        for url in ["ws://a.example", "wss://a.example", "WSS://a.example"] {
            check_address(url, "WebSocket is not supported");
        }
    }
}

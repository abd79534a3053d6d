//! Validation: determines the transport of a definition, and checks that its fields are sufficient.
//!
//! Only the structure is checked. Whether the program exists or the server responds is checked when
//! it is connected.

use crate::server::{EntryFields, TransportKind};
use crate::server_url::{ServerUrlError, check_written};

/// Why a definition cannot be used. The texts are part of the product.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum InvalidDefinition {
    /// It is both a local and a remote server.
    #[error("both \"command\" and \"url\" are set")]
    CommandAndUrl,
    /// A local server has no program.
    #[error("stdio server requires \"command\"")]
    NoCommand,
    /// A remote server has no address.
    #[error("{} server requires \"url\"", .0.word())]
    NoUrl(TransportKind),
    /// The transport is unknown.
    #[error("unknown server type \"{0}\"")]
    UnknownType(String),
    /// A known transport that Wharf does not support.
    #[error("WebSocket is not supported")]
    WebSocket,
    /// The address is not valid.
    #[error(transparent)]
    Url(#[from] ServerUrlError),
}

impl InvalidDefinition {
    /// Returns the field that the error is about.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            Self::CommandAndUrl | Self::NoCommand => "command",
            Self::NoUrl(_) | Self::Url(_) => "url",
            Self::UnknownType(_) | Self::WebSocket => "type",
        }
    }

    /// Returns the hint.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::CommandAndUrl => {
                "keep \"command\" for a local server or \"url\" for a remote one"
            }
            Self::NoCommand => {
                "add \"command\" (the program to start), or \"url\" for a remote server"
            }
            Self::NoUrl(_) => "add \"url\" with the server's address",
            Self::UnknownType(_) => "use stdio, http or sse",
            Self::WebSocket => "ask the server's author for its Streamable HTTP address",
            Self::Url(error) => error.hint(),
        }
    }
}

/// Returns the transport of an entry, from its unexpanded fields.
pub(crate) fn check_transport(fields: &EntryFields) -> Result<TransportKind, InvalidDefinition> {
    if let Some(transport) = &fields.custom {
        return Ok(TransportKind::Custom(transport.word()));
    }
    let has_command = fields.command.as_ref().is_some_and(|command| !command.text.is_empty());
    let has_url = fields.url.as_ref().is_some_and(|url| !url.text.is_empty());
    let named = fields.kind.as_deref().map(kind_from_word).transpose()?;
    if has_command && has_url {
        return Err(InvalidDefinition::CommandAndUrl);
    }
    let kind = named.unwrap_or(match (has_command, has_url) {
        (false, true) => fields.url_kind.unwrap_or(TransportKind::Http),
        _ => TransportKind::Stdio,
    });
    match kind {
        TransportKind::Stdio if !has_command => Err(InvalidDefinition::NoCommand),
        TransportKind::Http | TransportKind::Sse if !has_url => Err(InvalidDefinition::NoUrl(kind)),
        _ => Ok(kind),
    }
}

/// Checks the address, as far as possible before expansion.
pub(crate) fn check_address(
    fields: &EntryFields,
    kind: TransportKind,
) -> Result<(), InvalidDefinition> {
    match &fields.url {
        Some(url) if kind != TransportKind::Stdio => Ok(check_written(url)?),
        _ => Ok(()),
    }
}

/// Parses the name of a transport in a file.
pub(crate) fn kind_from_word(word: &str) -> Result<TransportKind, InvalidDefinition> {
    match word.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
        "stdio" | "local" => Ok(TransportKind::Stdio),
        "http" | "streamablehttp" | "streamable" | "remote" => Ok(TransportKind::Http),
        "sse" => Ok(TransportKind::Sse),
        "ws" | "wss" | "websocket" => Err(InvalidDefinition::WebSocket),
        _ => Err(InvalidDefinition::UnknownType(crate::text::clip(word, 100))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expand::Syntax;
    use crate::server::WrittenText;

    /// Checks fields, given as `name=value`; compares the transport, or the error with its field.
    fn check(fields: &str, expected: &str) {
        let mut read = EntryFields::default();
        for (name, value) in fields.split_whitespace().filter_map(|field| field.split_once('=')) {
            let written = Some(WrittenText { text: value.to_owned(), syntax: Syntax::BRACED });
            match name {
                "type" => read.kind = Some(value.to_owned()),
                "command" => read.command = written,
                "url" => read.url = written,
                _ => read.url_kind = Some(TransportKind::Sse),
            }
        }
        let checked =
            check_transport(&read).and_then(|kind| check_address(&read, kind).map(|()| kind));
        let rendered = match checked {
            Ok(kind) => kind.word().to_owned(),
            Err(invalid) => format!("{invalid} ({})", invalid.field()),
        };
        assert_eq!(rendered, expected, "{fields}");
    }

    #[test]
    fn the_transport_follows_from_the_fields() {
        check("command=x", "stdio");
        check("url=http://u", "http");
        check("url=http://u url-is-sse=", "sse");
        check("type=http url=http://u url-is-sse=", "http");
        check("type=sse url=http://u", "sse");
        check("command=x url=", "stdio");
        check("command= url=http://u", "http");
    }

    #[test]
    fn every_word_for_a_transport_is_understood() {
        for word in ["stdio", "local", "STDIO"] {
            check(&format!("type={word} command=x"), "stdio");
        }
        let http = ["http", "streamable-http", "streamable_http", "streamableHttp", "remote"];
        for word in http {
            check(&format!("type={word} url=http://u"), "http");
        }
        check("type=SSE url=http://u", "sse");
    }

    #[test]
    fn missing_and_conflicting_fields_have_exact_messages() {
        check("command=x url=http://u", "both \"command\" and \"url\" are set (command)");
        check("", "stdio server requires \"command\" (command)");
        check("command=", "stdio server requires \"command\" (command)");
        check("type=stdio url=http://u", "stdio server requires \"command\" (command)");
        check("type=http", "http server requires \"url\" (url)");
        check("type=http command=x", "http server requires \"url\" (url)");
        check("type=sse", "sse server requires \"url\" (url)");
        check("type=pigeon command=x", "unknown server type \"pigeon\" (type)");
        check("type=ws url=http://u", "WebSocket is not supported (type)");
        check("type=websocket", "WebSocket is not supported (type)");
    }

    #[test]
    fn an_unknown_type_is_cut_and_escaped_in_the_message() {
        let Err(invalid) = kind_from_word(&format!("\u{1b}{}", "y".repeat(1_000))) else {
            panic!("the type is unknown");
        };
        let rendered = invalid.to_string();
        assert!(rendered.starts_with("unknown server type \"\\u{1b}yyy"), "{rendered}");
        assert!(rendered.ends_with("yyy…\"") && rendered.len() < 200, "{rendered}");
    }

    #[test]
    fn an_address_is_checked_before_anything_is_expanded() {
        for url in ["https://a.example/mcp", "unix:///run/a.sock#/mcp"] {
            check(&format!("url={url}"), "http");
        }
        check("url=a.example", "\"url\" must start with http://, https:// or unix:// (url)");
        check("url=http://a\\@b.example/", "\"url\" must not contain a backslash (url)");
        check("url=${BASE}/mcp", "http");
        check("url=https://${HOST}\\@b.example/", "\"url\" must not contain a backslash (url)");
        check("url=${X:-http://a\\@b}/", "\"url\" must not contain a backslash (url)");
    }
}

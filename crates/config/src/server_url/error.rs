//! Why a text is not the address of a server, and the characters that no address may have.

use std::fmt;

/// The hint for an address that is only a part of one.
const WRITE_ALL: &str = "write the whole address, such as https://example.com/mcp";

/// Why a text is not the address of a server. Messages do not quote the text: it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerUrlError {
    /// It has a backslash, white space or a control character, which programs interpret
    /// differently.
    #[error("\"url\" must not contain {0}")]
    Character(ForbiddenCharacter),
    /// It has no scheme, or one without a transport.
    #[error("\"url\" must start with http://, https:// or unix://")]
    Scheme,
    /// It is a WebSocket address.
    #[error("WebSocket is not supported")]
    WebSocket,
    /// It has no host.
    #[error("\"url\" has no host")]
    NoHost,
    /// The path of the socket is not absolute.
    #[error("\"url\" must name the socket with an absolute path, as in unix:///run/a.sock#/mcp")]
    SocketPath,
    /// The parser rejects it.
    #[cfg(feature = "http")]
    #[error("\"url\" is not a valid address: {0}")]
    Invalid(url::ParseError),
}

/// A character that is not allowed in an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForbiddenCharacter {
    /// `\`, which some programs read as `/` and others as part of a user name.
    Backslash,
    /// Unicode white space.
    WhiteSpace,
    /// Another character that is not printable.
    Control,
}

impl fmt::Display for ForbiddenCharacter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Backslash => "a backslash",
            Self::WhiteSpace => "white space",
            Self::Control => "a control character",
        })
    }
}

impl ServerUrlError {
    /// Returns the hint.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Character(ForbiddenCharacter::Backslash) => {
                "write / between the parts of an address, or %5C for a backslash in its path"
            }
            Self::Character(_) => "remove it, or write it percent-encoded, such as %20",
            Self::WebSocket => "ask the server's author for its Streamable HTTP address",
            Self::NoHost => "write the host after the two slashes",
            Self::SocketPath => "write unix:// and then the whole path",
            Self::Scheme => WRITE_ALL,
            #[cfg(feature = "http")]
            Self::Invalid(_) => WRITE_ALL,
        }
    }
}

/// Rejects characters that programs interpret differently.
pub(crate) fn check_characters(text: &str) -> Result<(), ServerUrlError> {
    let forbidden = |c: char| match c {
        '\\' => Some(ForbiddenCharacter::Backslash),
        c if c.is_whitespace() => Some(ForbiddenCharacter::WhiteSpace),
        c if crate::text::is_unsafe(c) => Some(ForbiddenCharacter::Control),
        _ => None,
    };
    text.chars().find_map(forbidden).map_or(Ok(()), |found| Err(ServerUrlError::Character(found)))
}

//! Names of servers: as read, and as Wharf writes them.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The name of a server as written in its file: any text.
///
/// ```
/// use wharf_config::ServerName;
///
/// let name = ServerName::from("my server");
/// assert!(name == "my server" && name != *"other" && "my server" == name);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ServerName(String);

impl ServerName {
    /// Makes a name of any text.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ServerName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for ServerName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<String> for ServerName {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl PartialEq<str> for ServerName {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for ServerName {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<ServerName> for str {
    fn eq(&self, other: &ServerName) -> bool {
        *self == other.0
    }
}

impl PartialEq<ServerName> for &str {
    fn eq(&self, other: &ServerName) -> bool {
        **self == *other.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name that Wharf itself may write into a file; readers accept more ([`ServerName`]).
///
/// ```
/// use wharf_config::NewServerName;
///
/// assert!("github".parse::<NewServerName>().is_ok());
/// assert!("my server".parse::<NewServerName>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServerName(String);

impl NewServerName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NewServerName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        match name {
            "" => Err(NameError::Empty),
            _ if name.chars().count() > 100 => Err(NameError::TooLong),
            _ if !name.chars().all(allowed) => Err(NameError::Characters),
            _ => Ok(Self(name.to_owned())),
        }
    }
}

/// Why Wharf does not write a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty.
    #[error("Server name cannot be empty")]
    Empty,
    /// It has more than 100 characters.
    #[error("Server name is too long (max 100 characters)")]
    TooLong,
    /// It has a character that some programs do not accept.
    #[error("Server name can only contain letters, numbers, dash, underscore and dot")]
    Characters,
}

//! The revisions of MCP that Wharf speaks, oldest first.

use std::fmt;
use std::str::FromStr;

/// A revision of the specification, named by its date; later revisions compare as greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// 2024-11-05: the first one, with HTTP+SSE.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches.
    V2025_03_26,
    /// 2025-06-18: structured content, elicitation, no batches.
    V2025_06_18,
    /// 2025-11-25: tasks, URL elicitation, resumable streams.
    V2025_11_25,
    /// 2026-07-28: requests are self-contained, there are no sessions.
    V2026_07_28,
}

/// The protocol style of a revision: with or without sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// A session begins with `initialize`, and both sides may send requests.
    Legacy,
    /// Every request contains all that the server needs; only the client sends requests.
    Modern,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The newest revision that begins with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// Returns the era of this revision.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }

    /// Returns its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The text is not the name of a revision that Wharf supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol revision")]
pub struct UnknownRevision;

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|it| it.as_str() == text).ok_or(UnknownRevision)
    }
}

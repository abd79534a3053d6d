//! What a mode is: its name, its sentence, and what a client should experience.

/// A quirk that a server can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mode {
    /// The name to ask for.
    pub name: &'static str,
    /// What the server does, as the end of a sentence that starts with "The server".
    pub sentence: &'static str,
    /// The eras the server can be asked to speak; the first is what it does unasked.
    pub eras: &'static [Era],
    /// What a client should experience.
    pub expect: Expect,
    /// What somebody who runs the mode has to know.
    pub tags: &'static [Tag],
}

impl Mode {
    /// Tells whether the mode has a tag.
    pub fn has(&self, tag: Tag) -> bool {
        self.tags.contains(&tag)
    }
}

/// The two kinds of revisions of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Revisions with `initialize`, up to 2025-11-25.
    Legacy,
    /// Revision 2026-07-28, with metadata in every request.
    Modern,
}

impl Era {
    /// Returns the word that `wharf-quirk MODE ERA` understands.
    pub fn word(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    /// Finds the era of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Legacy, Self::Modern].into_iter().find(|era| era.word() == word)
    }
}

/// What a client should experience.
///
/// "Lists" counts the good tools that must be there at least: a client is free to keep an odd one
/// as well. "Calls" means the tool `echo` with an argument `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expect {
    /// Connects, lists, and a call gives its text back in a text block.
    Works {
        /// How many good tools there are.
        tools: usize,
        /// Whether a rule is broken that the client must tell about; if not, it may.
        warnings: bool,
    },
    /// Connects, lists, and a call returns a result without the text.
    Returns {
        /// How many good tools there are.
        tools: usize,
        /// What the raw result of the call must still contain, byte for byte.
        raw: &'static str,
    },
    /// Does not connect.
    ConnectFails {
        /// The reason the client should give.
        because: Failure,
    },
    /// Connects, but has no list of tools to show.
    ListFails {
        /// The reason the client should give.
        because: Failure,
    },
    /// Connects and lists, but the call fails.
    CallFails {
        /// How many good tools there are.
        tools: usize,
        /// The reason the client should give.
        because: Failure,
    },
}

/// Why something fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// No answer came in time.
    TimedOut,
    /// The server ended, or closed the connection.
    Ended,
    /// The server sent more than a client should keep.
    TooLarge,
    /// The server answered with an error.
    Refused,
    /// The answer is not what the method returns.
    BadResult,
    /// There is no common protocol version.
    NoCommonVersion,
    /// The server wants credentials, or says that these do not suffice.
    NeedsAuth,
    /// The server sends the client where it must not go.
    Forbidden,
    /// Any of these; only the failure itself is certain.
    Any,
}

/// What somebody who runs a mode has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tag {
    /// The quirk exists on Unix only; elsewhere the server behaves well.
    UnixOnly,
    /// Takes seconds or hundreds of megabytes; what to expect holds for these sizes, which
    /// `QUIRK_BYTES` and `QUIRK_COUNT` (stdio) or `Settings` (HTTP) can change.
    Heavy,
    /// Waits; `QUIRK_DELAY_MS` (stdio) or `Settings` (HTTP) say how long.
    Waits,
    /// Does not end with its input; it ends by itself after `QUIRK_LINGER_MS`.
    Lingers,
    /// Leaves a process of its own behind, which ends by itself after `QUIRK_LINGER_MS`.
    HasGrandchild,
    /// The quirk shows only if the client declares elicitation, sampling and roots.
    NeedsInput,
    /// The quirk shows only if the client declares the tasks extension (modern) or asks for a task
    /// (legacy).
    NeedsTasks,
    /// The quirk shows only if the client listens: `subscriptions/listen`, or the GET stream.
    NeedsListening,
}

pub(super) const BOTH: &[Era] = &[Era::Legacy, Era::Modern];
pub(super) const LEGACY: &[Era] = &[Era::Legacy];
pub(super) const MODERN: &[Era] = &[Era::Modern];

/// Works with nothing to tell.
pub(super) const WORKS: Expect = Expect::Works { tools: 2, warnings: false };
/// Works, and the client tells what is wrong.
pub(super) const WARNS: Expect = Expect::Works { tools: 2, warnings: true };

/// The call fails.
pub(super) const fn call_fails(because: Failure) -> Expect {
    Expect::CallFails { tools: 2, because }
}

/// A mode together with what makes it odd.
#[derive(Clone, Copy)]
pub(super) struct Quirk<Act> {
    pub(super) mode: Mode,
    pub(super) act: Act,
}

impl<Act: Copy> Quirk<Act> {
    /// A quirk that a server of either era can have.
    pub(super) const fn new(
        name: &'static str,
        sentence: &'static str,
        expect: Expect,
        act: Act,
    ) -> Self {
        Self { mode: Mode { name, sentence, eras: BOTH, expect, tags: &[] }, act }
    }

    pub(super) const fn legacy(mut self) -> Self {
        self.mode.eras = LEGACY;
        self
    }

    pub(super) const fn modern(mut self) -> Self {
        self.mode.eras = MODERN;
        self
    }

    pub(super) const fn tagged(mut self, tags: &'static [Tag]) -> Self {
        self.mode.tags = tags;
        self
    }
}

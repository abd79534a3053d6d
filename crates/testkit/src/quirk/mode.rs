//! The type of a mode: its name, its description, its eras, and the expected outcome of a client.
//!
//! The tables in `stdio` and `http` pair each mode with its implementation, as a `QuirkEntry`.

/// A quirk that a server can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuirkMode {
    /// The name by which the mode is selected.
    pub name: &'static str,
    /// What the server does, as the end of a sentence that starts with "The server".
    pub description: &'static str,
    /// The eras that the server supports; the first is the default.
    pub eras: &'static [QuirkEra],
    /// The outcome that a client must have.
    pub expect: ExpectedOutcome,
    /// The outcome with a server of the modern era, if it is another one.
    pub expect_modern: Option<ExpectedOutcome>,
    /// What a test that runs the mode must know.
    pub tags: &'static [ModeTag],
}

impl QuirkMode {
    /// Returns the outcome that a client must have with a server of an era.
    pub fn expected_in(&self, era: QuirkEra) -> ExpectedOutcome {
        self.expect_modern.filter(|_| era == QuirkEra::Modern).unwrap_or(self.expect)
    }

    /// Tells whether the mode has a tag.
    pub fn has(&self, tag: ModeTag) -> bool {
        self.tags.contains(&tag)
    }
}

/// The two kinds of protocol revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuirkEra {
    /// Revisions with `initialize`, up to 2025-11-25.
    Legacy,
    /// Revision 2026-07-28, with metadata in every request.
    Modern,
}

impl QuirkEra {
    /// Returns the argument for `wharf-quirk MODE ERA`.
    pub fn as_argument(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    /// Parses the argument of `wharf-quirk MODE ERA`.
    pub fn from_argument(argument: &str) -> Option<Self> {
        [Self::Legacy, Self::Modern].into_iter().find(|era| era.as_argument() == argument)
    }
}

/// The outcome that a client must have.
///
/// `tools` is the number of tools that a client lists: the valid ones, and invalid ones that have a
/// name. "Calls" means that it calls the tool `echo` with an argument `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedOutcome {
    /// Connects, lists, and a call returns its text in a text block.
    Works {
        /// The number of tools.
        tools: usize,
        /// Whether the client must report a violation; if not, it may.
        warnings: bool,
    },
    /// Connects, lists, and a call returns a result without the text.
    Returns {
        /// The number of tools.
        tools: usize,
        /// What the raw result of the call must contain, byte for byte.
        raw: &'static str,
    },
    /// Does not connect.
    ConnectFails {
        /// The reason that the client must report.
        because: FailureReason,
    },
    /// Connects, but cannot list the tools.
    ListFails {
        /// The reason that the client must report.
        because: FailureReason,
    },
    /// Connects and lists, but the call fails.
    CallFails {
        /// The number of tools.
        tools: usize,
        /// The reason that the client must report.
        because: FailureReason,
    },
}

/// Why a client cannot connect, list or call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureReason {
    /// There was no response before the timeout.
    TimedOut,
    /// The server ended, or closed the connection.
    Ended,
    /// The server sent more than a client should buffer.
    TooLarge,
    /// The server responded with an error.
    ErrorResponse,
    /// The result does not fit the method.
    BadResult,
    /// There is no common protocol version.
    NoCommonVersion,
    /// The server requires credentials, or rejects those that were sent.
    NeedsAuth,
    /// The server redirects the client to a URL that it must not contact.
    Forbidden,
    /// The address of the server does not accept connections.
    Unreachable,
    /// The server requires input that the client cannot provide.
    InputUnavailable,
    /// The server requires input again and again.
    TooManyRounds,
}

/// What a test that runs a mode must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModeTag {
    /// The quirk exists on Unix only; elsewhere the server behaves correctly.
    UnixOnly,
    /// Takes seconds or hundreds of megabytes. The expected outcome is that of the default sizes,
    /// which `QUIRK_BYTES` and `QUIRK_COUNT` (stdio) or `HttpQuirkOptions` (HTTP) change.
    Heavy,
    /// Waits; `QUIRK_DELAY_MS` (stdio) or `HttpQuirkOptions` (HTTP) set the time.
    Waits,
    /// Does not end when its stdin is closed; it ends by itself after `QUIRK_LINGER_MS`.
    Lingers,
    /// Leaves a child process running, which ends by itself after `QUIRK_LINGER_MS`.
    HasGrandchild,
    /// The quirk has an effect only if the client declares elicitation, sampling and roots.
    NeedsInput,
    /// The quirk has an effect only if the client declares the tasks extension (modern) or
    /// requests a task (legacy).
    NeedsTasks,
    /// The quirk has an effect only if the client opens a subscription (`subscriptions/listen`) or
    /// the GET stream.
    NeedsListening,
}

pub(super) const BOTH_ERAS: &[QuirkEra] = &[QuirkEra::Legacy, QuirkEra::Modern];
pub(super) const LEGACY: &[QuirkEra] = &[QuirkEra::Legacy];
pub(super) const MODERN: &[QuirkEra] = &[QuirkEra::Modern];

/// Works without a warning.
pub(super) const WORKS: ExpectedOutcome = ExpectedOutcome::Works { tools: 2, warnings: false };
/// Works, and the client reports the violation.
pub(super) const WARNS: ExpectedOutcome = ExpectedOutcome::Works { tools: 2, warnings: true };

/// The call fails.
pub(super) const fn call_fails(because: FailureReason) -> ExpectedOutcome {
    ExpectedOutcome::CallFails { tools: 2, because }
}

/// A mode and its implementation.
#[derive(Clone, Copy)]
pub(super) struct QuirkEntry<Behavior> {
    pub(super) mode: QuirkMode,
    pub(super) behavior: Behavior,
}

impl<Behavior: Copy> QuirkEntry<Behavior> {
    /// Makes a quirk for servers of both eras.
    pub(super) const fn new(
        name: &'static str,
        description: &'static str,
        expect: ExpectedOutcome,
        behavior: Behavior,
    ) -> Self {
        let (eras, tags) = (BOTH_ERAS, &[]);
        let mode = QuirkMode { name, description, eras, expect, expect_modern: None, tags };
        Self { mode, behavior }
    }

    /// Sets the outcome with a server of the modern era.
    pub(super) const fn in_modern(mut self, expect: ExpectedOutcome) -> Self {
        self.mode.expect_modern = Some(expect);
        self
    }

    /// Sets the number of tools that a client lists.
    pub(super) const fn with_tools(mut self, number: usize) -> Self {
        if let ExpectedOutcome::Works { tools, .. } = &mut self.mode.expect {
            *tools = number;
        }
        self
    }

    pub(super) const fn legacy(mut self) -> Self {
        self.mode.eras = LEGACY;
        self
    }

    pub(super) const fn modern(mut self) -> Self {
        self.mode.eras = MODERN;
        self
    }

    pub(super) const fn tagged(mut self, tags: &'static [ModeTag]) -> Self {
        self.mode.tags = tags;
        self
    }
}

//! The table of all settings: keys, value kinds, defaults, and what a project may set.

use super::SettingValue;

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// The dotted key.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: SettingKind,
    /// The default, in the form that `config set` accepts.
    pub default: &'static str,
    /// The one value that a project may set.
    pub project_value: Option<&'static str>,
    /// Whether a project may add to it.
    pub project_may_add: bool,
    /// The smallest valid number.
    pub minimum: u64,
    /// Its description.
    pub description: &'static str,
}

/// The kind of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`.
    Bool,
    /// A whole number.
    Number,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Words, separated by commas.
    List,
}

const fn setting(
    key: &'static str,
    kind: SettingKind,
    default: &'static str,
    description: &'static str,
) -> Setting {
    Setting {
        key,
        kind,
        default,
        project_value: None,
        project_may_add: false,
        minimum: 0,
        description,
    }
}

/// All settings, by key.
pub const KEYS: &[Setting] = &[
    Setting {
        minimum: 1,
        ..setting(
            "call.max_ms",
            SettingKind::Number,
            "3600000",
            "maximum duration of a call, in milliseconds",
        )
    },
    Setting {
        minimum: 1,
        ..setting(
            "call.max_result_chars",
            SettingKind::Number,
            "50000",
            "maximum length of a result for a model, in characters",
        )
    },
    setting(
        "credentials.store",
        SettingKind::Word(&["auto", "keychain", "file"]),
        "auto",
        "where the secrets of new credentials are stored",
    ),
    Setting {
        project_may_add: true,
        ..setting(
            "discovery.disabled",
            SettingKind::List,
            "",
            "programs whose files are not read, such as cursor,zed",
        )
    },
    setting(
        "discovery.duplicates",
        SettingKind::Word(&["hide", "keep"]),
        "hide",
        "whether one of two identical servers is hidden",
    ),
    Setting {
        project_value: Some("false"),
        ..setting("discovery.project", SettingKind::Bool, "true", "read the files of projects")
    },
    setting(
        "startup.mode",
        SettingKind::Word(&["auto", "complete", "background"]),
        "auto",
        "whether a listing waits for slow servers",
    ),
    setting(
        "startup.timeout_ms",
        SettingKind::Number,
        "250",
        "how long a listing waits before it uses cached tools",
    ),
    setting(
        "tools.naming",
        SettingKind::Word(&["classic", "precise"]),
        "classic",
        "how tools are named",
    ),
    Setting {
        project_value: Some("enforce"),
        ..setting(
            "tools.pinning",
            SettingKind::Word(&["observe", "enforce"]),
            "observe",
            "whether changed tools are withheld",
        )
    },
    setting(
        "tools.sanitize",
        SettingKind::Word(&["light", "strict"]),
        "light",
        "how far schemas are simplified",
    ),
];

/// Tables of settings for features that do not exist yet, each with its feature.
const PLANNED_PARTS: [(&str, &str); 4] = [
    ("approvals", "the agent session"),
    ("daemon", "the daemon, a background process that shares connections"),
    ("models", "the agent session"),
    ("serve", "the gateway"),
];

/// Returns the feature that a key belongs to, if that feature does not exist yet.
pub(super) fn planned_part(key: &str) -> Option<&'static str> {
    let table = key.split('.').next()?;
    PLANNED_PARTS.iter().find(|(name, _)| *name == table).map(|(_, part)| *part)
}

impl Setting {
    /// Parses a value from a command line.
    pub fn parse(&self, text: &str) -> Option<SettingValue> {
        match self.kind {
            SettingKind::Bool => text.parse().ok().map(SettingValue::Bool),
            SettingKind::Number => {
                let number = text.parse().ok().filter(|number| *number >= self.minimum);
                number.map(SettingValue::Number)
            }
            SettingKind::Word(words) => {
                words.contains(&text).then(|| SettingValue::Text(text.to_owned()))
            }
            SettingKind::List => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                Some(SettingValue::List(words.map(str::to_owned).collect()))
            }
        }
    }

    pub(super) fn default_value(&self) -> SettingValue {
        self.parse(self.default).unwrap_or_else(|| SettingValue::Text(self.default.to_owned()))
    }

    /// Returns a value from code if it is valid.
    pub(super) fn check(&self, value: SettingValue) -> Option<SettingValue> {
        let is_valid = match (&value, self.kind) {
            (SettingValue::Bool(_), SettingKind::Bool)
            | (SettingValue::List(_), SettingKind::List) => true,
            (SettingValue::Number(number), SettingKind::Number) => *number >= self.minimum,
            (SettingValue::Text(word), SettingKind::Word(words)) => words.contains(&word.as_str()),
            _ => false,
        };
        is_valid.then_some(value)
    }

    /// Describes the valid values, to follow "must be".
    pub fn describe(&self) -> String {
        match self.kind {
            SettingKind::Number if self.minimum == 1 => {
                "a whole number greater than zero".to_owned()
            }
            kind => kind.describe(),
        }
    }
}

impl SettingKind {
    /// Describes the valid values, to follow "must be".
    pub fn describe(self) -> String {
        match self {
            Self::Bool => "true or false".to_owned(),
            Self::Number => "a whole number".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::List => "a list of words".to_owned(),
        }
    }
}

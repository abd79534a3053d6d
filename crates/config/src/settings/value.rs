//! The value of a setting, and what a program may write in its place.

use std::fmt;
use std::time::Duration;

/// The value of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingValue {
    /// True or false.
    Bool(bool),
    /// A number.
    Number(u64),
    /// A word.
    Text(String),
    /// A list of words.
    List(Vec<String>),
}

impl SettingValue {
    /// Returns the value for output.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Bool(truth) => (*truth).into(),
            Self::Number(number) => (*number).into(),
            Self::Text(text) => text.as_str().into(),
            Self::List(list) => list.clone().into(),
        }
    }

    /// Makes a number. A number that no setting accepts becomes its text, so that
    /// [`Settings::with`](super::Settings::with) refuses it.
    fn from_number(number: impl TryInto<u64> + Copy + ToString) -> Self {
        number.try_into().map_or_else(|_| Self::Text(number.to_string()), Self::Number)
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(truth) => truth.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::List(list) => f.write_str(&list.join(",")),
        }
    }
}

impl From<bool> for SettingValue {
    fn from(truth: bool) -> Self {
        Self::Bool(truth)
    }
}

impl From<u32> for SettingValue {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for SettingValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for SettingValue {
    fn from(number: usize) -> Self {
        Self::from_number(number)
    }
}

/// The type of a number in code without a suffix. No setting accepts a negative number.
impl From<i32> for SettingValue {
    fn from(number: i32) -> Self {
        Self::from_number(number)
    }
}

/// No setting accepts a negative number.
impl From<i64> for SettingValue {
    fn from(number: i64) -> Self {
        Self::from_number(number)
    }
}

/// Milliseconds, as in the settings whose names end in `_ms`.
impl From<Duration> for SettingValue {
    fn from(duration: Duration) -> Self {
        Self::from_number(duration.as_millis())
    }
}

impl From<&str> for SettingValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SettingValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<String>> From<Vec<T>> for SettingValue {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<String> + Clone> From<&[T]> for SettingValue {
    fn from(list: &[T]) -> Self {
        Self::List(list.iter().cloned().map(Into::into).collect())
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for SettingValue {
    fn from(list: [T; N]) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

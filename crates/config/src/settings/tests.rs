//! Tests of settings from code.

use std::time::Duration;

use super::*;

/// Sets one key and renders its new value, or the error with its hint.
#[track_caller]
fn check(key: &str, value: impl Into<SettingValue>, expected: &str) {
    let rendered = match Settings::default().with(key, value) {
        Ok(settings) => settings.get(key).map(SettingValue::to_string).unwrap_or_default(),
        Err(error) => match error.hint() {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        },
    };
    assert_eq!(rendered, expected);
}

#[test]
fn every_key_has_its_default_value_and_accepts_it() {
    let defaults = Settings::default();
    assert_eq!(defaults.iter().count(), KEYS.len());
    for setting in KEYS {
        let value = defaults.get(setting.key).unwrap().clone();
        assert_eq!(value.to_string(), setting.default, "{}", setting.key);
        assert_eq!(defaults.clone().with(setting.key, value).unwrap(), defaults, "{}", setting.key);
    }
}

#[test]
fn values_of_the_natural_types_are_accepted() {
    check("discovery.project", false, "false");
    check("startup.timeout_ms", 0, "0");
    check("startup.timeout_ms", 7_u32, "7");
    check("startup.timeout_ms", 7_i64, "7");
    check("call.max_ms", u64::MAX, "18446744073709551615");
    check("call.max_ms", Duration::from_secs(2), "2000");
    check("call.max_result_chars", "text".len(), "4");
    check("tools.naming", "precise", "precise");
    check("tools.pinning", String::from("enforce"), "enforce");
    check("discovery.disabled", ["cursor", "zed"], "cursor,zed");
    check("discovery.disabled", vec!["cursor".to_owned()], "cursor");
    check("discovery.disabled", &["zed"][..], "zed");
}

#[test]
fn an_unknown_key_names_the_nearest_one() {
    check(
        "tools.nameing",
        "x",
        "unknown setting \"tools.nameing\" (did you mean \"tools.naming\"?)",
    );
    check("pigeon", "x", "unknown setting \"pigeon\"");
    check(
        "daemon.enabled",
        true,
        "\"daemon.enabled\" has no effect: this version of Wharf does not include the daemon, a background process that shares connections",
    );
}

#[test]
fn a_wrong_type_or_value_names_the_valid_ones() {
    let number = "\"call.max_ms\" must be a whole number greater than zero";
    check("call.max_ms", 0, number);
    check("call.max_ms", -1, number);
    check("call.max_ms", "5", number);
    check("call.max_ms", Duration::MAX, number);
    check("discovery.project", "true", "\"discovery.project\" must be true or false");
    check("tools.naming", "clasic", "\"tools.naming\" must be one of classic, precise");
    check("discovery.disabled", "cursor", "\"discovery.disabled\" must be a list of words");
    check(
        "credentials.store",
        "vault",
        "\"credentials.store\" must be one of auto, keychain, file",
    );
}

#[cfg(feature = "discovery")]
#[test]
fn an_unknown_program_is_refused_with_a_similar_one() {
    check(
        "discovery.disabled",
        ["cursr"],
        "no program is called \"cursr\" (did you mean \"cursor\"?)",
    );
}

/// Values of each type; no setting accepts all of them.
fn one_of_each_type() -> [SettingValue; 4] {
    [true.into(), 0_u64.into(), "no such word".into(), ["no such program"].into()]
}

#[test]
fn every_key_refuses_values_of_other_types_and_says_what_it_takes() {
    for setting in KEYS {
        let has_own_type = |value: &SettingValue| {
            std::mem::discriminant(value) == std::mem::discriminant(&setting.default_value())
        };
        for value in one_of_each_type().into_iter().filter(|value| !has_own_type(value)) {
            let expected = format!("\"{}\" must be {}", setting.key, setting.describe());
            check(setting.key, value, &expected);
        }
    }
}

#[test]
fn every_valid_word_of_a_key_is_accepted() {
    for setting in KEYS {
        let SettingKind::Word(words) = setting.kind else { continue };
        for word in words {
            check(setting.key, *word, word);
        }
    }
}

#[test]
fn a_value_from_code_equals_the_one_that_is_read_from_a_file() {
    for setting in KEYS {
        let value = setting.default_value();
        assert_eq!(setting.parse(&value.to_string()), Some(value), "{}", setting.key);
    }
}

#[test]
fn a_failed_change_leaves_no_trace_in_a_copy() {
    let before = Settings::default();
    assert!(before.clone().with("tools.naming", 5).is_err());
    assert_eq!(before, Settings::default());
}

#[test]
fn the_documentation_has_every_key_with_its_default() {
    let rows: Vec<&str> =
        include_str!("mod.rs").lines().filter(|it| it.starts_with("/// | `")).collect();
    assert_eq!(rows.len(), KEYS.len());
    for (setting, row) in KEYS.iter().zip(rows) {
        let default = if setting.default.is_empty() { "none" } else { setting.default };
        assert!(row.starts_with(&format!("/// | `{}` |", setting.key)), "{row}");
        assert!(row.contains(&format!("| `{default}` |")) || row.contains("| none |"), "{row}");
        if let SettingKind::Word(words) = setting.kind {
            assert!(words.iter().all(|word| row.contains(&format!("`{word}`"))), "{row}");
        }
    }
}

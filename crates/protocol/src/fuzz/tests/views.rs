//! Runs the fuzz target for views on arbitrary JSON and on mutated samples.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::Json;
use crate::fuzz::views::{SAMPLES, views};

/// Valid JSON values that readers often handle wrongly.
const UNUSUAL_VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1e400",
    "-0.0",
    "18446744073709551616",
    "\"\"",
    "\"5\"",
    r#""\ud800""#,
    r#""\u0000\u202e""#,
    "[]",
    "{}",
    "[[]]",
    "[null]",
    r#"{"":null}"#,
    r#"{"name":null}"#,
    r#"["a",1,{"type":"text"}]"#,
    r#"{"type":"text","text":null}"#,
];

#[test]
fn every_sample_is_valid_json() {
    for sample in SAMPLES {
        assert!(Json::parse(*sample).is_ok(), "{sample}");
        views(sample.as_bytes());
    }
}

#[test]
fn unusual_values_anywhere_do_not_panic() {
    for sample in SAMPLES {
        for (number, place) in values_in(sample).into_iter().enumerate() {
            // Every fifth value for each position, so that five neighbouring positions cover all.
            for unusual in UNUSUAL_VALUES.iter().skip(number % 5).step_by(5) {
                views(replaced(sample, &place, unusual).as_bytes());
            }
        }
    }
}

#[test]
fn deep_nesting_does_not_panic() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    for sample in [r#"{"tools":[{"name":"a","inputSchema":X}],"content":X}"#, "X", r#"{"_meta":X}"#]
    {
        views(sample.replace('X', &deep).as_bytes());
    }
    let results = r#"{"type":"tool_result","toolUseId":"a","content":["#.repeat(4_000);
    views(format!("{results}{}", "]}".repeat(4_000)).as_bytes());
}

/// Returns the ranges of the values in a text: after a colon, an opening bracket or a comma.
fn values_in(text: &str) -> Vec<std::ops::Range<usize>> {
    let starts = text.char_indices().filter(|(_, char)| [':', '[', ','].contains(char));
    starts
        .filter_map(|(index, _)| {
            let rest = &text[index + 1..];
            let mut values = serde_json::Deserializer::from_str(rest)
                .into_iter::<&serde_json::value::RawValue>();
            let value = values.next()?.ok()?;
            Some(index + 1..index + 1 + value.get().len())
        })
        .collect()
}

fn replaced(text: &str, place: &std::ops::Range<usize>, by: &str) -> String {
    format!("{}{by}{}", &text[..place.start], &text[place.end..])
}

fn any_json() -> impl Strategy<Value = String> {
    let keys: Vec<&str> =
        SAMPLES.iter().flat_map(|sample| sample.split('"').skip(1).step_by(2)).collect();
    let leaf = prop_oneof![select(UNUSUAL_VALUES).prop_map(str::to_owned), "\"[a-z]{0,4}\""];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(" ,"))),
            vec((select(keys.clone()), inner), 0..8).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{ {} }}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn arbitrary_json_does_not_panic(text in any_json()) {
        views(text.as_bytes());
    }

    #[test]
    fn samples_with_several_changes_do_not_panic(
        sample in select(SAMPLES),
        changes in vec((any::<Index>(), any_json()), 1..6),
    ) {
        let mut text = sample.to_owned();
        for (place, value) in changes {
            let places = values_in(&text);
            if !places.is_empty() {
                text = replaced(&text, place.get(&places), &value);
            }
        }
        views(text.as_bytes());
    }

    #[test]
    fn invalid_bytes_do_not_panic(
        sample in select(SAMPLES),
        changes in vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = sample.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        views(&bytes);
    }
}

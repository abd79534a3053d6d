//! Argument validation: checks arguments against the schema of a tool before anything is sent.
//!
//! References out of the schema, to the network or to a file, are never followed. Arguments that
//! would take too long to check are not checked.

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;
use wharf_config::text::clip;
use wharf_protocol::Json;

use super::argument_errors::ArgumentErrorWriter;
use super::fast_check;
use super::invalid_arguments::InvalidArguments;
use super::schema_cost::SchemaGraph;

/// How long a schema may be, as text.
const LONGEST_SCHEMA: usize = 256 * 1024;

/// How long arguments may be to be checked, as text.
const LONGEST_ARGUMENTS: usize = 4 * 1024 * 1024;

/// How often a pattern may backtrack.
const MAX_BACKTRACKING: usize = 100_000;

/// How large a compiled pattern may be.
const LARGEST_PATTERN: usize = 1024 * 1024;

/// How many problems are collected; more are not counted.
const MAX_PROBLEMS: usize = 50;

/// The schema of one tool; parsed on the first call, and compiled if the fast check is not enough.
pub(crate) struct ArgumentCheck {
    schema: Result<Value, String>,
    compiled: OnceLock<Result<Compiled, String>>,
}

struct Compiled {
    validator: Validator,
    graph: SchemaGraph,
    /// The names of the tool's arguments, to suggest the nearest one.
    known: Vec<String>,
}

impl ArgumentCheck {
    /// Parses a schema. An unusable one accepts everything; the debug output has the reason.
    pub(crate) fn new(schema: &Json) -> Self {
        Self { schema: read(schema), compiled: OnceLock::new() }
    }

    fn compiled(&self) -> Result<&Compiled, &str> {
        let compile = || self.schema.as_ref().map_err(Clone::clone).and_then(compile);
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }

    /// Checks arguments; fails with all problems, up to a limit.
    pub(crate) fn check(&self, arguments: &Json) -> Result<(), InvalidArguments> {
        if !arguments.is_object() {
            return Err(InvalidArguments::not_an_object(arguments));
        }
        let Ok(schema) = &self.schema else { return Ok(()) };
        if arguments.as_str().len() > LONGEST_ARGUMENTS {
            return Ok(());
        }
        // Not decodable, such as a number that is too large: left to the server.
        let Some(value) = arguments.to::<Value>() else { return Ok(()) };
        if fast_check::fits(schema, &value) {
            return Ok(());
        }
        let Ok(compiled) = self.compiled() else { return Ok(()) };
        if !compiled.graph.is_cheap_for(&value) || compiled.validator.is_valid(&value) {
            return Ok(());
        }
        let errors = compiled.validator.iter_errors(&value).filter(blames_arguments);
        let allows_no_others = schema.get("additionalProperties") == Some(&Value::Bool(false));
        let writer = ArgumentErrorWriter { known: &compiled.known, allows_no_others };
        writer.collect(errors.take(MAX_PROBLEMS)).map_or(Ok(()), Err)
    }
}

impl std::fmt::Debug for ArgumentCheck {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ArgumentCheck({})", self.compiled().err().unwrap_or("compiled"))
    }
}

fn read(schema: &Json) -> Result<Value, String> {
    if schema.as_str().len() > LONGEST_SCHEMA {
        return Err(format!("its schema is longer than {} KiB", LONGEST_SCHEMA / 1024));
    }
    schema.decode().map_err(|error| unusable(&error.to_string()))
}

fn unusable(why: &str) -> String {
    format!("its schema cannot be used: {}", clip(why, 200))
}

fn compile(value: &Value) -> Result<Compiled, String> {
    let graph = SchemaGraph::of(value).map_err(unusable)?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(MAX_BACKTRACKING)
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(LARGEST_PATTERN);
    let validator = jsonschema::options()
        .offline()
        // Formats are annotations; the server checks them.
        .should_validate_formats(false)
        .with_pattern_options(patterns)
        .build(value)
        .map_err(|error| unusable(&error.to_string()))?;
    let properties = value.get("properties").and_then(Value::as_object);
    let known = properties.map(|them| them.keys().cloned().collect()).unwrap_or_default();
    Ok(Compiled { validator, graph, known })
}

/// Tells whether a failure is about the arguments and not about the schema.
fn blames_arguments(error: &ValidationError<'_>) -> bool {
    !matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
            | ValidationErrorKind::Referencing(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(schema: &str) -> ArgumentCheck {
        ArgumentCheck::new(&schema.parse().unwrap())
    }

    /// Returns what is wrong with the arguments, or why nothing is checked, or an empty text.
    fn verdict(schema: &str, arguments: &str) -> String {
        let check = compiled(schema);
        match check.check(&arguments.parse().unwrap()) {
            Err(invalid) => invalid.to_string(),
            Ok(()) => check.compiled().err().unwrap_or_default().to_owned(),
        }
    }

    fn check(schema: &str, arguments: &str, expected: &str) {
        assert_eq!(verdict(schema, arguments), expected, "{schema} {arguments}");
    }

    const FILE: &str = r#"{"type":"object","required":["path"],"additionalProperties":false,"properties":{
        "path":{"type":"string","minLength":1,"maxLength":9,"pattern":"^[a-z/]+$"},
        "count":{"type":"integer","minimum":1,"maximum":10},
        "kind":{"const":"x"},
        "mode":{"enum":["read","write",3]},
        "tags":{"type":"array","items":{"type":"object","properties":{"a.b":{"type":"boolean"}}},"minItems":1,"maxItems":2,"uniqueItems":true},
        "either":{"anyOf":[{"type":"string"},{"type":"null"}]},
        "one":{"oneOf":[{"type":"number","multipleOf":2},{"type":"string"}]},
        "many":{"type":["string","integer"]},
        "never":{"not":{}}}}"#;

    #[test]
    fn valid_arguments_pass() {
        check(FILE, r#"{"path":"a","count":3,"mode":3,"tags":[{}],"either":null}"#, "");
        check(r#"{"type":"object"}"#, r#"{"anything":[1]}"#, "");
        check(
            r#"{"properties":{"a":{"type":"integer"}}}"#,
            r#"{"a":98765432109876543210,"b":1e400}"#,
            "",
        );
    }

    #[test]
    fn an_invalid_argument_is_reported_with_what_is_expected() {
        let wrong = [
            "{}",
            r#"{"pth":"a"}"#,
            r#"{"path":7}"#,
            r#"{"path":""}"#,
            r#"{"path":"ABCDEFGHIJKL"}"#,
            r#"{"path":"a","count":"3"}"#,
            r#"{"path":"a","count":11}"#,
            r#"{"path":"a","kind":"y","mode":"raed"}"#,
            r#"{"path":"a","tags":[]}"#,
            r#"{"path":"a","tags":[{},{}]}"#,
            r#"{"path":"a","tags":[{"a.b":1}]}"#,
            r#"{"path":"a","either":1}"#,
            r#"{"path":"a","one":3}"#,
            r#"{"path":"a","many":true,"never":1}"#,
            "[1]",
            "null",
        ];
        let rows: Vec<_> = wrong.iter().map(|it| format!("{it} → {}", verdict(FILE, it))).collect();
        insta::assert_snapshot!(rows.join("\n"), @r#"
        {} → "path" is missing
        {"pth":"a"} → unknown "pth" (did you mean "path"?); "path" is missing
        {"path":7} → "path" must be a string, not a number
        {"path":""} → "path" must have at least 1 characters; "path" must match the pattern ^[a-z/]+$
        {"path":"ABCDEFGHIJKL"} → "path" must have at most 9 characters; "path" must match the pattern ^[a-z/]+$
        {"path":"a","count":"3"} → "count" must be an integer, not a string
        {"path":"a","count":11} → "count" must be at most 10
        {"path":"a","kind":"y","mode":"raed"} → "kind" must be "x"; "mode" must be one of "read", "write", 3
        {"path":"a","tags":[]} → "tags" must have at least 1 items
        {"path":"a","tags":[{},{}]} → "tags" must not have the same item twice
        {"path":"a","tags":[{"a.b":1}]} → "tags[0].a.b" must be a boolean, not a number
        {"path":"a","either":1} → "either" must be a string or null, not a number
        {"path":"a","one":3} → "one" matches none of its allowed forms: must be a multiple of 2, or must be a string, not a number
        {"path":"a","many":true,"never":1} → "many" must be an integer or a string, not a boolean; "never" is not allowed
        [1] → arguments must be an object, not an array
        null → arguments must be an object, not null
        "#);
    }

    #[test]
    fn a_misspelled_name_is_named_where_other_names_are_allowed() {
        let open = r#"{"required":["text"],"properties":{"text":{"type":"string"},"tone":{}}}"#;
        let expected = r#"unknown "texxt" (did you mean "text"?); "text" is missing"#;
        check(open, r#"{"texxt":"a"}"#, expected);
        check(open, r#"{"tone":"a","other":1}"#, r#""text" is missing"#);
    }

    #[test]
    fn the_number_of_problems_is_limited_and_no_value_is_repeated() {
        let names: Vec<String> = (0..60).map(|it| format!("\"f{it}\"")).collect();
        let schema = format!(
            r#"{{"required":[{}],"properties":{{"x":{{"type":"integer"}}}}}}"#,
            names.join(",")
        );
        let text = verdict(&schema, &format!(r#"{{"x":"{}"}}"#, "secret".repeat(1000)));
        insta::assert_snapshot!(text, @r#""f0" is missing; "f1" is missing; "f2" is missing; "f3" is missing; "f4" is missing; and 45 more"#);
    }

    #[test]
    fn nothing_is_ever_fetched() {
        for reference in
            ["https://127.0.0.1:9/x.json", "file:///etc/passwd", "other.json", "json-schema:///x"]
        {
            let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#);
            check(
                &schema,
                r#"{"a":1}"#,
                "its schema cannot be used: it refers to something outside of itself",
            );
        }
        assert!(compiled(r#"{"$schema":"https://127.0.0.1:9/x.json"}"#).compiled().is_err());
    }

    #[test]
    fn an_unusable_schema_checks_nothing() {
        let unusable = [
            r#"{"type":"objekt"}"#.to_owned(),
            r#"{"properties":7}"#.to_owned(),
            r#"{"properties":{"a":{"pattern":"("}}}"#.to_owned(),
            r##"{"$ref":"#"}"##.to_owned(),
            r##"{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{"$ref":"#"}}}}"##.to_owned(),
            r##"{"properties":{"a":{"$ref":"#/$defs/missing"}}}"##.to_owned(),
            format!(r#"{{"description":"{}"}}"#, "x".repeat(LONGEST_SCHEMA)),
            format!("{}{}", r#"{"not":"#.repeat(120), "{}".to_owned() + &"}".repeat(120)),
        ];
        let rows: Vec<_> = unusable.iter().map(|schema| verdict(schema, r#"{"a":"b"}"#)).collect();
        insta::assert_snapshot!(rows.join("\n"), @r#"
        its schema cannot be used: "objekt" is not valid under any of the schemas listed in the 'anyOf' keyword
        its schema cannot be used: 7 is not of type "object"
        its schema cannot be used: "(" is not a "regex"
        its schema cannot be used: it refers to itself without end
        its schema cannot be used: it refers to itself without end
        its schema cannot be used: it refers to something that is not there
        its schema is longer than 256 KiB
        its schema cannot be used: it is nested too deeply
        "#);
    }

    #[test]
    fn a_schema_of_exponential_cost_is_not_checked() {
        let steps: Vec<String> = (0..30)
            .map(|it| format!(r##""d{it}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, it + 1))
            .collect();
        let schema =
            format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d30":{{}}}}}}"##, steps.join(","));
        check(&schema, "{}", "its schema cannot be used: it has too many alternatives");
        // The same, but only for deep arguments.
        let tree = r##"{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["b"]}]}"##;
        let deep = format!("{}{}", r#"{"a":"#.repeat(30), "{}".to_owned() + &"}".repeat(30));
        check(tree, &deep, "");
        assert!(verdict(tree, r#"{"a":{"a":{}}}"#).contains("matches none of its allowed forms"));
    }

    #[test]
    fn a_long_chain_of_references_does_not_exhaust_the_stack() {
        let chain = |links: usize| {
            let steps: Vec<String> = (0..links)
                .map(|it| format!(r##""d{it}":{{"$ref":"#/$defs/d{}"}}"##, it + 1))
                .collect();
            format!(
                r##"{{"$defs":{{{},"d{links}":{{"required":["a"]}}}},"$ref":"#/$defs/d0"}}"##,
                steps.join(",")
            )
        };
        check(&chain(90), "{}", "\"a\" is missing");
        check(&chain(3000), "{}", "its schema cannot be used: it is nested too deeply");
    }

    #[test]
    fn a_pattern_that_backtracks_too_long_is_not_an_error() {
        let schema = r#"{"properties":{"a":{"pattern":"^(?=x)(x+x+)+y\\1$"}}}"#;
        check(schema, &format!(r#"{{"a":"{}"}}"#, "x".repeat(40)), "");
    }

    #[test]
    fn a_schema_may_refer_to_itself() {
        let tree = r##"{"type":"object","properties":{"left":{"$ref":"#"},"v":{"$ref":"#/definitions/v"}},"definitions":{"v":{"type":"integer"}}}"##;
        check(tree, r#"{"left":{"left":{"v":1}}}"#, "");
        check(
            tree,
            r#"{"left":{"left":{"v":"x"}}}"#,
            "\"left.left.v\" must be an integer, not a string",
        );
    }
}

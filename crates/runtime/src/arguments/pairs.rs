//! Reads `key=value` words of a command line into arguments, with the types of the tool's schema.
//!
//! A value is a string unless the schema has another type; the value of `key:=JSON` is not changed.
//! Values are handled as text, so that no digit is lost, and are never repeated in an error.

use serde::Serialize;
use serde_json::Value;
use wharf_config::text::{clip, nearest};
use wharf_protocol::Json;

use super::argument_schemas::ArgumentSchemas;

/// How many characters of a name are shown.
const LONGEST: usize = 120;

/// Why words are not valid arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PairError {
    /// A word without an equals sign, or with nothing before it.
    #[error("\"{word}\" is not of the form key=value")]
    NotAPair {
        /// The start of the word.
        word: String,
    },
    /// The tool has no such argument.
    #[error("there is no argument \"{field}\"")]
    Unknown {
        /// Its name.
        field: String,
        /// The nearest existing name.
        nearest: Option<String>,
        /// The existing names.
        known: String,
    },
    /// The value has the wrong type.
    #[error("\"{field}\" must be {expected}")]
    WrongType {
        /// Which.
        field: String,
        /// The expected type.
        expected: String,
    },
    /// `key:=` without JSON after it.
    #[error("the value of \"{field}\" is not JSON: {why}")]
    NotJson {
        /// Which.
        field: String,
        /// The error of the JSON.
        why: String,
    },
    /// An argument that is not a list was given more than once.
    #[error("\"{field}\" is given more than once, but is not a list")]
    Twice {
        /// Which.
        field: String,
    },
}

impl PairError {
    /// Returns what a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotAPair { .. } => Some("write key=value or key:=JSON".to_owned()),
            Self::Unknown { nearest: Some(nearest), .. } => {
                Some(format!("did you mean \"{nearest}\"?"))
            }
            Self::Unknown { known, .. } if known.is_empty() => {
                Some("this tool takes no arguments".to_owned())
            }
            Self::Unknown { known, .. } => Some(format!("it takes {known}")),
            Self::NotJson { field, .. } => Some(format!("for a plain text write {field}=text")),
            Self::WrongType { .. } | Self::Twice { .. } => None,
        }
    }
}

/// Reads words into arguments, with the types of the schema.
///
/// ```
/// use wharf::arguments::from_pairs;
///
/// let schema = r#"{"properties":{"n":{"type":"integer"},"tag":{"type":"array"}}}"#.parse()?;
/// let arguments = from_pairs(&["n=7", "q=7", "tag=a", "tag=b", "deep:={\"x\":1}"], &schema)?;
/// assert_eq!(arguments.as_str(), r#"{"n":7,"q":"7","tag":["a","b"],"deep":{"x":1}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_pairs<W: AsRef<str>>(words: &[W], schema: &Json) -> Result<Json, PairError> {
    // An undecodable schema has no types.
    let schema = schema.to::<Value>().unwrap_or_default();
    let writer = PairWriter { schemas: ArgumentSchemas::new(&schema) };
    let mut arguments: Vec<(&str, Vec<PairValue<'_>>)> = Vec::new();
    for word in words {
        let (key, word) = split(word.as_ref())?;
        match arguments.iter_mut().find(|(known, _)| *known == key) {
            Some((_, words)) => words.push(word),
            None => arguments.push((key, vec![word])),
        }
    }
    let mut text = String::from("{");
    for (key, words) in arguments {
        let value = writer.value(key, &words)?;
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&quoted(key));
        text.push(':');
        text.push_str(&value);
    }
    text.push('}');
    Json::parse(text).map_err(|error| PairError::NotJson {
        field: "arguments".to_owned(),
        why: error.to_string(),
    })
}

#[derive(Clone, Copy)]
enum PairValue<'a> {
    Plain(&'a str),
    Json(&'a str),
}

fn split(word: &str) -> Result<(&str, PairValue<'_>), PairError> {
    let not_a_pair = || PairError::NotAPair { word: clip(word, 40) };
    let (key, value) = word.split_once('=').ok_or_else(not_a_pair)?;
    let (key, value) = match key.strip_suffix(':') {
        Some(key) => (key, PairValue::Json(value)),
        None => (key, PairValue::Plain(value)),
    };
    if key.is_empty() { Err(not_a_pair()) } else { Ok((key, value)) }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Encodes words as arguments of one tool.
struct PairWriter<'a> {
    schemas: ArgumentSchemas<'a>,
}

impl<'a> PairWriter<'a> {
    fn value(&self, key: &str, words: &[PairValue<'_>]) -> Result<String, PairError> {
        let schema = self.schema_of(key)?;
        let types = schema.map(|schema| self.schemas.types_of(schema)).unwrap_or_default();
        let is_list = types.contains(&"array");
        match words {
            [word] => {
                let whole = typed(key, *word, &types);
                match (word, whole) {
                    // A single item may be given for a list.
                    (PairValue::Plain(_), Err(_)) if is_list => self.list(key, schema, words),
                    (_, whole) => whole,
                }
            }
            _ if is_list => self.list(key, schema, words),
            _ => Err(PairError::Twice { field: clip(key, LONGEST) }),
        }
    }

    fn list(
        &self,
        key: &str,
        schema: Option<&'a Value>,
        words: &[PairValue<'_>],
    ) -> Result<String, PairError> {
        let items = schema.and_then(|schema| self.schemas.follow(schema).get("items"));
        let types = items.map(|items| self.schemas.types_of(items)).unwrap_or_default();
        // The expected type is a list; the error is about one item.
        let of_list = |error: PairError| match error {
            PairError::WrongType { field, expected } => {
                PairError::WrongType { field, expected: format!("an array, each item {expected}") }
            }
            other => other,
        };
        let items: Result<Vec<String>, PairError> =
            words.iter().map(|word| typed(key, *word, &types).map_err(of_list)).collect();
        Ok(format!("[{}]", items?.join(",")))
    }

    fn schema_of(&self, key: &str) -> Result<Option<&'a Value>, PairError> {
        let schema = self.schemas.root();
        let properties = self.schemas.properties();
        if let Some(found) = properties.and_then(|properties| properties.get(key)) {
            return Ok(Some(found));
        }
        let has_patterns = schema.get("patternProperties").is_some();
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) if !has_patterns => {
                let mut names: Vec<&str> = properties
                    .map(|them| them.keys().map(String::as_str).collect())
                    .unwrap_or_default();
                names.sort_unstable();
                let known = names.iter().map(|name| format!("\"{}\"", clip(name, 40)));
                Err(PairError::Unknown {
                    field: clip(key, LONGEST),
                    nearest: nearest(key, names.iter().copied()).map(|name| clip(name, LONGEST)),
                    known: clip(&known.collect::<Vec<_>>().join(", "), 3 * LONGEST),
                })
            }
            Some(other @ Value::Object(_)) => Ok(Some(other)),
            _ => Ok(None),
        }
    }
}

/// Encodes a word as a value of the first of these types that matches, a string last.
fn typed(key: &str, word: PairValue<'_>, types: &[&str]) -> Result<String, PairError> {
    let text = match word {
        PairValue::Plain(text) => text,
        PairValue::Json(text) => {
            let json = Json::parse(text.to_owned());
            return json.map(|json| json.as_str().to_owned()).map_err(|error| PairError::NotJson {
                field: clip(key, LONGEST),
                why: error.to_string(),
            });
        }
    };
    let others: Vec<&str> = types.iter().copied().filter(|kind| *kind != "string").collect();
    let may_be_text = others.len() < types.len() || types.is_empty();
    // If a string is allowed, `null` is read as a string; `:=` writes JSON null.
    let fits = |json: &Json| {
        let is_null = json.is_null() && may_be_text;
        !is_null && others.iter().any(|kind| is(json, kind))
    };
    let json = (!others.is_empty()).then(|| Json::parse(text.to_owned()).ok()).flatten();
    match json.filter(fits) {
        Some(json) => Ok(json.as_str().to_owned()),
        None if may_be_text => Ok(quoted(text)),
        None => Err(PairError::WrongType {
            field: clip(key, LONGEST),
            expected: clip(&expected(&others), LONGEST),
        }),
    }
}

fn is(json: &Json, kind: &str) -> bool {
    let first = json.as_str().as_bytes().first().copied().unwrap_or_default();
    match kind {
        "integer" | "number" => first == b'-' || first.is_ascii_digit(),
        "boolean" => matches!(first, b't' | b'f'),
        "null" => first == b'n',
        "array" => first == b'[',
        "object" => first == b'{',
        _ => false,
    }
}

fn expected(types: &[&str]) -> String {
    let mut names: Vec<&str> = types
        .iter()
        .map(|kind| match *kind {
            "integer" => "an integer",
            "number" => "a number",
            "boolean" => "true or false",
            "array" => "a JSON array",
            "object" => "a JSON object",
            other => other,
        })
        .collect();
    names.dedup();
    names.join(" or ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const SCHEMA: &str = r##"{"additionalProperties":false,"properties":{
        "text":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},"flag":{"type":"boolean"},
        "nothing":{"type":"null"},"tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"$ref":"#/$defs/id"}},
        "pairs":{"type":"array","items":{"type":"array"}},"object":{"type":"object"},"any":{},"maybe":{"type":["string","null"]},
        "either":{"anyOf":[{"type":"integer"},{"type":"string"}]},"mode":{"enum":["a",1]},"id":{"$ref":"#/$defs/id"},
        "optional":{"anyOf":[{"type":"integer"},{"type":"null"}]}},
        "$defs":{"id":{"type":"integer"}}}"##;

    fn outcome(words: &[&str]) -> String {
        match from_pairs(words, &SCHEMA.parse().unwrap()) {
            Ok(json) => json.as_str().to_owned(),
            Err(error) => match error.hint() {
                Some(hint) => format!("{error} | {hint}"),
                None => error.to_string(),
            },
        }
    }

    #[test]
    fn pairs_get_the_types_of_the_schema() {
        let rows: Vec<String> = [
            vec![
                "text=7",
                "count=98765432109876543210",
                "ratio=-1.50e3",
                "flag=true",
                "nothing=null",
            ],
            vec!["text=a=b", "ratio:= 1"],
            vec!["tags=a"],
            vec!["tags=a", "tags=[1]", "tags:=2"],
            vec![r#"tags=["a", "b"]"#],
            vec!["ids=1", "ids=2"],
            vec!["pairs=[1,2]", "pairs=[3]"],
            vec![r#"object={"a": 1.0}"#],
            vec!["any=7", "maybe=null", "either=7", "mode=1", "id=7", "optional=null"],
            vec!["either=x", "mode=a", "maybe:=null", "text="],
            vec!["count:=\"x\"", "any:=[1,  2]"],
            vec![],
        ]
        .iter()
        .map(|words| outcome(words))
        .collect();
        insta::assert_snapshot!(rows.join("\n"), @r#"
        {"text":"7","count":98765432109876543210,"ratio":-1.50e3,"flag":true,"nothing":null}
        {"text":"a=b","ratio":1}
        {"tags":["a"]}
        {"tags":["a","[1]",2]}
        {"tags":["a", "b"]}
        {"ids":[1,2]}
        {"pairs":[[1,2],[3]]}
        {"object":{"a": 1.0}}
        {"any":"7","maybe":"null","either":7,"mode":1,"id":7,"optional":null}
        {"either":"x","mode":"a","maybe":null,"text":""}
        {"count":"x","any":[1,  2]}
        {}
        "#);
    }

    #[test]
    fn an_invalid_pair_is_reported_by_name() {
        let rows: Vec<String> = [
            vec!["count=seven"],
            vec!["flag=yes"],
            vec!["ids=x"],
            vec!["optional=x"],
            vec!["object=[1]"],
            vec!["cuont=1"],
            vec!["zzz=1"],
            vec!["text=a", "text=b"],
            vec!["plain"],
            vec!["=x"],
            vec![":=1"],
            vec!["any:={oops"],
        ]
        .iter()
        .map(|words| outcome(words))
        .collect();
        insta::assert_snapshot!(rows.join("\n"), @r#"
        "count" must be an integer
        "flag" must be true or false
        "ids" must be an array, each item an integer
        "optional" must be an integer or null
        "object" must be a JSON object
        there is no argument "cuont" | did you mean "count"?
        there is no argument "zzz" | it takes "any", "count", "either", "flag", "id", "ids", "maybe", "mode", "nothing", "object", "optional", "pairs", "ratio", "tags", "text"
        "text" is given more than once, but is not a list
        "plain" is not of the form key=value | write key=value or key:=JSON
        "=x" is not of the form key=value | write key=value or key:=JSON
        ":=1" is not of the form key=value | write key=value or key:=JSON
        the value of "any" is not JSON: key must be a string at line 1 column 2 | for a plain text write any=text
        "#);
    }

    #[test]
    fn a_schema_with_circular_references_is_handled() {
        let circle: Json = r##"{"properties":{"a":{"$ref":"#/properties/a"},"b":{"anyOf":[{"$ref":"#/properties/b"},{"$ref":"#/properties/b"}]}}}"##.parse().unwrap();
        assert_eq!(from_pairs(&["a=1", "b=2"], &circle).unwrap().as_str(), r#"{"a":"1","b":"2"}"#);
        for schema in ["null", "7", r#"{"properties":7}"#, r#"{"properties":{"a":true}}"#] {
            let json = from_pairs(&["a=1"], &schema.parse().unwrap()).unwrap();
            assert_eq!(json.as_str(), r#"{"a":"1"}"#);
        }
    }

    proptest! {
        #[test]
        fn any_value_survives_as_json(key in "[a-zA-Z_é \"\\\\.]{1,8}", value in any_json()) {
            let word = format!("{key}:={value}");
            let json = from_pairs(&[word], &Json::object()).unwrap();
            prop_assert_eq!(json.to::<Value>().unwrap(), json!({ key: value }));
        }

        #[test]
        fn any_text_survives_as_text(key in "[a-z]{1,8}", text in any::<String>()) {
            let json = from_pairs(&[format!("{key}={text}")], &Json::object()).unwrap();
            prop_assert_eq!(json.to::<Value>().unwrap(), json!({ key: text }));
        }

        #[test]
        fn any_digits_survive_as_a_number(digits in "-?[1-9][0-9]{0,60}") {
            let schema = r#"{"properties":{"n":{"type":"integer"}}}"#.parse().unwrap();
            let json = from_pairs(&[format!("n={digits}")], &schema).unwrap();
            prop_assert_eq!(json.as_str(), format!(r#"{{"n":{digits}}}"#));
        }

        #[test]
        fn no_input_panics(words in prop::collection::vec("[a-z:=\\[{\"1 ]{0,12}", 0..5)) {
            drop(from_pairs(&words, &SCHEMA.parse().unwrap()));
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }
}

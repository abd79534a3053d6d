//! Tests of each placeholder form, and property tests with random texts.

use proptest::prelude::*;

use super::*;

const SECRET: &str = "value of SECRET";

/// Variables, some of whose values look like placeholders or commands.
fn env() -> Env {
    Env::new(Platform::Linux, "/srv/project")
        .with_home("/home/me")
        .with_variable("SECRET", SECRET)
        .with_variable("EMPTY", "")
        .with_variable("NESTED", "${SECRET} $SECRET %SECRET% {env:SECRET}")
        .with_variable("SHOUT", "!command")
}

fn expand_in(text: &str, syntax: Syntax) -> Expanded {
    let env = env();
    let folder = Path::new("/srv/project");
    let files = NamedFiles::default();
    let plugin = Some(Path::new("/plugins/one"));
    let context = ExpandContext {
        env: &env,
        folder,
        file_folder: Path::new("/nowhere"),
        plugin,
        files: &files,
        level: Level::User,
    };
    expand(&WrittenText { text: text.to_owned(), syntax }, context)
}

/// Compares the text after replacement, and each placeholder with the origin of its value.
fn check(syntax: Syntax, text: &str, expected: &str) {
    let expanded = expand_in(text, syntax);
    let uses = expanded.uses.iter().map(|used| format!("{}: {}", used.variable, word(used.from)));
    let rendered: Vec<String> = std::iter::once(expanded.text.clone()).chain(uses).collect();
    assert_eq!(rendered.join(" | "), expected, "{text}");
}

fn word(from: ValueOrigin) -> String {
    match from {
        ValueOrigin::Environment => "known".to_owned(),
        ValueOrigin::Default => "default".to_owned(),
        ValueOrigin::File => "file".to_owned(),
        ValueOrigin::Missing(why) => format!("{why:?}").to_lowercase(),
    }
}

#[test]
fn a_set_variable_is_replaced_and_an_unset_one_keeps_its_placeholder() {
    check(Syntax::BRACED, "a ${SECRET} b", "a value of SECRET b | SECRET: known");
    check(Syntax::BRACED, "${NOBODY}/x", "${NOBODY}/x | NOBODY: variable");
    check(Syntax::BRACED, "${EMPTY}", " | EMPTY: known");
    check(Syntax::BRACED, "${A}${SECRET}", "${A}value of SECRET | A: variable | SECRET: known");
}

#[test]
fn a_default_is_used_for_an_unset_or_empty_variable() {
    check(Syntax::BRACED, "${NOBODY:-d}", "d | NOBODY: default");
    check(Syntax::BRACED, "${EMPTY:-d}", "d | EMPTY: default");
    check(Syntax::BRACED, "${EMPTY:-}", " | EMPTY: default");
    check(Syntax::BRACED, "${SECRET:-d}", "value of SECRET | SECRET: known");
    check(Syntax::BRACED, "${NOBODY:-{\"a\":{}}}", "{\"a\":{}} | NOBODY: default");
}

#[test]
fn replaced_text_is_not_expanded_again() {
    let nested = "${SECRET} $SECRET %SECRET% {env:SECRET}";
    for text in ["${NESTED}", "$NESTED", "%NESTED%", "${env:NESTED}", "{env:NESTED}", "$env:NESTED"]
    {
        check(Syntax::all(), text, &format!("{nested} | NESTED: known"));
    }
    check(Syntax::BRACED, "${NOBODY:-${SECRET}}", "${SECRET} | NOBODY: default");
}

#[test]
fn each_placeholder_form_is_replaced_only_in_its_syntax() {
    let forms = [
        (Syntax::BRACED, "${SECRET}"),
        (Syntax::DOLLAR, "$SECRET"),
        (Syntax::PERCENT, "%SECRET%"),
        (Syntax::ENV_COLON, "${env:SECRET}"),
        (Syntax::ENV_COLON, "${env://SECRET}"),
        (Syntax::CURLY, "{env:SECRET}"),
        (Syntax::POWERSHELL, "$env:SECRET"),
        (Syntax::SECRETS, "${{ secrets.SECRET }}"),
    ];
    for (syntax, text) in forms {
        check(syntax, text, &format!("{SECRET} | SECRET: known"));
    }
    check(Syntax::BRACED, "$SECRET %SECRET% {env:SECRET}", "$SECRET %SECRET% {env:SECRET}");
    check(
        Syntax::BRACED,
        "${env:SECRET} ${{ secrets.SECRET }}",
        "${env:SECRET} ${{ secrets.SECRET }}",
    );
    check(Syntax::empty(), "${SECRET}", "${SECRET}");
    check(Syntax::RESOLVED, "${SECRET}", "${SECRET}");
}

#[test]
fn folder_placeholders_are_replaced() {
    let editor = [
        ("${userHome}", "/home/me"),
        ("${workspaceFolder}", "/srv/project"),
        ("${workspaceFolderBasename}", "project"),
        ("${/}", "/"),
    ];
    for (text, value) in editor {
        let name = text.trim_matches(['$', '{', '}']);
        check(Syntax::EDITOR, text, &format!("{value} | {name}: known"));
    }
    check(
        Syntax::PLUGIN,
        "${CLAUDE_PLUGIN_ROOT}${/}${extensionPath}",
        "/plugins/one//plugins/one | CLAUDE_PLUGIN_ROOT: known | /: known | extensionPath: known",
    );
    check(Syntax::BRACED, "${workspaceFolder}", "${workspaceFolder} | workspaceFolder: variable");
}

#[test]
fn unresolvable_placeholders_stay_and_are_reported() {
    check(Syntax::INPUT, "${input:key}", "${input:key} | key: input");
    check(Syntax::SHELL, "$(cat key)x", "$(cat key)x | $(…): command");
    check(Syntax::EDITOR, "${config:a.b}", "${config:a.b} | config:a.b: programonly");
    check(Syntax::CURLY, "{file:key.txt}", "{file:key.txt} | key.txt: file");
}

#[test]
fn text_that_resembles_a_placeholder_stays() {
    let texts = [
        "$",
        "${",
        "${}",
        "${a b}",
        "${1A}",
        "$5",
        "$$",
        "%",
        "%%",
        "%A",
        "%a b%",
        "{",
        "{}",
        "{env}",
        "{x:y}",
        "$()",
        "$(",
        "${SECRET",
        "100% {a}",
        "}{",
        "🦀$🦀{🦀%🦀",
    ];
    for text in texts {
        let expanded = expand_in(text, Syntax::all() - Syntax::SHELL);
        assert_eq!((expanded.text.as_str(), expanded.uses.len()), (text, 0));
    }
}

#[test]
fn many_unclosed_placeholders_stay() {
    for opening in ["${", "{", "$(", "%A", "$env:", "${{"] {
        let text = opening.repeat(1_000);
        assert_eq!(expand_in(&text, Syntax::all()).text, text);
    }
}

/// Text with many fragments of placeholders.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        prop::sample::select(vec![
            "$",
            "${",
            "}",
            "{",
            "%",
            ":-",
            "env:",
            "file:",
            "input:",
            "$(",
            ")",
            "SECRET",
            "NESTED",
            "EMPTY",
            "${SECRET}",
            "{{",
            " secrets.",
            "command:",
            "/",
            "🦀",
            "!",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

fn syntax() -> impl Strategy<Value = Syntax> {
    any::<u16>().prop_map(Syntax::from_bits_truncate)
}

proptest! {
    #[test]
    fn the_pieces_of_any_text_join_to_the_same_text(text in text(), syntax in syntax()) {
        let env = env();
        let folder = Path::new("/srv/project");
    let files = NamedFiles::default();
        let context = ExpandContext { env: &env, folder, file_folder: Path::new("/nowhere"), plugin: None, files: &files, level: Level::User };
        let written = WrittenText { text: text.clone(), syntax };
        let whole: String = pieces(&written, context)
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Placeholder(text, _) => text,
            })
            .collect();
        prop_assert_eq!(whole, text);
        let has_uses = !expand(&written, context).uses.is_empty();
        prop_assert_eq!(has_placeholder(&written, context), has_uses);
    }

    #[test]
    fn text_without_a_special_character_is_unchanged(text in "[^${%]*", syntax in syntax()) {
        let expanded = expand_in(&text, syntax);
        prop_assert_eq!(expanded.text, text);
        prop_assert!(expanded.uses.is_empty());
    }

    #[test]
    fn a_text_with_only_missing_values_is_unchanged(text in text(), syntax in syntax()) {
        let expanded = expand_in(&text, syntax);
        if expanded.uses.iter().all(|used| matches!(used.from, ValueOrigin::Missing(_))) {
            prop_assert_eq!(expanded.text, text);
        }
    }

    #[test]
    fn a_value_is_inserted_unchanged(value in any::<String>(), syntax in syntax()) {
        let env = env().with_variable("ANY", value.clone());
        let folder = Path::new("/srv/project");
    let files = NamedFiles::default();
        let context = ExpandContext { env: &env, folder, file_folder: folder, plugin: None, files: &files, level: Level::User };
        let written = WrittenText { text: "<${ANY}>".to_owned(), syntax: syntax | Syntax::BRACED };
        prop_assert_eq!(expand(&written, context).text, format!("<{value}>"));
    }
}

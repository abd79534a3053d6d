//! Placeholders: each form where it counts, and what holds for any text.

use proptest::prelude::*;

use super::*;

const SECRET: &str = "value of SECRET";

/// Variables among which some look like placeholders or commands themselves.
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
    let scope = Scope {
        env: &env,
        folder,
        file_folder: Path::new("/nowhere"),
        plugin,
        files: &files,
        level: Level::User,
    };
    expand(&Written { text: text.to_owned(), syntax }, scope)
}

/// Shows the text after replacement, and each placeholder with where its value came from.
fn check(syntax: Syntax, text: &str, expected: &str) {
    let expanded = expand_in(text, syntax);
    let uses = expanded.uses.iter().map(|used| format!("{}: {}", used.variable, word(used.from)));
    let shown: Vec<String> = std::iter::once(expanded.text.clone()).chain(uses).collect();
    assert_eq!(shown.join(" | "), expected, "{text}");
}

fn word(from: Origin) -> String {
    match from {
        Origin::Environment => "known".to_owned(),
        Origin::Default => "default".to_owned(),
        Origin::File => "file".to_owned(),
        Origin::Missing(why) => format!("{why:?}").to_lowercase(),
    }
}

#[test]
fn a_variable_is_replaced_and_one_that_is_not_set_stays() {
    check(Syntax::BRACED, "a ${SECRET} b", "a value of SECRET b | SECRET: known");
    check(Syntax::BRACED, "${NOBODY}/x", "${NOBODY}/x | NOBODY: variable");
    check(Syntax::BRACED, "${EMPTY}", " | EMPTY: known");
    check(Syntax::BRACED, "${A}${SECRET}", "${A}value of SECRET | A: variable | SECRET: known");
}

#[test]
fn a_default_counts_also_when_the_variable_is_empty() {
    check(Syntax::BRACED, "${NOBODY:-d}", "d | NOBODY: default");
    check(Syntax::BRACED, "${EMPTY:-d}", "d | EMPTY: default");
    check(Syntax::BRACED, "${EMPTY:-}", " | EMPTY: default");
    check(Syntax::BRACED, "${SECRET:-d}", "value of SECRET | SECRET: known");
    check(Syntax::BRACED, "${NOBODY:-{\"a\":{}}}", "{\"a\":{}} | NOBODY: default");
}

#[test]
fn what_comes_out_is_not_looked_at_again() {
    let nested = "${SECRET} $SECRET %SECRET% {env:SECRET}";
    for text in ["${NESTED}", "$NESTED", "%NESTED%", "${env:NESTED}", "{env:NESTED}", "$env:NESTED"]
    {
        check(Syntax::all(), text, &format!("{nested} | NESTED: known"));
    }
    check(Syntax::BRACED, "${NOBODY:-${SECRET}}", "${SECRET} | NOBODY: default");
}

#[test]
fn each_form_counts_only_where_its_program_has_it() {
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
fn folders_are_facts() {
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
fn what_only_its_program_can_know_stays_and_is_told() {
    check(Syntax::INPUT, "${input:key}", "${input:key} | key: input");
    check(Syntax::SHELL, "$(cat key)x", "$(cat key)x | $(…): command");
    check(Syntax::EDITOR, "${config:a.b}", "${config:a.b} | config:a.b: foreign");
    check(Syntax::CURLY, "{file:key.txt}", "{file:key.txt} | key.txt: file");
}

#[test]
fn what_only_looks_like_a_placeholder_stays() {
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
fn a_long_text_of_openings_stays() {
    for opening in ["${", "{", "$(", "%A", "$env:", "${{"] {
        let text = opening.repeat(1_000);
        assert_eq!(expand_in(&text, Syntax::all()).text, text);
    }
}

/// Text of which much looks like placeholders.
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
    fn any_text_can_be_taken_apart_and_put_together_again(text in text(), syntax in syntax()) {
        let env = env();
        let folder = Path::new("/srv/project");
    let files = NamedFiles::default();
        let scope = Scope { env: &env, folder, file_folder: Path::new("/nowhere"), plugin: None, files: &files, level: Level::User };
        let written = Written { text: text.clone(), syntax };
        let whole: String = pieces(&written, scope)
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Placeholder(text, _) => text,
            })
            .collect();
        prop_assert_eq!(whole, text);
        let has_uses = !expand(&written, scope).uses.is_empty();
        prop_assert_eq!(has_placeholder(&written, scope), has_uses);
    }

    #[test]
    fn text_without_a_special_character_is_unchanged(text in "[^${%]*", syntax in syntax()) {
        let expanded = expand_in(&text, syntax);
        prop_assert_eq!(expanded.text, text);
        prop_assert!(expanded.uses.is_empty());
    }

    #[test]
    fn a_text_in_which_everything_is_missing_is_unchanged(text in text(), syntax in syntax()) {
        let expanded = expand_in(&text, syntax);
        if expanded.uses.iter().all(|used| matches!(used.from, Origin::Missing(_))) {
            prop_assert_eq!(expanded.text, text);
        }
    }

    #[test]
    fn a_value_arrives_as_it_is(value in any::<String>(), syntax in syntax()) {
        let env = env().with_variable("ANY", value.clone());
        let folder = Path::new("/srv/project");
    let files = NamedFiles::default();
        let scope = Scope { env: &env, folder, file_folder: folder, plugin: None, files: &files, level: Level::User };
        let written = Written { text: "<${ANY}>".to_owned(), syntax: syntax | Syntax::BRACED };
        prop_assert_eq!(expand(&written, scope).text, format!("<{value}>"));
    }
}

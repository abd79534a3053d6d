//! Files with syntax errors in JSON, TOML or YAML, and accepted deviations from them.

use insta::assert_snapshot;

use super::{cursor, world};
use crate::world::CANARY;

#[test]
fn truncated_json_is_a_problem_of_the_line_where_it_ends() {
    let text = format!(
        "{{\n  \"mcpServers\": {{\n    \"a\": {{ \"command\": \"x\", \"env\": {{ \"T\": \"{CANARY}\""
    );
    assert_snapshot!(cursor(text), @"error syntax ~/.cursor/mcp.json:3: not valid JSON: the file ends inside the object of line 3 (column 57) (correct the line; until then the file is ignored)");
}

#[test]
fn json_that_ends_inside_a_string_is_a_problem_of_the_line_where_it_begins() {
    let text = format!("{{\n  \"mcpServers\": {{\n    \"a\": {{ \"env\": {{ \"T\": \"{CANARY}");
    assert_snapshot!(cursor(text), @"error syntax ~/.cursor/mcp.json:3: not valid JSON: the closing quote of this string is missing (column 26) (correct the line; until then the file is ignored)");
}

#[test]
fn a_missing_comma_is_a_problem_of_the_line_before() {
    let text = format!(
        "{{\n  \"mcpServers\": {{\n    \"a\": {{ \"env\": {{ \"T\": \"{CANARY}\" }}\n      \"command\": \"x\" }}\n  }}\n}}"
    );
    assert_snapshot!(cursor(text), @"error syntax ~/.cursor/mcp.json:3: not valid JSON: a comma is missing here (column 43) (correct the line; until then the file is ignored)");
}

#[test]
fn text_after_the_end_is_a_problem() {
    let text = format!("{{ \"mcpServers\": {{}} }}\n{CANARY}\n");
    assert_snapshot!(cursor(text), @"error syntax ~/.cursor/mcp.json:2: not valid JSON: unexpected text after the value (column 1) (correct the line; until then the file is ignored)");
}

#[test]
fn an_empty_file_is_accepted() {
    for text in ["", "\n\n", "{}", "// nothing yet\n", "\u{feff}"] {
        assert_eq!(cursor(text), "", "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_crlf_comments_and_trailing_commas_are_accepted() {
    let text = "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t/* a\r\n\t\t   b */\r\n\t\t\"a\": { \"command\": \"x\", \"args\": [\"1\",], },\r\n\t},\r\n}\r\n";
    let world = world().with("~/.cursor/mcp.json", text);
    assert_snapshot!(world.show(), @"
    a: enabled stdio, cursor user ~/.cursor/mcp.json:6
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    ");
}

#[test]
fn a_byte_order_mark_and_crlf_are_accepted_in_toml_and_yaml() {
    let world = world()
        .with("~/.codex/config.toml", "\u{feff}# mine\r\n[mcp_servers.a]\r\ncommand = \"x\"\r\n")
        .with(
            "~/.hermes/config.yaml",
            "\u{feff}# mine\r\nmcp_servers:\r\n  b:\r\n    command: y\r\n",
        );
    assert_snapshot!(world.show(), @"
    a: enabled stdio, codex user ~/.codex/config.toml:2
    b: enabled stdio, hermes user ~/.hermes/config.yaml:3
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    ");
}

#[test]
fn duplicate_keys_are_a_problem_and_the_last_one_counts() {
    let text = format!(
        r#"{{
  "mcpServers": {{
    "a": {{ "command": "first", "env": {{ "T": "{CANARY}" }} }},
    "b": {{ "command": "x", "command": "y" }},
    "a": {{
      "command": "second"
    }}
  }}
}}"#
    );
    let world = world().with("~/.cursor/mcp.json", text);
    assert_snapshot!(world.show(), @r#"
    a: enabled stdio, cursor user ~/.cursor/mcp.json:5
    b: enabled stdio, cursor user ~/.cursor/mcp.json:4
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    warning duplicate-key ~/.cursor/mcp.json:4: "command" appears twice in one object (first on line 4); the last one is used (remove one of them)
    warning duplicate-key ~/.cursor/mcp.json:5: "a" appears twice in one object (first on line 3); the last one is used (remove one of them)
    "#);
    let catalog = world.load();
    let command = |name| {
        let server = catalog.winner(name)?;
        server.definition.fields.command.as_ref().map(|command| command.text.as_str())
    };
    assert_eq!((command("a"), command("b")), (Some("second"), Some("y")));
}

#[test]
fn a_hundred_thousand_brackets_are_a_problem() {
    let json = format!("{{ \"mcpServers\": {{ \"a\": {}", "[".repeat(100_000));
    let objects = "{\"a\":".repeat(100_000);
    let toml = format!("[mcp_servers.a]\nargs = {}", "[".repeat(100_000));
    let yaml = format!("mcp_servers:\n  a: {}", "[".repeat(100_000));
    let world = world()
        .with("~/.cursor/mcp.json", json)
        .with("~/.wharf/mcp.json", objects)
        .with("~/.codex/config.toml", toml)
        .with("~/.hermes/config.yaml", yaml);
    assert_snapshot!(world.show_problems(), @"
    error syntax ~/.wharf/mcp.json:1: not valid JSON: nested more than 128 levels deep (column 641) (correct the line; until then the file is ignored)
    error syntax ~/.codex/config.toml:2: not valid TOML: nested more than 128 levels deep (column 516) (correct the line; until then the file is ignored)
    error syntax ~/.cursor/mcp.json:1: not valid JSON: nested more than 128 levels deep (column 150) (correct the line; until then the file is ignored)
    error syntax ~/.hermes/config.yaml:2: not valid YAML: nested more than 128 levels deep (column 261) (correct the line; until then the file is ignored)
    ");
}

#[test]
fn deep_toml_keys_and_yaml_blocks_are_a_problem() {
    let toml = format!("[mcp_servers{}]\n", ".a".repeat(100_000));
    let lines = (0..2_000_usize).map(|depth| format!("{}a:\n", " ".repeat(depth)));
    let world = world()
        .with("~/.codex/config.toml", toml)
        .with("~/.hermes/config.yaml", lines.collect::<String>());
    assert_snapshot!(world.show_problems(), @"
    error syntax ~/.codex/config.toml:1: not valid TOML: a key has more than 80 names (column 171) (correct the line; until then the file is ignored)
    error syntax ~/.hermes/config.yaml:129: not valid YAML: nested more than 128 levels deep (column 129) (correct the line; until then the file is ignored)
    ");
}

#[test]
fn a_toml_error_is_a_problem_of_its_line() {
    let text = format!(
        "model = \"x\"\n\n[mcp_servers.a]\ncommand = \"x\"\nenv = {{ T = \"{CANARY} }}\nargs = []\n"
    );
    let world = world().with("~/.codex/config.toml", text);
    assert_snapshot!(world.show_problems(), @"error syntax ~/.codex/config.toml:6: not valid TOML: missing comma between key-value pairs, expected `,` (column 1) (correct the line; until then the file is ignored)");
}

#[test]
fn a_repeated_toml_table_is_a_problem_of_its_line() {
    let text = format!(
        "[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nT = \"{CANARY}\"\n[mcp_servers.a]\ncommand = \"y\"\n"
    );
    let world = world().with("~/.codex/config.toml", text);
    assert_snapshot!(world.show_problems(), @"error syntax ~/.codex/config.toml:5: not valid TOML: duplicate key (column 14) (correct the line; until then the file is ignored)");
}

#[test]
fn a_toml_value_without_quotes_is_a_problem_that_does_not_quote_it() {
    let text = format!("[mcp_servers.a]\ncommand = {CANARY}\n");
    let world = world().with("~/.codex/config.toml", text);
    assert_snapshot!(world.show_problems(), @"error syntax ~/.codex/config.toml:2: not valid TOML: string values must be quoted, expected literal string (column 11) (correct the line; until then the file is ignored)");
}

#[test]
fn a_yaml_error_is_a_problem_of_its_line() {
    let text = format!("mcp_servers:\n  a:\n    command: x\n    env:\n      T: {CANARY}: y\n");
    let world = world().with("~/.hermes/config.yaml", text);
    assert_snapshot!(world.show_problems(), @"error syntax ~/.hermes/config.yaml:5: not valid YAML: `:` is not allowed here; put a value that contains it in quotes (column 23) (correct the line; until then the file is ignored)");
}

#[test]
fn a_tab_in_yaml_is_a_problem_of_its_line() {
    let text = format!("mcp_servers:\n  a:\n\t  command: {CANARY}\n");
    let world = world().with("~/.hermes/config.yaml", text);
    assert_snapshot!(world.show_problems(), @"error syntax ~/.hermes/config.yaml:3: not valid YAML: a tab is used for indentation; use spaces (column 4) (correct the line; until then the file is ignored)");
}

#[test]
fn a_yaml_alias_without_an_anchor_is_a_problem_of_its_line() {
    let world = world().with("~/.hermes/config.yaml", "mcp_servers:\n  a: *nobody\n");
    assert_snapshot!(world.show_problems(), @"error syntax ~/.hermes/config.yaml:2: not valid YAML: this alias refers to an undefined anchor (column 6) (correct the line; until then the file is ignored)");
}

#[test]
fn a_yaml_anchor_bomb_is_a_problem() {
    let mut lines = vec!["a0: &a0 [x, x, x, x, x, x, x, x, x]".to_owned()];
    for level in 1..12 {
        let below = format!("*a{}, ", level - 1).repeat(9);
        lines.push(format!("a{level}: &a{level} [{below}]"));
    }
    lines.push("mcp_servers:\n  a: *a11\n".to_owned());
    let world = world().with("~/.hermes/config.yaml", lines.join("\n"));
    assert_snapshot!(world.show_problems(), @"error syntax ~/.hermes/config.yaml:7: not valid YAML: aliases unfold to more than 1000000 values (column 10) (correct the line; until then the file is ignored)");
}

#[test]
fn yaml_anchors_and_merge_keys_are_accepted() {
    let text = "base: &base\n  command: x\n  timeout: 5\nmcp_servers:\n  a:\n    <<: *base\n";
    let world = world().with("~/.hermes/config.yaml", text);
    assert_snapshot!(world.show(), @"
    a: enabled stdio, hermes user ~/.hermes/config.yaml:5
    good: enabled stdio, windsurf user ~/.codeium/windsurf/mcp_config.json:1
    ");
}

#[test]
fn bytes_that_are_not_utf8_are_a_problem_of_their_line() {
    let mut text = b"{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"".to_vec();
    text.extend([0xff, 0xfe]);
    text.extend(format!("{CANARY}\" }} }} }}").into_bytes());
    assert_snapshot!(cursor(text), @r#"error not-utf8 ~/.cursor/mcp.json:3: "mcp.json" is not valid UTF-8 (line 3) (save it as UTF-8; line 3 is not)"#);
}

//! All commands in hints, in the README and in the guide are valid command lines.
//!
//! Each command is only parsed, with `--help`: an unknown word makes the parser fail with exit
//! code 2. What a command does is tested where the hint is tested.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::World;

/// Checks a command line with `--help`, so that nothing is started.
fn is_valid_command(world: &World, line: &str) -> bool {
    let words: Vec<String> = words(line).into_iter().map(fill_placeholder).collect();
    let Some(verb) = words.first().filter(|verb| *verb != "NAME") else { return true };
    if verb == "help" {
        return world.output(&format!("help {}", words[1..].join(" "))).status.success();
    }
    // `--help` checks the verb and every flag before it.
    let mut asked: Vec<&str> =
        words.iter().map(String::as_str).take_while(|it| *it != "--").collect();
    asked.push("--help");
    let output = world.command(&asked).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let flags = words.iter().take_while(|word| *word != "--").filter(|word| word.starts_with("--"));
    let has_flag = |flag: &String| {
        let flag = flag.split('=').next().unwrap_or_default();
        text.contains(flag)
    };
    output.status.success()
        && text.contains(&format!("wharf {verb}"))
        && flags.clone().all(has_flag)
}

/// Replaces a placeholder by a valid word.
fn fill_placeholder(word: String) -> String {
    match word.as_str() {
        "PROGRAM" => "cursor".to_owned(),
        "SHELL" => "bash".to_owned(),
        _ => word,
    }
}

/// Splits a command into words as a shell does, up to a pipe, a redirection or a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
            _ => rest.find(' ').unwrap_or(rest.len()),
        };
        let (word, after) = rest.split_at(end);
        if ["|", ">", ">>", "<", "#", "&&", ";"].contains(&word) || after.starts_with("  ") {
            words.push(word.to_owned());
            if ["|", ">", ">>", "<", "#", "&&", ";"].contains(&word) {
                words.pop();
            }
            break;
        }
        words.push(word.trim_matches(['\'', '"']).to_owned());
        rest = after.trim_start();
    }
    words
}

/// Finds commands `wharf …` in a text: in backticks, in a fenced block, in parentheses, or after a
/// colon up to the end of the line.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        for (at, _) in line.match_indices("wharf ") {
            let before = line[..at].chars().last();
            let rest = &line[at + "wharf ".len()..];
            let end = match before {
                Some('`') => rest.find('`'),
                Some('(') => rest.find(')'),
                None => Some(rest.len()),
                Some(' ') if line[..at].trim_end().ends_with(':') => Some(rest.len()),
                Some(' ') if line[..at].trim().is_empty() || line[..at].trim() == "$" => {
                    Some(rest.len())
                }
                _ => continue,
            };
            let Some(end) = end else { continue };
            // The rest of the sentence is not part of the command.
            let sentence = [", ", "; ", " (", "… (", " shows ", " lists ", " asks "];
            let command = sentence.iter().fold(&rest[..end], |command, words| {
                command.split(words).next().unwrap_or_default()
            });
            if !command.contains('<') {
                found.push(command.trim_end_matches(['.', '"', ',', '\\', '…']).to_owned());
            }
        }
    }
    found
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_readme_and_the_guide_name_only_valid_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let world = World::new().with_probe();
    let (mut count, mut wrong) = (0, Vec::new());
    for file in ["README.md", "docs/guide.md"] {
        for line in commands(&fs::read_to_string(root.join(file)).unwrap()) {
            count += 1;
            if !is_valid_command(&world, &line) {
                wrong.push(format!("{file}: wharf {line}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count > 10, "{count}");
}

#[test]
fn hints_name_only_valid_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let world = World::new().with_probe();
    let (mut count, mut wrong) = (0, Vec::new());
    for part in ["cli/src", "config/src", "runtime/src"] {
        for path in sources(&root.join(part)) {
            let text = fs::read_to_string(&path).unwrap();
            // Texts in the tests of a file are not printed.
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let strings = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let text: Vec<String> = strings.map(|line| line.replace("\\\"", "”")).collect();
            for line in commands(&text.join("\n")) {
                // The end of the string is not part of the command.
                let line = line.split('"').next().unwrap_or_default().replace("{word}", "NAME");
                let line = line.replace("{}", "NAME").replace("{name}", "NAME");
                count += 1;
                if !is_valid_command(&world, &line) {
                    wrong.push(format!("{}: wharf {line}", path.display()));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(count > 20, "{count}");
}

#[test]
fn a_hostile_name_is_quoted_in_every_suggested_command() {
    let name = "x; touch evil";
    let entry = format!(r#"{{ "mcpServers": {{ "{name}": {{ "command": "npx" }} }} }}"#);
    let world = World::new().programs(&["npx"]).project(".cursor/mcp.json", &entry);
    let verbs: [&[&str]; 6] = [
        &["import", "cursor", "--dry-run"],
        &["export", "codex", "--dry-run"],
        &["add", name, "--token", "t"],
        &["remove", name],
        &["doctor", "--offline"],
        &["list"],
    ];
    for words in verbs {
        let rendered = world.run_words(words);
        let commands = rendered
            .lines()
            .flat_map(|line| line.match_indices("wharf ").map(|(at, _)| &line[at..]));
        for command in commands.filter(|command| command.contains("touch")) {
            assert!(command.contains(&format!("'{name}'")), "{words:?}: {command}");
        }
        assert!(rendered.contains(&format!("'{name}'")), "{words:?} names no command: {rendered}");
    }
}

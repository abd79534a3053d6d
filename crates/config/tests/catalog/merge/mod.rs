//! Tests of merging: the winner of each name, shadowing, duplicates, switches and defaults.

mod duplicates;
mod order;
mod programs;
mod project_folders;
mod replacement;
mod switches;

/// Returns the text of a file with one different server for each name.
fn servers(names: &[&str]) -> String {
    under("mcpServers", names)
}

/// Returns the same with another key.
fn under(key: &str, names: &[&str]) -> String {
    let entries: Vec<String> = names
        .iter()
        .map(|name| format!("\"{name}\": {{ \"command\": \"{name}-server\" }}"))
        .collect();
    format!("{{ \"{key}\": {{ {} }} }}", entries.join(", "))
}

/// Returns the text of a file with one server; the argument makes it unique.
fn server(name: &str, argument: &str) -> String {
    format!(
        "{{ \"mcpServers\": {{ \"{name}\": {{ \"command\": \"x\", \"args\": [\"{argument}\"] }} }} }}"
    )
}

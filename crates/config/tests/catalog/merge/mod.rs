//! Who has a name, who is shadowed, and what else decides.

mod duplicates;
mod levels;
mod order;
mod programs;
mod replacement;
mod switches;

/// The text of a file in which each name is a server of its own.
fn servers(names: &[&str]) -> String {
    under("mcpServers", names)
}

/// The same under another key.
fn under(key: &str, names: &[&str]) -> String {
    let entries: Vec<String> = names
        .iter()
        .map(|name| format!("\"{name}\": {{ \"command\": \"{name}-server\" }}"))
        .collect();
    format!("{{ \"{key}\": {{ {} }} }}", entries.join(", "))
}

/// The text of a file with one server that has other arguments than all others.
fn server(name: &str, argument: &str) -> String {
    format!(
        "{{ \"mcpServers\": {{ \"{name}\": {{ \"command\": \"x\", \"args\": [\"{argument}\"] }} }} }}"
    )
}

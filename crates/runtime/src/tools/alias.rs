//! Aliases of a tool that consist of the raw names of its server and itself.

/// Returns the tool in an alias of this server: `server/tool`, `server.tool`, `server tool` or
/// `mcp__server__tool`.
pub fn strip_server_name<'t>(text: &'t str, server: &str) -> Option<&'t str> {
    let rest = |text: &'t str, joint: &str| text.strip_prefix(server)?.strip_prefix(joint);
    let spelled = || rest(text.strip_prefix("mcp__")?, "__");
    let plain = ["/", ".", " "].into_iter().find_map(|joint| rest(text, joint));
    plain.or_else(spelled).filter(|tool| !tool.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_follows_the_name_of_its_server() {
        for (text, server, expected) in [
            ("db/echo", "db", Some("echo")),
            ("db2/echo", "db", None),
            ("db/echo", "db2", None),
            ("db.echo", "db", Some("echo")),
            ("db echo", "db", Some("echo")),
            ("mcp__db__echo", "db", Some("echo")),
            ("mcp__db__echo", "mcp", None),
            ("a.b/c", "a", Some("b/c")),
            ("a.b/c", "a.b", Some("c")),
            ("日本/検索", "日本", Some("検索")),
            ("db/", "db", None),
            ("db", "db", None),
            ("mcp_db_echo", "db", None),
        ] {
            assert_eq!(strip_server_name(text, server), expected, "{text} {server}");
        }
    }
}

//! The descriptions of the servers; placeholders are replaced by the paths of this machine.
//!
//! `wharf-interop` reads the descriptions as JSON. Here they are text with placeholders `${name}`.

use std::path::PathBuf;

/// Servers with the same requirements on the machine.
#[derive(Clone, Copy)]
pub(super) struct ServerGroup(&'static str);

pub(super) const NODE: ServerGroup = ServerGroup(include_str!("node.json"));
pub(super) const PYTHON: ServerGroup = ServerGroup(include_str!("python.json"));
pub(super) const GIT: ServerGroup = ServerGroup(include_str!("git.json"));

/// The placeholders and their paths.
pub(super) type InstalledPaths = Vec<(&'static str, PathBuf)>;

impl ServerGroup {
    /// Returns the names of the servers.
    pub(super) fn names(self) -> Vec<&'static str> {
        let after = self.0.split("\n      \"name\": \"").skip(1);
        after.filter_map(|rest| rest.split('"').next()).collect()
    }

    pub(super) fn needs(self, placeholder: &str) -> bool {
        self.0.contains(&format!("${{{placeholder}}}"))
    }

    /// Returns the text of the list of servers, without its brackets.
    fn servers(self) -> &'static str {
        let start = self.0.find('[').map_or(0, |at| at + 1);
        let end = self.0.rfind(']').unwrap_or(self.0.len());
        self.0[start..end].trim_end()
    }
}

/// Renders one file that describes all servers of the groups.
pub(super) fn render(groups: &[ServerGroup], paths: &InstalledPaths) -> String {
    let servers: Vec<&str> = groups.iter().map(|group| group.servers()).collect();
    let mut text = format!("{{\n  \"servers\": [{}\n  ]\n}}\n", servers.join(","));
    for (name, path) in paths {
        let path = path.display().to_string().replace('\\', r"\\").replace('"', r#"\""#);
        text = text.replace(&format!("${{{name}}}"), &path);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_all_servers_are_found() {
        assert_eq!(NODE.names()[..2], ["everything-stdio", "everything-stdio-capable"]);
        assert_eq!(NODE.names().len(), 14);
        assert_eq!(PYTHON.names().len(), 8);
        assert_eq!(GIT.names(), ["git"]);
    }

    #[test]
    fn the_everything_server_is_listed_for_each_transport_and_capability_set() {
        let names = NODE.names();
        for transport in ["stdio", "http", "sse"] {
            for capabilities in ["", "-capable", "-tasks"] {
                let name = format!("everything-{transport}{capabilities}");
                assert!(names.contains(&name.as_str()), "{name}");
            }
        }
    }

    #[test]
    fn paths_are_escaped_for_json() {
        let group = ServerGroup(
            "{\n  \"servers\": [\n    {\n      \"name\": \"a\",\n      \"args\": [\"${x}/b\", \"[${y}]\"]\n    }\n  ]\n}\n",
        );
        let paths = vec![("x", PathBuf::from(r"C:\tools")), ("y", PathBuf::from(r#"say "hi""#))];
        assert_eq!(
            render(&[group, group], &paths),
            r#"{
  "servers": [
    {
      "name": "a",
      "args": ["C:\\tools/b", "[say \"hi\"]"]
    },
    {
      "name": "a",
      "args": ["C:\\tools/b", "[say \"hi\"]"]
    }
  ]
}
"#
        );
    }

    #[test]
    fn every_placeholder_has_a_path() {
        let paths = ["node", "npm", "python", "python-legacy", "scratch"];
        let paths = paths.iter().map(|name| (*name, PathBuf::from("there"))).collect();
        assert!(!render(&[NODE, PYTHON, GIT], &paths).contains("${"));
    }
}

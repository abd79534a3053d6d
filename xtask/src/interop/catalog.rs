//! The descriptions of the servers, with this machine's paths put in.
//!
//! They are JSON for whoever reads them; here they are only text with names between `${` and `}`.

use std::path::PathBuf;

/// Servers that need the same things from the machine.
#[derive(Clone, Copy)]
pub(super) struct Group(&'static str);

pub(super) const NODE: Group = Group(include_str!("node.json"));
pub(super) const PYTHON: Group = Group(include_str!("python.json"));
pub(super) const GIT: Group = Group(include_str!("git.json"));

/// What each name in a description stands for.
pub(super) type Places = Vec<(&'static str, PathBuf)>;

impl Group {
    /// Returns the names of its servers.
    pub(super) fn names(self) -> Vec<&'static str> {
        let after = self.0.split("\n      \"name\": \"").skip(1);
        after.filter_map(|rest| rest.split('"').next()).collect()
    }

    pub(super) fn needs(self, place: &str) -> bool {
        self.0.contains(&format!("${{{place}}}"))
    }

    /// Returns the servers without the braces around them.
    fn servers(self) -> &'static str {
        let start = self.0.find('[').map_or(0, |at| at + 1);
        let end = self.0.rfind(']').unwrap_or(self.0.len());
        self.0[start..end].trim_end()
    }
}

/// Writes one file that describes all servers of the groups.
pub(super) fn render(groups: &[Group], places: &Places) -> String {
    let servers: Vec<&str> = groups.iter().map(|group| group.servers()).collect();
    let mut text = format!("{{\n  \"servers\": [{}\n  ]\n}}\n", servers.join(","));
    for (name, path) in places {
        let path = path.display().to_string().replace('\\', r"\\").replace('"', r#"\""#);
        text = text.replace(&format!("${{{name}}}"), &path);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_is_known_by_its_name() {
        assert_eq!(NODE.names()[..2], ["everything-stdio", "everything-stdio-capable"]);
        assert_eq!(NODE.names().len(), 14);
        assert_eq!(PYTHON.names().len(), 8);
        assert_eq!(GIT.names(), ["git"]);
    }

    #[test]
    fn everything_is_tried_in_each_transport_with_each_set_of_capabilities() {
        let names = NODE.names();
        for transport in ["stdio", "http", "sse"] {
            for capabilities in ["", "-capable", "-tasks"] {
                let name = format!("everything-{transport}{capabilities}");
                assert!(names.contains(&name.as_str()), "{name}");
            }
        }
    }

    #[test]
    fn paths_are_put_in_as_json() {
        let group = Group(
            "{\n  \"servers\": [\n    {\n      \"name\": \"a\",\n      \"args\": [\"${x}/b\", \"[${y}]\"]\n    }\n  ]\n}\n",
        );
        let places = vec![("x", PathBuf::from(r"C:\tools")), ("y", PathBuf::from(r#"say "hi""#))];
        assert_eq!(
            render(&[group, group], &places),
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
    fn every_place_in_a_description_is_one_that_is_installed() {
        let places = ["node", "npm", "python", "python-legacy", "scratch"];
        let places = places.iter().map(|name| (*name, PathBuf::from("there"))).collect();
        assert!(!render(&[NODE, PYTHON, GIT], &places).contains("${"));
    }
}

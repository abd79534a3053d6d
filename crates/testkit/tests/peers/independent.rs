//! Our client at a server that is not ours.

use super::dock::{Dock, patient};
use super::tools_are_called;

everywhere!(crate::dock::RMCP, [tools_are_listed_without_a_complaint, tools_are_called]);

async fn tools_are_listed_without_a_complaint(dock: &mut Dock) {
    let tools = dock.peer.list_tools(&patient()).await.unwrap().items;
    let mut names: Vec<_> = tools.iter().map(|tool| tool.name().to_string()).collect();
    names.sort();
    assert_eq!(names, ["add", "echo"]);
    dock.peer.ping(&patient()).await.unwrap();
    assert_eq!(dock.peer.warnings(), []);
}

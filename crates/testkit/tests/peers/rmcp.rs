//! The client with a server built on `rmcp`.

use super::connection::{TestConnection, with_deadline};
use super::tools_are_called;

everywhere!(crate::connection::RMCP, [tools_are_listed_without_warnings, tools_are_called]);

async fn tools_are_listed_without_warnings(connection: &mut TestConnection) {
    let tools = connection.peer.list_tools(&with_deadline()).await.unwrap().items;
    let mut names: Vec<_> = tools.iter().map(|tool| tool.name().to_string()).collect();
    names.sort();
    assert_eq!(names, ["add", "echo"]);
    connection.peer.ping(&with_deadline()).await.unwrap();
    assert_eq!(connection.peer.violations(), []);
}

//! `wharf tools --search`: finds tools by words.

use insta::assert_snapshot;

use crate::test_servers::legacy_server_script;
use crate::world::World;

const FILES: &str = r#"{"name":"read_file","description":"Reads a text","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}},{"name":"listFolder","title":"List a folder","inputSchema":{"type":"object"}},{"name":"move","description":"Moves a file somewhere else","inputSchema":{"type":"object"}}"#;

const MAIL: &str = r#"{"name":"send","description":"Sends a letter","inputSchema":{"type":"object","properties":{"attached_file":{"type":"string"}}}}"#;

fn world() -> World {
    let server = |tools: &str| legacy_server_script("", r#"{"tools":{}}"#, tools, "");
    World::new()
        .script("files", &server(FILES))
        .script("mail", &server(MAIL))
        .own_servers(&[("disk", r#""command": "files""#), ("mail", r#""command": "mail""#)])
}

#[test]
fn words_are_found_in_names_titles_arguments_and_descriptions() {
    let world = world();
    assert_snapshot!(world.run("tools --search FILE"), @"
    exit 0
    --- stdout
    NAME                SERVER  DESCRIPTION
    mcp_disk_read_file  disk    Reads a text
    mcp_mail_send       mail    Sends a letter
    mcp_disk_move       disk    Moves a file somewhere else
    --- stderr
    3 tools from 2 servers.
    ");
    assert_snapshot!(world.run("tools --search file read"), @"
    exit 0
    --- stdout
    NAME                SERVER  DESCRIPTION
    mcp_disk_read_file  disk    Reads a text
    --- stderr
    1 tool from 1 server.
    ");
    assert_snapshot!(world.run_words(&["tools", "--search", "list folder"]), @"
    exit 0
    --- stdout
    NAME                 SERVER
    mcp_disk_listfolder  disk
    --- stderr
    1 tool from 1 server.
    ");
    assert_snapshot!(world.run("tools mail --search file"), @"
    exit 0
    --- stdout
    NAME           SERVER  DESCRIPTION
    mcp_mail_send  mail    Sends a letter
    --- stderr
    1 tool from 1 server.
    ");
    assert_snapshot!(world.run("tools --server disk --search mail"), @r#"
    exit 0
    --- stdout
    NAME  SERVER  DESCRIPTION
    --- stderr
    No tool matches "mail"; there are 3 tools.
    "#);
    assert_snapshot!(world.run("tools disk/move --search file"), @"
    exit 2
    --- stderr
    error: --search cannot be combined with the name of a tool
      hint: name a server, or leave the name out
    ");
    let output = world.run("tools --search letter --json");
    assert_eq!(output.matches("\"inputSchema\"").count(), 1, "{output}");
    assert!(output.contains("\"tool\": \"send\""), "{output}");
}

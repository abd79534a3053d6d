//! Servers that several tests use; their scripts are made by `server_script`.

use crate::server_script::{Era, ServerScript};
use crate::world::World;

pub(crate) use crate::server_script::legacy_server_script;

/// The tools of the server that most tests use.
const TOOLS: &str = r#"{"name":"echo","description":"Says it again.\nIn full.","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer"}},"required":["text"]},"annotations":{"readOnlyHint":true}},{"name":"fail","description":"Says no","inputSchema":{"type":"object"}},{"name":"picture","inputSchema":{"type":"object"}},{"name":"hang","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}"#;

/// How it answers calls of its tools.
const CALLS: &str = r#"
    *'"name":"echo"'*)
      text=${line#*'"text":"'}; text=${text%%'"'*}
      result '{"content":[{"type":"text","text":"you said '"$text"'\u001b[2J\nbye"}]}';;
    *'"name":"fail"'*) result '{"content":[{"type":"text","text":"no such file"}],"isError":true}';;
    *'"name":"picture"'*) result '{"content":[{"type":"text","text":"look:"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]}';;
    *'"name":"hang"'*) echo called >> "$0.seen";;
    *'"name":"die"'*) echo 'out of memory' >&2; exit 7;;
    *notifications/cancelled*) echo cancelled >> "$0.seen";;
"#;

/// Its resources and prompts.
const OTHER: &str = r#"
    *'"method":"resources/list"'*) result '{"resources":[{"uri":"note://a","name":"a","title":"Note A","mimeType":"text/plain","size":5},{"uri":"note://b","name":"b"}]}';;
    *'"method":"resources/templates/list"'*) result '{"resourceTemplates":[{"uriTemplate":"note://by-day/{day}","name":"by day","description":"One day"}]}';;
    *'"method":"resources/read"'*'"note://b"'*) result '{"contents":[{"uri":"note://b","mimeType":"image/png","blob":"aGVsbG8="}]}';;
    *'"method":"resources/read"'*) result '{"contents":[{"uri":"note://a","mimeType":"text/plain","text":"first\u001b[2J\nsecond\n"}]}';;
    *'"method":"prompts/list"'*) result '{"prompts":[{"name":"review","title":"Review","description":"Looks at a file","arguments":[{"name":"file","required":true},{"name":"style"}]}]}';;
    *'"method":"prompts/get"'*) result '{"description":"A review","messages":[{"role":"user","content":{"type":"text","text":"Look at main.rs\nplease"}},{"role":"assistant","content":{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}}]}';;
"#;

impl World {
    /// Installs a server with tools that succeed, fail, hang and crash.
    pub(crate) fn tool_server(self, name: &str) -> Self {
        self.script(name, &legacy_server_script("", r#"{"tools":{}}"#, TOOLS, CALLS))
    }

    /// Installs a server with resources and prompts.
    pub(crate) fn note_server(self, name: &str) -> Self {
        let capabilities = r#"{"resources":{},"prompts":{}}"#;
        self.script(name, &legacy_server_script("", capabilities, "", OTHER))
    }

    /// Installs a server with one tool, which runs `before` first.
    pub(crate) fn server_with_startup(self, name: &str, before: &str) -> Self {
        self.script(name, &ServerScript { before, ..ServerScript::PLAIN }.for_era(Era::Legacy))
    }

    /// Installs a server with one tool that never answers, which runs `before` first.
    pub(crate) fn server_that_hangs(self, name: &str, before: &str) -> Self {
        let cases = r#"*'"method":"tools/call"'*) echo called >> "$0.seen";;"#;
        self.script(
            name,
            &ServerScript { before, cases, ..ServerScript::PLAIN }.for_era(Era::Legacy),
        )
    }

    /// Installs a server that answers `tools/list` with a shell command.
    pub(crate) fn server_with_list_command(self, name: &str, list: &str) -> Self {
        self.script(name, &ServerScript { list, ..ServerScript::PLAIN }.for_era(Era::Legacy))
    }

    /// Defines servers of the user: names, and the content of their entries.
    pub(crate) fn own_servers(self, servers: &[(&str, &str)]) -> Self {
        let entries: Vec<String> =
            servers.iter().map(|(name, entry)| format!(r#""{name}": {{ {entry} }}"#)).collect();
        let file = format!(r#"{{ "mcpServers": {{ {} }} }}"#, entries.join(",\n"));
        self.home(".wharf/mcp.json", &file)
    }
}

/// A world with one server, `box`, that has tools.
pub(crate) fn world_with_box() -> World {
    World::new().tool_server("box").own_servers(&[("box", r#""command": "box""#)])
}

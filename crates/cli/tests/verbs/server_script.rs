//! The one MCP server that is a script for the shell. A test gives the messages that it answers in
//! its own way.
//!
//! The script has functions: `result JSON` answers the request that was just read, `refuse CODE
//! TEXT` answers it with an error, `send JSON` writes a message, and `note NAME` keeps what was
//! read, in a file beside the script.

/// Which revisions of the protocol a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Up to 2025-11-25: they begin with `initialize`.
    Legacy,
    /// 2026-07-28.
    Modern,
}

impl Era {
    pub(crate) const ALL: [Self; 2] = [Self::Legacy, Self::Modern];

    /// Returns the method of the first request that such a server answers.
    pub(crate) fn first_method(self) -> &'static str {
        match self {
            Self::Legacy => "initialize",
            Self::Modern => "server/discover",
        }
    }

    /// Returns the result of that request, as far as it is the same for all servers.
    fn version(self) -> &'static str {
        match self {
            Self::Legacy => r#""protocolVersion":"2025-11-25""#,
            Self::Modern => {
                r#""resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,"cacheScope":"private""#
            }
        }
    }
}

/// What a server of a test does.
#[derive(Clone, Copy)]
pub(crate) struct ServerScript<'a> {
    /// Runs before it reads anything.
    pub(crate) before: &'a str,
    /// Runs for each message.
    pub(crate) each: &'a str,
    pub(crate) capabilities: &'a str,
    /// The command that answers `tools/list`.
    pub(crate) list: &'a str,
    /// What it does with messages, as cases of the shell. They come before those that every server
    /// has.
    pub(crate) cases: &'a str,
}

impl ServerScript<'_> {
    /// Has one tool, `go`, which answers.
    pub(crate) const PLAIN: ServerScript<'static> = ServerScript {
        before: "",
        each: ":",
        capabilities: r#"{"tools":{}}"#,
        list: r#"result '{"tools":[{"name":"go","description":"Goes","inputSchema":{"type":"object"}}]}'"#,
        cases: r#"*'"method":"tools/call"'*) result '{"content":[{"type":"text","text":"gone"}]}';;"#,
    };

    /// Writes the server of an era.
    pub(crate) fn for_era(self, era: Era) -> String {
        let Self { before, each, capabilities, list, cases } = self;
        let (first, version) = (era.first_method(), era.version());
        format!(
            r#"
send() {{ printf '%s\n' "$1"; }}
result() {{ send '{{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}}'; }}
refuse() {{ send '{{"jsonrpc":"2.0","id":'"$id"',"error":{{"code":'"$1"',"message":"'"$2"'"}}}}'; }}
note() {{ printf '%s\n' "$line" >> "$0.$1"; }}
{before}
while IFS= read -r line; do
  {each}
  id=${{line#*'"id":'}}; id=${{id%%[,\}}]*}}
  case $line in
    {cases}
    *'"method":"{first}"'*) result '{{{version},"capabilities":{capabilities},"serverInfo":{{"name":"script","version":"1.2"}}}}';;
    *'"method":"tools/list"'*) {list};;
    *'"id":'*) refuse -32601 'unknown method';;
  esac
done
"#
        )
    }
}

/// Writes a server that greets, lists tools, and does what `cases` say.
pub(crate) fn legacy_server_script(
    before: &str,
    capabilities: &str,
    tools: &str,
    cases: &str,
) -> String {
    let list = format!(r#"result '{{"tools":[{tools}]}}'"#);
    ServerScript { before, capabilities, list: &list, cases, ..ServerScript::PLAIN }
        .for_era(Era::Legacy)
}

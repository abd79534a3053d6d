//! The MCP server of the tests, a shell script. A test adds cases for the messages that its server
//! handles in a special way.
//!
//! The script has functions: `result JSON` answers the current request, `refuse CODE TEXT` answers
//! it with an error, `send JSON` writes a message, and `note NAME` appends the current message to a
//! file beside the script.

/// Which revisions of the protocol a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revisions up to 2025-11-25, which begin with `initialize`.
    Legacy,
    /// The revision 2026-07-28, which begins with `server/discover`.
    Modern,
}

impl Era {
    pub(crate) const ALL: [Self; 2] = [Self::Legacy, Self::Modern];

    /// Returns the method of the first request.
    pub(crate) fn first_method(self) -> &'static str {
        match self {
            Self::Legacy => "initialize",
            Self::Modern => "server/discover",
        }
    }

    /// Returns the part of the first result that is the same for all servers.
    fn version(self) -> &'static str {
        match self {
            Self::Legacy => r#""protocolVersion":"2025-11-25""#,
            Self::Modern => {
                r#""resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":0,"cacheScope":"private""#
            }
        }
    }
}

/// The behavior of a test server, as parts of its script.
#[derive(Clone, Copy)]
pub(crate) struct ServerScript<'a> {
    /// Runs before the first message is read.
    pub(crate) before: &'a str,
    /// Runs for each message.
    pub(crate) each: &'a str,
    pub(crate) capabilities: &'a str,
    /// The command that answers `tools/list`.
    pub(crate) list: &'a str,
    /// Shell `case` branches for messages; they take precedence over those of every server.
    pub(crate) cases: &'a str,
}

impl ServerScript<'_> {
    /// A server with one tool, `go`.
    pub(crate) const PLAIN: ServerScript<'static> = ServerScript {
        before: "",
        each: ":",
        capabilities: r#"{"tools":{}}"#,
        list: r#"result '{"tools":[{"name":"go","description":"Goes","inputSchema":{"type":"object"}}]}'"#,
        cases: r#"*'"method":"tools/call"'*) result '{"content":[{"type":"text","text":"gone"}]}';;"#,
    };

    /// Renders the script of a server of this era.
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

/// Renders the script of a legacy server with these tools, and with `cases` for messages.
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

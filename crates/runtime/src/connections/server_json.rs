//! Serializes the state of a server: what a listing shows, without its definition and its secrets.

use std::time::Duration;

use serde::{Serialize, Serializer};
use wharf_config::{Problem, Source, TransportKind};
use wharf_protocol::Json;
use wharf_protocol::era::Era;

use super::snapshot::{ConnectionInfo, ServerSnapshot};
use crate::status::{ServerFailure, Status};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerJson<'a> {
    name: &'a str,
    status: Status,
    tools: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a ServerFailure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<TransportKind>,
    required: bool,
    source: &'a Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<&'a ConnectionInfo>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Problem>,
}

impl Serialize for ServerSnapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = ServerJson {
            name: self.name.as_str(),
            status: self.status,
            tools: self.tools(),
            cut: self.cut.map(|cut| cut.to_string()),
            error: self.connection_problem(),
            failure: self.failure.as_deref(),
            transport: self.transport,
            required: self.is_required,
            source: &self.source,
            connection: self.info.as_deref(),
            problems: self.problems(),
        };
        json.serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConnectionJson<'a> {
    server: ServerInfoJson<'a>,
    transport: &'static str,
    protocol_version: &'static str,
    era: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    capabilities: &'a Json,
    connect_ms: u64,
    list_ms: u64,
}

#[derive(Serialize)]
struct ServerInfoJson<'a> {
    name: &'a str,
    version: &'a str,
}

impl Serialize for ConnectionInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let json = ConnectionJson {
            server: ServerInfoJson { name: &self.name, version: &self.version },
            transport: self.transport,
            protocol_version: self.revision.as_str(),
            era: match self.era() {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            },
            instructions: self.instructions.as_deref(),
            capabilities: self.capabilities.raw(),
            connect_ms: milliseconds(self.connect_time),
            list_ms: milliseconds(self.list_time),
        };
        json.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use wharf_config::{Level, ServerName};
    use wharf_protocol::era::Revision;
    use wharf_protocol::view::ServerCapabilities;

    use super::*;
    use crate::resolve::Secrets;
    use crate::status::FailureKind;

    #[test]
    fn a_server_has_the_names_of_a_listing() {
        let failure = ServerFailure::new(FailureKind::Start, "npx not found");
        let server = ServerSnapshot {
            name: ServerName::new("fs"),
            source: Arc::new(Source {
                provider: "claude",
                provider_name: "Claude Code",
                level: Level::User,
                path: PathBuf::from("mcp.json"),
                also_read_by: &[],
            }),
            transport: Some(TransportKind::Stdio),
            status: Status::Failed,
            failure: Some(Arc::new(failure)),
            info: None,
            is_required: false,
            cut: None,
            definition_problems: Arc::new([]),
            omissions: Arc::new([]),
            trusted: None,
            peer: None,
            span_id: None,
            server_tools: None,
            secrets: Arc::new(Secrets::default()),
        };
        insta::assert_snapshot!(serde_json::to_string(&server).unwrap(), @r#"{"name":"fs","status":"failed","tools":0,"error":"npx not found","failure":{"kind":"start","message":"npx not found"},"transport":"stdio","required":false,"source":{"provider":"claude","providerName":"Claude Code","level":"user","path":"mcp.json"}}"#);
    }

    #[test]
    fn a_connection_has_the_names_of_the_specification() {
        let info = ConnectionInfo {
            name: "files".to_owned(),
            version: "1.0".to_owned(),
            revision: Revision::V2025_11_25,
            transport: "stdio",
            instructions: None,
            capabilities: ServerCapabilities::read(r#"{"tools":{}}"#.parse().unwrap()),
            connect_time: Duration::from_millis(12),
            list_time: Duration::ZERO,
        };
        insta::assert_snapshot!(serde_json::to_string(&info).unwrap(), @r#"{"server":{"name":"files","version":"1.0"},"transport":"stdio","protocolVersion":"2025-11-25","era":"legacy","capabilities":{"tools":{}},"connectMs":12,"listMs":0}"#);
    }
}

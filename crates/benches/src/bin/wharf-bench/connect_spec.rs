//! Connects to the benchmarked server over stdio or HTTP, as any host would.

use std::sync::Arc;
use std::time::Duration;

use wharf_benches::BenchTarget;
use wharf_protocol::peer::{NoHandler, RequestOptions};
use wharf_protocol::transport::process::ProcessLaunch;
use wharf_protocol::transport::{FixedHeaders, HttpClient, HttpClientOptions};
use wharf_protocol::view::send::ClientInfo;
use wharf_protocol::{
    ConnectOptions, HttpSpec, HttpTransport, Peer, StdioSpec, connect_http, connect_stdio,
};

use crate::Failure;

/// How to connect to a server; one value is used for all connections.
pub(crate) enum ConnectSpec {
    Stdio(StdioSpec),
    Http(HttpSpec),
}

impl ConnectSpec {
    pub(crate) fn new(target: &BenchTarget) -> Result<Self, Failure> {
        match target {
            BenchTarget::Command(words) => Ok(Self::Stdio(StdioSpec::new(ProcessLaunch {
                arguments: words[1..].iter().map(Into::into).collect(),
                environment: std::env::vars_os().collect(),
                ..ProcessLaunch::new(&words[0])
            }))),
            BenchTarget::Http { host, path } => Ok(Self::Http(HttpSpec {
                target: format!("http://{host}{path}").parse()?,
                client: HttpClient::new(&HttpClientOptions::default()),
                authorizer: Arc::new(FixedHeaders::default()),
                http_transport: HttpTransport::Auto,
            })),
        }
    }

    pub(crate) async fn connect(&self) -> Result<Peer, Failure> {
        let client = ClientInfo::new("wharf-bench", env!("CARGO_PKG_VERSION"));
        let options = ConnectOptions::new(client);
        let handler = Arc::new(NoHandler);
        match self {
            Self::Stdio(spec) => Ok(connect_stdio(spec, &options, handler).await?),
            Self::Http(spec) => Ok(connect_http(spec, &options, handler).await?),
        }
    }
}

pub(crate) fn request_options() -> RequestOptions {
    RequestOptions::within(Duration::from_secs(30))
}

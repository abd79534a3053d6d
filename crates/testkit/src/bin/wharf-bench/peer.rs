//! Makes connections as any host would, with nothing special for the bench.

use std::sync::Arc;
use std::time::Duration;

use wharf_protocol::peer::{NoHandler, RequestOptions};
use wharf_protocol::transport::process::Launch;
use wharf_protocol::transport::{FixedHeaders, HttpClient, HttpOptions};
use wharf_protocol::view::send::ClientInfo;
use wharf_protocol::{
    ConnectOptions, HttpFlavor, HttpSpec, Peer, StdioSpec, connect_http, connect_stdio,
};
use wharf_testkit::driver::Target;

use crate::Failure;

pub(crate) async fn connect(target: &Target) -> Result<Peer, Failure> {
    let client = ClientInfo::new("wharf-bench", env!("CARGO_PKG_VERSION"));
    let options = ConnectOptions::new(client);
    let handler = Arc::new(NoHandler);
    match target {
        Target::Command(words) => {
            let launch = Launch {
                arguments: words[1..].iter().map(Into::into).collect(),
                environment: std::env::vars_os().collect(),
                ..Launch::new(&words[0])
            };
            Ok(connect_stdio(&StdioSpec::new(launch), &options, handler).await?)
        }
        Target::Http { host, path } => {
            let spec = HttpSpec {
                target: format!("http://{host}{path}").parse()?,
                client: HttpClient::new(&HttpOptions::default()),
                authorizer: Arc::new(FixedHeaders::default()),
                flavor: HttpFlavor::Any,
            };
            Ok(connect_http(&spec, &options, handler).await?)
        }
    }
}

pub(crate) fn patience() -> RequestOptions {
    RequestOptions::within(Duration::from_secs(30))
}

//! The options of HTTP clients: proxies and additional certificate authorities from the
//! environment.

use wharf_config::Env;
use wharf_protocol::transport::{HttpClientOptions, Proxies};

/// Returns the options of an HTTP client in this environment.
pub(crate) fn http_options(env: &Env) -> HttpClientOptions {
    // An empty variable switches a proxy off, so it is not the same as none.
    let lookup = |name: &str| env.variable(name).map(str::to_owned);
    let roots = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"];
    // A relative path would let the project of the working folder name an authority.
    let roots = roots.into_iter().filter_map(|name| env.folder_variable(name));
    HttpClientOptions {
        proxies: Proxies::from_variables(lookup),
        extra_roots: roots.collect(),
        // How long an answer may take is for each request to say.
        header_timeout: None,
        ..HttpClientOptions::default()
    }
}

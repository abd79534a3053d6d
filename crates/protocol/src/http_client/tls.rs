//! TLS with the root certificates of the system and those of the caller.
//!
//! Reading the root certificates takes milliseconds, so they are read once, for the first secure
//! connection, on a thread for blocking tasks.

use std::error::Error;
use std::future::{Ready, ready};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::Connection;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::sync::OnceCell;
use tower_service::Service;

use super::connector::ByteStream;
use super::error::{BoxError, find};
use super::tasks::ClientTasks;

/// The TLS settings of one client, created on first use.
pub(super) struct Tls {
    extra_roots: Vec<PathBuf>,
    settings: OnceCell<TlsConfigs>,
}

#[derive(Clone)]
struct TlsConfigs {
    /// For servers: HTTP/2 and HTTP/1.1.
    server: Arc<ClientConfig>,
    /// For proxies: only HTTP/1.1, for the `CONNECT` request.
    proxy: Arc<ClientConfig>,
}

/// The other side of a TLS connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsPeer {
    Server,
    Proxy,
}

impl Tls {
    pub(super) fn new(extra_roots: Vec<PathBuf>) -> Self {
        Self { extra_roots, settings: OnceCell::new() }
    }

    /// Sets up TLS on a connection; also returns whether HTTP/2 was negotiated.
    pub(super) async fn wrap(
        &self,
        stream: ByteStream,
        name: &Uri,
        side: TlsPeer,
        tasks: &ClientTasks,
    ) -> Result<(ByteStream, bool), BoxError> {
        let settings = self.settings.get_or_try_init(|| self.load(tasks)).await?;
        let settings = match side {
            TlsPeer::Server => &settings.server,
            TlsPeer::Proxy => &settings.proxy,
        };
        let mut connector = HttpsConnector::from((ReadyStream(Some(stream)), settings.clone()));
        let secured = connector.call(name.clone()).await?;
        let is_http2 = secured.connected().is_negotiated_h2();
        Ok((ByteStream::new(secured), is_http2))
    }

    async fn load(&self, tasks: &ClientTasks) -> Result<TlsConfigs, BoxError> {
        let extra_roots = self.extra_roots.clone();
        match tasks.block(move || settings(roots(&extra_roots))).await {
            Some(settings) => Ok(settings?),
            None => Err("the client was closed".into()),
        }
    }
}

/// Reads the root certificates of the system and those in some files.
fn roots(extra: &[PathBuf]) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    add_system(&mut roots);
    for file in extra {
        add_file(&mut roots, file);
    }
    roots
}

/// Adds the root certificates of the system.
///
/// `rustls_native_certs::load_native_certs` reads `SSL_CERT_FILE` from the environment of the
/// process and, if it is set, uses that file *instead* of the system's. So the paths are listed
/// here.
#[cfg(all(unix, not(target_os = "macos")))]
fn add_system(roots: &mut RootCertStore) {
    const FILES: [&str; 6] = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
    ];
    if let Some(bundle) = FILES.iter().map(Path::new).find(|file| file.exists()) {
        add_file(roots, bundle);
    } else {
        let folder = Path::new("/etc/ssl/certs");
        let found = rustls_native_certs::load_certs_from_paths(None, Some(folder));
        roots.add_parsable_certificates(found.certs);
    }
}

/// Adds the root certificates of the system.
///
/// On these systems they are not in files. If `SSL_CERT_FILE` is set in the environment of the
/// process, only that file is read; macOS also has its root certificates in a file, which is added
/// for that case.
#[cfg(not(all(unix, not(target_os = "macos"))))]
fn add_system(roots: &mut RootCertStore) {
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let file = Path::new("/etc/ssl/cert.pem");
    if cfg!(target_os = "macos") && file.exists() {
        add_file(roots, file);
    }
}

fn add_file(roots: &mut RootCertStore, file: &Path) {
    let found = rustls_native_certs::load_certs_from_paths(Some(file), None);
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        tracing::warn!(file = %file.display(), "no certificates could be read");
    }
}

fn settings(roots: RootCertStore) -> Result<TlsConfigs, rustls::Error> {
    // Explicit, so that the process-wide default provider is neither needed nor changed.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut proxy = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut server = proxy.clone();
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    proxy.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConfigs { server: Arc::new(server), proxy: Arc::new(proxy) })
}

/// Returns what a person can do about a failed handshake.
pub(super) fn hint(source: &(dyn Error + 'static)) -> &'static str {
    let problem = match find(source) {
        Some(rustls::Error::InvalidCertificate(problem)) => problem,
        Some(rustls::Error::InvalidMessage(_)) => {
            return "the server does not speak TLS there; check the port, and whether the address \
                    should begin with http://";
        }
        _ => return "check the host and the port in the address",
    };
    match problem {
        CertificateError::UnknownIssuer => {
            "if the certificate comes from your own authority, put that authority's certificate \
             into a file and name it in `SSL_CERT_FILE`"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired, or the clock of this machine is wrong"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the certificate belongs to another name; check the host in the address"
        }
        _ => "the server's certificate is invalid; report it to the operator of the server",
    }
}

/// A connector that returns an existing connection.
struct ReadyStream(Option<ByteStream>);

impl Service<Uri> for ReadyStream {
    type Response = ByteStream;
    type Error = io::Error;
    type Future = Ready<io::Result<ByteStream>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_authorities_are_added_to_those_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("authority.pem");
        let authority = rcgen::generate_simple_self_signed(["authority".to_owned()]).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a file in a folder of the test")]
        std::fs::write(&file, authority.cert.pem()).unwrap();
        let system = roots(&[]).len();
        assert_eq!(roots(&[file, folder.path().join("missing.pem")]).len(), system + 1);
    }
}

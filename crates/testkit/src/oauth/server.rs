//! The handle of the servers: three listeners on loopback, on a thread of their own.
//!
//! The third listener is somebody else, who must not get credentials. Every request is logged
//! before it is answered.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::oneshot;
use wharf_protocol::serve::{HttpServerOptions, McpServer};

use super::misbehavior::{Misbehavior, OAuthEndpoint, answer};
use super::options::OAuthServerOptions;
use super::request::{OAuthParty, OAuthRequest};
use super::state::OAuthState;
use super::token::OAuthRefusal;
use super::{authorize, device, metadata, protected_endpoint, registration, token};
use crate::server::SampleService;

/// The largest body that is read.
const MAX_BODY: usize = 1 << 20;

/// An authorization server and the MCP server that it protects; they stop when this is dropped.
#[derive(Debug)]
pub struct OAuthServer {
    shared: Arc<OAuthShared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What all requests share.
pub(super) struct OAuthShared {
    pub(super) options: OAuthServerOptions,
    pub(super) addresses: OAuthAddresses,
    pub(super) router: Router,
    state: Mutex<OAuthState>,
    log: Mutex<Vec<OAuthRequest>>,
    /// What endpoints do instead of their duty, and how often; without a number, always.
    misbehaviors: Mutex<HashMap<OAuthEndpoint, (Misbehavior, Option<usize>)>>,
}

/// The ports of the three servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct OAuthAddresses {
    resource: u16,
    server: u16,
    other: u16,
}

impl OAuthServer {
    /// Starts the servers on free ports of the loopback address.
    pub fn start(options: OAuthServerOptions) -> io::Result<Self> {
        let listeners = [listen()?, listen()?, listen()?];
        let port = |listener: &TcpListener| Ok::<_, io::Error>(listener.local_addr()?.port());
        let addresses = OAuthAddresses {
            resource: port(&listeners[0])?,
            server: port(&listeners[1])?,
            other: port(&listeners[2])?,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let router = McpServer::new(SampleService::default()).router(HttpServerOptions::default());
        let shared = Arc::new(OAuthShared {
            state: Mutex::new(OAuthState::new(options.clone(), addresses.server)),
            options,
            addresses,
            router,
            log: Mutex::default(),
            misbehaviors: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let serving = serve(Arc::clone(&shared), listeners);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // A test notices that nobody answers.
                    _ = serving => {}
                    _ = stopped => {}
                }
            });
        });
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns the URL of the MCP server.
    pub fn url(&self) -> String {
        self.shared.addresses.resource()
    }

    /// Returns the issuer identifier of the authorization server.
    pub fn issuer(&self) -> String {
        self.shared.addresses.issuer(&self.shared.options)
    }

    /// Returns the origin of somebody else, who must not get credentials.
    pub fn other_origin(&self) -> String {
        origin(self.shared.addresses.other)
    }

    /// Makes an endpoint misbehave from now on.
    pub fn misbehave(&self, endpoint: OAuthEndpoint, misbehavior: Misbehavior) {
        self.shared.misbehaviors().insert(endpoint, (misbehavior, None));
    }

    /// Makes an endpoint misbehave at its next requests.
    pub fn misbehave_times(&self, endpoint: OAuthEndpoint, times: usize, how: Misbehavior) {
        self.shared.misbehaviors().insert(endpoint, (how, Some(times)));
    }

    /// Makes all endpoints do their duty again.
    pub fn behave(&self) {
        self.shared.misbehaviors().clear();
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<OAuthRequest> {
        lock(&self.shared.log).clone()
    }

    /// Returns how many token requests had this grant type.
    pub fn token_requests(&self, grant_type: &str) -> usize {
        let log = lock(&self.shared.log);
        log.iter().filter(|request| request.field("grant_type") == grant_type).count()
    }

    /// Returns how many requests had this path, such as `/register`.
    pub fn requests_to(&self, path: &str) -> usize {
        lock(&self.shared.log).iter().filter(|request| request.path == path).count()
    }

    /// Returns every secret that was issued or received, for tests that look for leaks.
    pub fn secrets(&self) -> Vec<String> {
        self.shared.state().secrets()
    }

    /// Makes all access tokens invalid; refresh tokens stay valid.
    pub fn expire_access_tokens(&self) {
        self.shared.state().expire_access_tokens();
    }

    /// Changes the lifetime of tokens that are issued from now on.
    pub fn set_access_token_lifetime(&self, lifetime: Duration) {
        self.shared.state().set_access_token_lifetime(lifetime);
    }

    /// Revokes all grants, as a person does in the settings of a service.
    pub fn revoke_all(&self) {
        self.shared.state().revoke_all();
    }

    /// Forgets all clients.
    pub fn forget_clients(&self) {
        self.shared.state().clients.clear();
    }

    /// Returns how many grants are valid.
    pub fn active_grants(&self) -> usize {
        self.shared.state().active_grants()
    }

    /// Returns tokens for a new grant, without a sign-in, as a token response.
    pub fn issue_tokens(&self, client_id: &str, scope: &str) -> Value {
        let resource = self.url();
        let mut state = self.shared.state();
        if state.client(client_id).is_none() {
            state.clients.push(super::RegisteredClient::public(client_id));
        }
        let grant = super::state::IssuedGrant {
            client_id: client_id.to_owned(),
            scope: scope.to_owned(),
            resource,
            is_revoked: false,
        };
        state.start_grant(grant, true)
    }
}

impl Drop for OAuthServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended by itself.
            let _ignored = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ignored = thread.join();
        }
    }
}

impl OAuthShared {
    pub(super) fn state(&self) -> MutexGuard<'_, OAuthState> {
        lock(&self.state)
    }

    fn misbehaviors(&self) -> MutexGuard<'_, HashMap<OAuthEndpoint, (Misbehavior, Option<usize>)>> {
        lock(&self.misbehaviors)
    }

    /// Returns what an endpoint does instead of its duty this time.
    fn misbehavior(&self, endpoint: OAuthEndpoint) -> Option<Misbehavior> {
        let mut misbehaviors = self.misbehaviors();
        let (misbehavior, times) = misbehaviors.get_mut(&endpoint)?;
        match times {
            None => {}
            Some(0) => return None,
            Some(left) => *left -= 1,
        }
        Some(misbehavior.clone())
    }

    fn record(&self, request: &OAuthRequest) {
        let mut state = self.state();
        request.secrets().for_each(|secret| state.add_secret(secret));
        lock(&self.log).push(request.clone());
    }

    /// Returns the endpoint at a path.
    fn endpoint(&self, party: OAuthParty, path: &str) -> Option<OAuthEndpoint> {
        let options = &self.options;
        let is_resource = party == OAuthParty::Resource;
        match path {
            "/mcp" if is_resource => Some(OAuthEndpoint::Mcp),
            "/.well-known/oauth-protected-resource/mcp"
                if is_resource && options.has_resource_metadata =>
            {
                Some(OAuthEndpoint::ResourceMetadata)
            }
            // Somebody else, or a resource that has an authorization server elsewhere.
            _ if party == OAuthParty::OtherOrigin
                || is_resource && options.has_resource_metadata =>
            {
                None
            }
            "/authorize" => Some(OAuthEndpoint::Authorize),
            "/token" => Some(OAuthEndpoint::Token),
            "/register" => Some(OAuthEndpoint::Register),
            "/device" => Some(OAuthEndpoint::Device),
            "/revoke" => Some(OAuthEndpoint::Revoke),
            path => {
                metadata::is_server_metadata(path, options).then_some(OAuthEndpoint::ServerMetadata)
            }
        }
    }
}

impl std::fmt::Debug for OAuthShared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("OAuthShared")
            .field("addresses", &self.addresses)
            .finish_non_exhaustive()
    }
}

impl OAuthAddresses {
    /// Returns the resource identifier.
    pub(super) fn resource(self) -> String {
        format!("{}/mcp", origin(self.resource))
    }

    /// Returns the address of the metadata of the resource.
    pub(super) fn resource_metadata(self) -> String {
        format!("{}/.well-known/oauth-protected-resource/mcp", origin(self.resource))
    }

    /// Returns the origin of the authorization server. A resource that does not name one is its own.
    pub(super) fn server_origin(self, options: &OAuthServerOptions) -> String {
        origin(if options.has_resource_metadata { self.server } else { self.resource })
    }

    /// Returns the issuer identifier.
    pub(super) fn issuer(self, options: &OAuthServerOptions) -> String {
        format!("{}{}", self.server_origin(options), options.issuer_path)
    }
}

fn origin(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(shared: Arc<OAuthShared>, listeners: [TcpListener; 3]) -> io::Result<()> {
    let [resource, server, other] = listeners;
    let one = |listener: TcpListener, party| {
        let state = (Arc::clone(&shared), party);
        async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            axum::serve(listener, Router::new().fallback(handle).with_state(state)).await
        }
    };
    tokio::try_join!(
        one(resource, OAuthParty::Resource),
        one(server, OAuthParty::AuthorizationServer),
        one(other, OAuthParty::OtherOrigin),
    )
    .map(drop)
}

async fn handle(
    State((shared, party)): State<(Arc<OAuthShared>, OAuthParty)>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY).await else {
        return answer(413, "text/plain", Body::empty());
    };
    let request = OAuthRequest::new(party, &head, String::from_utf8_lossy(&body).into_owned());
    shared.record(&request);
    let Some(endpoint) = shared.endpoint(party, &request.path) else {
        return answer(404, "text/plain", Body::from("not found"));
    };
    let misbehavior = shared.misbehavior(endpoint);
    if let Some(misbehavior) = &misbehavior
        && let Some(response) = misbehavior.response(&head.uri.to_string()).await
    {
        return response;
    }
    let misbehavior = misbehavior.as_ref();
    let outcome = match endpoint {
        OAuthEndpoint::Mcp => {
            return protected_endpoint::serve(&shared, head, &request, misbehavior).await;
        }
        OAuthEndpoint::Authorize => return authorize::authorize(&shared, &request, misbehavior),
        OAuthEndpoint::ResourceMetadata => {
            Ok(metadata::resource(shared.addresses, &shared.options))
        }
        OAuthEndpoint::ServerMetadata => Ok(metadata::server(shared.addresses, &shared.options)),
        OAuthEndpoint::Token => token::token(&shared, &request),
        OAuthEndpoint::Register => registration::register(&shared, &request),
        OAuthEndpoint::Device => device::start(&shared, &request),
        OAuthEndpoint::Revoke => token::revoke(&shared, &request),
    };
    json_answer(outcome, endpoint, misbehavior)
}

/// Returns the response with a JSON document or an OAuth error.
fn json_answer(
    outcome: Result<Value, OAuthRefusal>,
    endpoint: OAuthEndpoint,
    misbehavior: Option<&Misbehavior>,
) -> Response {
    let (status, mut json) = match outcome {
        Ok(json) if endpoint == OAuthEndpoint::Register => (201, json),
        Ok(json) => (200, json),
        Err((status, error)) => (status, serde_json::json!({ "error": error })),
    };
    if let Some(misbehavior) = misbehavior {
        misbehavior.change(&mut json);
    }
    answer(status, "application/json", Body::from(json.to_string()))
}

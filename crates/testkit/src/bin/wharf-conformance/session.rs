//! One session with a server: lists everything that it declares, and makes the calls of the plan.

use std::sync::Arc;
use std::time::Duration;

use wharf::MemoryCredentials;
use wharf::auth::{OAuthAuthorizer, OAuthSettings, SignInOptions};
use wharf_protocol::peer::RequestOptions;
use wharf_protocol::transport::{HttpClient, HttpClientOptions};
use wharf_protocol::view::send::ClientInfo;
use wharf_protocol::view::{Prompt, SkillFiles, ToolDefinition, skill};
use wharf_protocol::{ConnectOptions, HttpSpec, HttpTransport, Peer, connect_http};

use crate::AnyError;
use crate::client_handler::{ConformanceHandler, capabilities};
use crate::plan::{PlannedCall, ScenarioPlan};
use crate::sign_in_host;

/// The timeout of one request; the longest scenario takes half a second.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn run(url: &str, mut plan: ScenarioPlan) -> Result<(), AnyError> {
    let peer = connect(url, plan.oauth.take()).await?;
    let session =
        ConformanceSession { peer: &peer, options: RequestOptions::within(REQUEST_TIMEOUT) };
    let outcome = session.run(plan).await;
    peer.close().await;
    for violation in peer.violations() {
        eprintln!("violation: {violation}");
    }
    outcome
}

async fn connect(url: &str, oauth: Option<OAuthSettings>) -> Result<Peer, AnyError> {
    let client = HttpClient::new(&HttpClientOptions::default());
    let store = Arc::new(MemoryCredentials::new());
    let authorizer = OAuthAuthorizer::new(url, oauth.unwrap_or_default(), client.clone(), store)?
        .with_host(sign_in_host::host(client.clone()), SignInOptions::default());
    let spec = HttpSpec {
        target: url.parse()?,
        client,
        authorizer: Arc::new(authorizer),
        http_transport: HttpTransport::Auto,
    };
    let client = ClientInfo::new("wharf-conformance", env!("CARGO_PKG_VERSION"));
    let options = ConnectOptions { capabilities: capabilities(), ..ConnectOptions::new(client) };
    let peer = connect_http(&spec, &options, Arc::new(ConformanceHandler)).await?;
    let result = peer.profile().raw.as_str();
    eprintln!("connected over {} with {}: {result}", peer.transport(), peer.revision());
    Ok(peer)
}

struct ConformanceSession<'a> {
    peer: &'a Peer,
    options: RequestOptions,
}

impl ConformanceSession<'_> {
    async fn run(&self, plan: ScenarioPlan) -> Result<(), AnyError> {
        let declared = &self.peer.profile().capabilities;
        let has_skills = declared.extension(skill::EXTENSION).is_some();
        let loads_skills = plan.loads_skills;
        let tools = if declared.tools().is_some() { self.tools().await? } else { Vec::new() };
        // The resources of a server with skills are their files, which must not be prefetched.
        if declared.resources().is_some() && !has_skills {
            self.resources().await?;
        }
        if declared.prompts().is_some() {
            self.prompts().await?;
        }
        for call in plan.calls(&tools)? {
            self.call(&call).await?;
        }
        if has_skills {
            self.skills(loads_skills).await?;
        }
        Ok(())
    }

    async fn tools(&self) -> Result<Vec<ToolDefinition>, AnyError> {
        let listing = self.peer.list_tools(&self.options).await?;
        for rejected in &listing.rejected {
            eprintln!("rejected a tool: {}", rejected.why);
        }
        eprintln!("listed {} tools", listing.items.len());
        Ok(listing.items)
    }

    async fn resources(&self) -> Result<(), AnyError> {
        let resources = self.peer.list_resources(&self.options).await?.items;
        eprintln!("listed {} resources", resources.len());
        for resource in resources {
            self.peer.read_resource(resource.uri(), &self.options).await?;
            eprintln!("read {}", resource.uri());
        }
        Ok(())
    }

    async fn prompts(&self) -> Result<(), AnyError> {
        let prompts = self.peer.list_prompts(&self.options).await?.items;
        eprintln!("listed {} prompts", prompts.len());
        for prompt in prompts {
            self.peer
                .get_prompt(prompt.name(), &required_arguments(&prompt), &self.options)
                .await?;
            eprintln!("fetched prompt {}", prompt.name());
        }
        Ok(())
    }

    async fn call(&self, call: &PlannedCall) -> Result<(), AnyError> {
        let arguments = call.arguments()?;
        eprintln!("calling {} {}", call.name, arguments.as_json().as_str());
        let result = self.peer.call_tool(&call.name, Some(&arguments), &self.options).await?;
        eprintln!("called {}: {}", call.name, result.raw().as_str());
        Ok(())
    }

    async fn skills(&self, loads_them: bool) -> Result<(), AnyError> {
        let skills = self.peer.list_skills(&self.options).await?.items;
        eprintln!("listed {} skills", skills.len());
        for skill in skills.iter().filter(|_| loads_them) {
            let loaded = self.peer.load_skill(skill, &self.options).await?;
            eprintln!("loaded {}", skill.uri());
            let SkillFiles::Listed(files) = skill.files() else { continue };
            for file in files.iter().filter(|file| file.uri != *skill.uri()) {
                self.peer.read_skill_file(&loaded, &file.uri, &self.options).await?;
                eprintln!("read {}", file.uri);
            }
        }
        Ok(())
    }
}

fn required_arguments(prompt: &Prompt) -> Vec<(String, String)> {
    let required = prompt.arguments().into_iter().filter(|argument| argument.is_required);
    required.map(|argument| (argument.name.to_string(), "x".to_owned())).collect()
}

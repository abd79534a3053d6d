//! Tests of servers from code: their texts are literal, and the program says where they run.

use std::sync::Arc;

use insta::assert_snapshot;
use wharf_config::{Catalog, CustomTransport, Http, ServerEntry, Stdio};

use super::World;
use super::world::{http_of, launch_of, sent, show, variable};
use crate::resolve::error::ResolveError;
use crate::resolve::resolver::ResolvedServer;
use crate::trust_gate::{GateDecision, TrustedServer, plan};

fn trusted(world: &World, name: &str, entry: impl Into<ServerEntry>) -> Arc<TrustedServer> {
    let mut catalog = Catalog::new(&world.env);
    catalog.insert(name, entry);
    let planned = plan(&catalog, &world.env).remove(0);
    let GateDecision::Allowed(trusted) = planned.decision else { panic!("not ready: {planned:?}") };
    trusted
}

async fn resolve(
    world: &World,
    entry: impl Into<ServerEntry>,
) -> Result<ResolvedServer, ResolveError> {
    world.resolver().resolve(&trusted(world, "a", entry)).await
}

fn messages(resolved: &ResolvedServer) -> Vec<String> {
    resolved
        .omissions
        .iter()
        .map(|problem| {
            assert_eq!((&problem.path, problem.line), (&None, None));
            problem.message.clone()
        })
        .collect()
}

#[tokio::test]
async fn nothing_is_looked_up_or_run() {
    let world = World::new().with_variable("X", "expanded");
    for text in ["X", "!echo expanded", "${X}", "$X", "~"] {
        let entry = Stdio::new("server").arg(text).env("KEY", text);
        let launch = launch_of(resolve(&world, entry).await.unwrap());
        assert_eq!(launch.arguments, [text]);
        assert_eq!(variable(&launch, "KEY").as_deref(), Some(text));

        let entry = Http::new("https://a.example/mcp").header("X-Key", text);
        let (_, authorizer) = http_of(resolve(&world, entry).await.unwrap());
        assert_eq!(show(&sent(&*authorizer).await), [format!("x-key: {text}")]);
    }
}

#[tokio::test]
async fn the_program_says_in_which_folder_a_server_runs() {
    let world = World::new();
    for folder in ["project/sub", "project/~"] {
        std::fs::create_dir_all(world.root.join(folder)).unwrap();
    }
    let run = async |entry: Stdio| {
        let launch = launch_of(resolve(&world, entry).await.unwrap());
        world.short(&launch.folder.unwrap())
    };
    let absolute = world.root.join("home");
    // The folder is not trusted, but the program decides.
    assert_eq!(run(Stdio::new("server")).await, "project");
    assert_eq!(run(Stdio::new("server").cwd("sub")).await, "project/sub");
    assert_eq!(run(Stdio::new("server").cwd("~")).await, "project/~");
    assert_eq!(run(Stdio::new("server").cwd(absolute)).await, "home");
}

#[tokio::test]
async fn a_command_from_code_is_a_name_or_a_path_without_a_home_folder() {
    let world = World::new();
    std::fs::create_dir_all(world.root.join("project/~")).unwrap();
    let run = async |command: &str| match resolve(&world, Stdio::new(command)).await {
        Ok(resolved) => world.short(std::path::Path::new(&launch_of(resolved).program)),
        Err(error) => error.to_string(),
    };
    world.program("home/tool");
    assert_eq!(run("~/tool").await, "~/tool not found");
    world.program("project/~/tool");
    assert_eq!(run("~/tool").await, "project/~/tool");
    world.program("project/tool");
    assert_eq!(run("tool").await, "tool not found");
    assert_eq!(run("./tool").await, "project/./tool");
    assert_eq!(run("server").await, "bin/server");
}

#[tokio::test]
async fn a_server_from_code_never_gets_the_token_of_the_person() {
    let world = World::new().with_variable("GITHUB_TOKEN", "theirs");
    let server = trusted(&world, "github", Stdio::new("server"));
    let launch = launch_of(world.resolver().resolve(&server).await.unwrap());
    assert_eq!(variable(&launch, "GITHUB_PERSONAL_ACCESS_TOKEN"), None);
}

#[tokio::test]
async fn a_text_that_cannot_be_sent_is_a_problem_of_the_server() {
    let world = World::new();
    let stdio = || Stdio::new("server").env("A=B", "x").env("C", "y\0z");
    let http = || Http::new("https://a.example").header("X Y", "1").header("Z", "1\n2");
    assert_snapshot!(messages(&resolve(&world, stdio()).await.unwrap()).join("\n"), @r#"
    env "A=B" left out: not a valid variable name
    env "C" left out: its value has a zero byte
    "#);
    assert_snapshot!(messages(&resolve(&world, http()).await.unwrap()).join("\n"), @r#"
    header "X Y" left out: not a valid header name
    header "Z" left out: its value has characters that cannot be sent
    "#);
    let errors = [
        resolve(&world, stdio().strict()).await.unwrap_err(),
        resolve(&world, http().strict()).await.unwrap_err(),
    ];
    assert_snapshot!(errors.map(|error| error.to_string()).join("\n"), @r#"
    env "A=B" cannot be resolved: not a valid variable name
    header "X Y" cannot be resolved: not a valid header name
    "#);
}

#[tokio::test]
async fn an_unknown_transport_of_the_program_is_an_error() {
    let world = World::new();
    let transport = CustomTransport::new(Arc::new(()), CustomTransport::CUSTOM);
    let error = resolve(&world, transport).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the transport of the program (\"custom\") is of an unknown type"
    );
}

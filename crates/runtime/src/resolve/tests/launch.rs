//! Tests of the process: its program, working folder, arguments and environment.

use insta::assert_snapshot;
use wharf_config::Level;

use super::World;
use super::world::{launch_of, variable};

#[tokio::test]
async fn a_program_is_found_through_the_path_and_runs_at_home() {
    let world = World::new().with_own(r#""command": "server", "args": ["-x", "two words"]"#);
    world.program("project/server");
    world.program("home/server");
    assert_snapshot!(world.show_launch(&[]).await, @"bin/server in home");
    assert_eq!(world.launch().await.arguments, ["-x", "two words"]);
}

#[tokio::test]
async fn a_program_in_the_working_folder_is_not_found_by_its_name() {
    let check = async |path: &str| {
        let world = World::new().with_own(r#""command": "evil""#).with_variable("PATH", path);
        world.program("project/evil");
        world.program("home/evil");
        assert_eq!(world.resolve().await.unwrap_err().to_string(), "evil not found");
    };
    for path in ["", ".", ":/bin", "/bin:", "./:/bin", "../project"] {
        check(path).await;
    }
}

#[tokio::test]
async fn a_relative_path_starts_where_the_program_runs() {
    let world = World::new().with_own(r#""command": "./tool""#);
    world.program("project/tool");
    assert_eq!(world.resolve().await.unwrap_err().to_string(), "./tool not found");
    world.program("home/tool");
    assert!(world.show_launch(&[]).await.starts_with("home/./tool in home"));
    let world = World::new().with_project(r#""command": "./tool""#);
    world.program("project/tool");
    assert!(world.show_launch(&[]).await.starts_with("project/./tool in project"));
}

#[tokio::test]
async fn an_error_about_starting_names_the_command_as_written() {
    let check = async |fields: &str, expected: &str| {
        let world = World::new().with_variable("SECRET", "hunter2").with_own(fields);
        world.write("home/plain", "");
        let error = world.resolve().await.unwrap_err();
        assert_eq!(format!("{error} ({})", error.hint()), expected);
    };
    let hint = "install npx-x, or give its full path in \"command\"";
    check(r#""command": "npx-x""#, &format!("npx-x not found ({hint})")).await;
    let hint = "check the path /${SECRET}/x in \"command\"";
    check(r#""command": "/${SECRET}/x""#, &format!("/${{SECRET}}/x not found ({hint})")).await;
    let hint = "check that ./plain is a program you may execute";
    check(r#""command": "./plain""#, &format!("./plain may not be executed ({hint})")).await;
    let hint = "create the folder, or correct \"cwd\"";
    let expected = format!("no such folder: /${{SECRET}} ({hint})");
    check(r#""command": "server", "cwd": "/${SECRET}""#, &expected).await;
}

#[tokio::test]
async fn no_command_runs_for_a_missing_program() {
    let world = World::new().with_own(r#""command": "gone", "env": { "V": "!echo x > ran" }"#);
    assert_eq!(world.resolve().await.unwrap_err().to_string(), "gone not found");
    assert!(!world.root.join("home/ran").exists());
}

#[tokio::test]
async fn the_path_of_an_entry_is_searched_after_the_path_of_the_user() {
    let world = World::new();
    let tools = world.root.join("tools");
    std::fs::create_dir(&tools).unwrap();
    world.program("tools/special");
    world.program("tools/server");
    let path = format!("\"env\": {{ \"PATH\": {tools:?} }}");
    let world = world.with_own(&format!(r#""command": "special", {path}"#));
    assert!(world.show_launch(&[]).await.starts_with("tools/special in home"));
    let world = world.with_own(&format!(r#""command": "server", {path}"#));
    assert!(world.show_launch(&[]).await.starts_with("bin/server in home"));
    // For a project, only the PATH of the user is searched.
    let world = world.with_project(&format!(r#""command": "special", {path}"#));
    assert_eq!(world.resolve().await.unwrap_err().to_string(), "special not found");
}

#[tokio::test]
async fn the_built_in_server_is_this_program() {
    let world = World::new();
    let trusted = world.trusted_named("thinking");
    assert_eq!(trusted.level, Level::Builtin);
    let own = world.root.join("elsewhere/wharf");
    let resolver = world.resolver().with_own_program(Some(own.clone()));
    let launch = launch_of(resolver.resolve(&trusted).await.unwrap());
    assert_eq!(launch.program, own);
    assert_eq!(launch.arguments, ["mcp", "thinking"]);
    let error = world.resolver().resolve(&trusted).await.unwrap_err();
    assert_eq!(error.to_string(), "wharf not found");
    // Another server with the same command is looked up like any other.
    let world = world.with_own(r#""command": "wharf""#);
    let resolver = world.resolver().with_own_program(Some(own));
    let error = resolver.resolve(&world.trusted()).await.unwrap_err();
    assert_eq!(error.to_string(), "wharf not found");
}

#[tokio::test]
async fn a_child_gets_the_default_variables_and_those_of_its_entry() {
    let world = World::new()
        .with_variable("AWS_SECRET_ACCESS_KEY", "x")
        .with_variable("KUBECONFIG", "passed")
        .with_variable("LANG", "C")
        .with_own(
            r#""command": "server", "passEnv": ["KUBECONFIG"],
               "env": { "LANG": "de", "A=B": "1", "": "2" }"#,
        );
    let names = ["AWS_SECRET_ACCESS_KEY", "KUBECONFIG", "LANG"];
    assert_snapshot!(world.show_launch(&names).await, @r#"
    bin/server in home
    AWS_SECRET_ACCESS_KEY=(not set)
    KUBECONFIG=passed
    LANG=de
    env "A=B" left out: not a valid variable name
    env "" left out: not a valid variable name
    "#);
}

#[tokio::test]
async fn a_github_server_gets_the_first_token_that_is_set() {
    let check = async |servers: &str, variables: &[&str], expected: &str| {
        let mut world = World::new();
        for name in variables {
            world = world.with_variable(name, name);
        }
        world.write("home/.wharf/mcp.json", &format!(r#"{{ "mcpServers": {{ {servers} }} }}"#));
        let resolved = world.resolver().resolve(&world.trusted_named("github")).await.unwrap();
        let token = variable(&launch_of(resolved), "GITHUB_PERSONAL_ACCESS_TOKEN");
        assert_eq!(token.as_deref().unwrap_or("none"), expected);
    };
    let plain = r#""github": { "command": "server" }"#;
    check(plain, &[], "none").await;
    check(plain, &["GH_TOKEN"], "GH_TOKEN").await;
    check(plain, &["GH_TOKEN", "GITHUB_TOKEN"], "GITHUB_TOKEN").await;
    let three = ["GH_TOKEN", "GITHUB_TOKEN", "GITHUB_TOKEN_BINLECODE"];
    check(plain, &three, "GITHUB_TOKEN_BINLECODE").await;
    let own = "GITHUB_PERSONAL_ACCESS_TOKEN";
    check(plain, &["GH_TOKEN", own], own).await;
    let named = r#""github": { "command": "server",
        "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "mine" } }"#;
    check(named, &["GH_TOKEN"], "mine").await;
}

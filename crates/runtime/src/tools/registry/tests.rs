//! Tests which tools a registry lists, hides and finds.

use std::path::PathBuf;

use proptest::prelude::*;
use wharf_config::{Approval, Level, Policy, ServerName, Source};
use wharf_protocol::view::{ListPage, ToolDefinition as ListedTool};

use super::super::pins::Pinning;
use super::super::server_tools::{ToolList, ToolServer, ToolSettings};
use super::super::{Freshness, Naming, Sanitize};
use super::*;
use crate::store::pins::Pins;
use crate::store::server_identity::ServerIdentity;

fn source() -> Arc<Source> {
    Arc::new(Source {
        provider: "wharf",
        provider_name: "Wharf",
        level: Level::User,
        path: PathBuf::from("mcp.json"),
        also_read_by: &[],
    })
}

fn page(text: &str) -> ListPage<ListedTool> {
    ListPage::read(&text.parse().unwrap())
}

/// Returns the tools of a server with plain definitions.
fn server_tools(server: &str, tools: &str, policy: &Policy) -> Arc<ServerTools> {
    let tools: Vec<_> =
        tools.split_whitespace().map(|tool| format!(r#"{{"name":"{tool}"}}"#)).collect();
    server_tools_from(server, &format!(r#"{{"tools":[{}]}}"#, tools.join(",")), policy)
}

fn server_tools_from(server: &str, list: &str, policy: &Policy) -> Arc<ServerTools> {
    let page = page(list);
    let listed = ToolList { tools: page.items.into(), rejected: page.rejected, pins: None };
    let by = ToolServer { name: &ServerName::new(server), source: &source(), policy };
    Arc::new(ServerTools::prepare(&by, listed, Freshness::Live, ToolSettings::default()))
}

/// Returns the same tools under another policy.
fn with_policy(tools: &ServerTools, policy: &Policy) -> Arc<ServerTools> {
    let by = ToolServer { name: tools.server(), source: &source(), policy };
    Arc::new(tools.with_server(&by, ToolSettings::default()))
}

fn render(tools: &[Arc<Tool>]) -> String {
    tools.iter().map(|tool| format!("{tool:?}")).collect::<Vec<_>>().join("\n")
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_tool_is_serialized_as_a_listing_shows_it() {
    let list = r#"{"tools":[{"name":"read","title":"Read","inputSchema":{"type":"object","properties":{"n":{"maximum":1.50}}},"annotations":{"readOnlyHint":true}}]}"#;
    let all_tools = [server_tools_from("fs", list, &Policy::default())];
    let registry = Registry::build(&all_tools, &mut NameTable::default());
    insta::assert_snapshot!(serde_json::to_string(&*registry.tools()[0]).unwrap(), @r#"{"name":"mcp_fs_read","server":"fs","tool":"read","title":"Read","description":"","inputSchema":{"type":"object","properties":{"n":{"maximum":1.50}}},"annotations":{"readOnlyHint":true},"freshness":"live","approval":"ask"}"#);
}

#[test]
fn tools_are_in_the_order_of_their_names() {
    let all_tools = [
        server_tools("zoo", "b a", &Policy::default()),
        server_tools("git", "z a", &Policy::default()),
        server_tools("git_m", "x", &Policy::default()),
    ];
    let registry = Registry::build(&all_tools, &mut NameTable::default());
    insta::assert_snapshot!(render(registry.tools()), @"
    Tool(mcp_git_a = git/a)
    Tool(mcp_git_m_x = git_m/x)
    Tool(mcp_git_z = git/z)
    Tool(mcp_zoo_a = zoo/a)
    Tool(mcp_zoo_b = zoo/b)
    ");
    assert_eq!(all_tools[0].len(), 2);
}

#[test]
fn a_collision_is_reported_once_per_server() {
    let all_tools = [
        server_tools("my.server", "a", &Policy::default()),
        server_tools("日本", "検索 一 二 三 四 五", &Policy::default()),
        server_tools("my-server", "a", &Policy::default()),
    ];
    let registry = Registry::build(&all_tools, &mut NameTable::default());
    assert_eq!(registry.tools().len(), 8);
    let messages: Vec<_> = registry
        .problems()
        .iter()
        .map(|problem| format!("{:?}: {}", problem.server, problem.message))
        .collect();
    insta::assert_snapshot!(messages.join("\n"), @r#"
    Some("my.server"): names already taken: "a" is mcp_my_server_a_oqtkbt, since "my-server/a" is mcp_my_server_a
    Some("日本"): names already taken: "検索" is mcp_server_tool_rkybci, since "日本/一" is mcp_server_tool; "二" is mcp_server_tool_mzlkls, since "日本/一" is mcp_server_tool; "三" is mcp_server_tool_mclhml, since "日本/一" is mcp_server_tool; and 2 more
    "#);
}

#[test]
fn a_tool_is_found_by_its_name_and_by_unambiguous_aliases() {
    let all_tools = [
        server_tools("my-server", "do.it", &Policy::default()),
        server_tools("a", "b/c x", &Policy::default()),
        server_tools("a/b", "c", &Policy::default()),
    ];
    let registry = Registry::build(&all_tools, &mut NameTable::default());
    for (name, expected) in [
        ("mcp_my_server_do_it", Some("my-server/do.it")),
        ("my-server/do.it", Some("my-server/do.it")),
        ("my-server.do.it", Some("my-server/do.it")),
        ("mcp__my-server__do.it", Some("my-server/do.it")),
        ("my_server/do.it", None),
        ("my-server do.it", Some("my-server/do.it")),
        ("do.it", Some("my-server/do.it")),
        ("x", Some("a/x")),
        ("a/b/c", None),
        ("a.b/c", Some("a/b/c")),
        ("", None),
    ] {
        let found = registry.get(name).map(|tool| format!("{}/{}", tool.server(), tool.tool()));
        assert_eq!(found.as_deref(), expected, "{name}");
    }
    let ToolMatch::Ambiguous(meant) = registry.find("a/b/c") else { panic!("should be ambiguous") };
    assert_eq!(meant.len(), 2);
}

#[test]
fn the_nearest_name_is_found() {
    let all_tools = [server_tools("github", "search_issues list", &Policy::default())];
    let registry = Registry::build(&all_tools, &mut NameTable::default());
    for (name, expected) in [
        ("mcp_github_serch_issues", Some("mcp_github_search_issues")),
        ("github/serch_issues", Some("mcp_github_search_issues")),
        ("github.lists", Some("mcp_github_list")),
        ("zzz", None),
    ] {
        assert_eq!(registry.nearest(name), expected, "{name}");
    }
}

#[test]
fn a_denied_tool_keeps_its_name_and_is_found_but_not_listed() {
    let policy = Policy {
        tool_approval: vec![
            ("drop*".to_owned(), Approval::Deny),
            ("read".to_owned(), Approval::Never),
        ],
        ..Policy::default()
    };
    let denied = server_tools("db", "drop_all read write", &policy);
    let mut names = NameTable::default();
    let registry = Registry::build(std::slice::from_ref(&denied), &mut names);
    insta::assert_snapshot!(render(registry.tools()), @"
    Tool(mcp_db_read = db/read)
    Tool(mcp_db_write = db/write)
    ");
    assert_eq!(denied.len(), 2);
    assert_eq!(registry.get("db/read").unwrap().approval(), Approval::Never);
    for name in ["mcp_db_drop_all", "db/drop_all"] {
        assert!(registry.get(name).is_none());
        let ToolMatch::Hidden(tool) = registry.find(name) else {
            panic!("{name} should be hidden")
        };
        assert_eq!(tool.visibility(), Visibility::Denied);
    }
    let allowed = with_policy(&denied, &Policy::default());
    let registry = Registry::build(&[allowed], &mut names);
    assert_eq!(registry.get("mcp_db_drop_all").unwrap().tool(), "drop_all");
}

#[test]
fn excluded_tools_are_missing_until_the_policy_changes() {
    let policy = Policy {
        include_tools: Some(words("read_*")),
        exclude_tools: words("*_secret"),
        ..Policy::default()
    };
    let narrow = server_tools("fs", "read_a read_secret write", &policy);
    let mut names = NameTable::default();
    let registry = Registry::build(std::slice::from_ref(&narrow), &mut names);
    insta::assert_snapshot!(render(registry.tools()), @"Tool(mcp_fs_read_a = fs/read_a)");
    assert!(matches!(registry.find("fs/write"), ToolMatch::Unknown));
    let wide = Policy { prefix: Some("files".to_owned()), ..Policy::default() };
    let registry = Registry::build(&[with_policy(&narrow, &wide)], &mut names);
    insta::assert_snapshot!(render(registry.tools()), @"
    Tool(mcp_files_read_a = fs/read_a)
    Tool(mcp_files_read_secret = fs/read_secret)
    Tool(mcp_files_write = fs/write)
    ");
}

#[test]
fn an_unusable_tool_is_omitted_without_the_others() {
    let server_tools = server_tools_from(
        "odd",
        r#"{"tools":[{"name":"good"},{"name":"bad","inputSchema":[]},{"name":7},"no",
            {"name":"good","description":"again"},{"name":"text","inputSchema":{"type":"string"}}]}"#,
        &Policy { exclude_tools: words("["), ..Policy::default() },
    );
    let registry = Registry::build(std::slice::from_ref(&server_tools), &mut NameTable::default());
    assert_eq!(render(registry.tools()), "Tool(mcp_odd_good = odd/good)");
    let lines: Vec<_> = server_tools
        .problems()
        .iter()
        .map(|problem| {
            format!("{} {}: {}", problem.server.as_deref().unwrap(), problem.code, problem.message)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    odd bad-glob: "[" is not a glob: unclosed character class; missing ']'; it counts as a name
    odd omitted-tools: 5 tools were omitted: an entry that is not a tool (name is a number, not a string), an entry that is not a tool (entry is a string, not an object), "bad" (its inputSchema is not a schema), "good" (listed twice), "text" (its inputSchema does not allow an object)
    "#);
}

#[test]
fn thousands_of_bad_tools_make_one_problem() {
    let tools = r#"{"name":"x","inputSchema":7},"#.repeat(5000);
    let list = format!(r#"{{"tools":[{tools}{{"name":"good"}}]}}"#);
    let server_tools = server_tools_from("odd", &list, &Policy::default());
    assert_eq!((server_tools.len(), server_tools.problems().len()), (1, 1));
    let message = &server_tools.problems()[0].message;
    assert!(message.starts_with("5000 tools were omitted: \"x\" (its input"), "{message}");
    assert!(message.ends_with("(listed twice) and 4990 more") && message.len() < 500, "{message}");
}

#[test]
fn a_tool_returns_its_definition_and_its_origin() {
    let list = r#"{"tools":[{"name":"Do-It","title":"T","description":"D","inputSchema":{"type":"object"},
        "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}"#;
    let registry = Registry::build(
        &[server_tools_from("s", list, &Policy::default())],
        &mut NameTable::default(),
    );
    let tool = registry.get("mcp_s_do_it").unwrap();
    assert_eq!((tool.server().as_str(), tool.tool()), ("s", "Do-It"));
    assert_eq!((tool.title().unwrap(), tool.description().unwrap()), ("T".into(), "D".into()));
    assert_eq!(tool.input_schema().as_str(), r#"{"type":"object","properties":{}}"#);
    assert_eq!(tool.output_schema().unwrap().as_str(), r#"{"type":"object"}"#);
    assert_eq!(tool.annotations().unwrap().as_str(), r#"{"readOnlyHint":true}"#);
    assert_eq!(tool.hints().read_only, Some(true));
    assert_eq!((tool.freshness(), tool.approval()), (Freshness::Live, Approval::Ask));
    assert_eq!(tool.path(), "mcp:s via Wharf");
    assert_eq!(tool.source().provider, "wharf");
    assert!(tool.raw().as_str().contains("Do-It") && !tool.is_pinned_unchanged());
}

#[test]
fn strict_schemas_are_shown_to_models_and_not_used_for_checking() {
    let settings = ToolSettings { naming: Naming::Precise, sanitize: Sanitize::Strict };
    let page = page(
        r#"{"tools":[{"name":"t1","inputSchema":{"type":"object","properties":{"a":{"type":["string","null"]}}}}]}"#,
    );
    let listed = ToolList { tools: page.items.into(), ..ToolList::default() };
    let policy = Policy::default();
    let by = ToolServer { name: &ServerName::new("s7"), source: &source(), policy: &policy };
    let server_tools = Arc::new(ServerTools::prepare(&by, listed, Freshness::Cached, settings));
    let registry = Registry::build(&[server_tools], &mut NameTable::default());
    let tool = registry.get("mcp__s7__t1").unwrap();
    assert!(tool.input_schema().as_str().contains(r#"{"type":"string"}"#));
    assert!(tool.accepted_schema().as_str().contains(r#"["string","null"]"#));
}

#[test]
fn enforced_pins_withhold_changed_tools_and_hints_count_only_if_live_and_pinned() {
    let folder = tempfile::tempdir().unwrap();
    let pins = Pins::open(Some(folder.path().join("pins")));
    let key = pins.key(&ServerIdentity {
        name: "s",
        configuration: wharf_config::Secret::new("i"),
        credential: String::new(),
        is_lasting: true,
    });
    let build = |list: &str, freshness| {
        let page = page(list);
        let tools = page.items.into();
        let pins = Some(pins.check(&key, &tools, Pinning::Enforce));
        let listed = ToolList { tools, rejected: page.rejected, pins };
        let policy = Policy::default();
        let by = ToolServer { name: &ServerName::new("s"), source: &source(), policy: &policy };
        let server_tools = ServerTools::prepare(&by, listed, freshness, ToolSettings::default());
        Registry::build(&[Arc::new(server_tools)], &mut NameTable::default())
    };
    let first = build(r#"{"tools":[{"name":"a"},{"name":"b"}]}"#, Freshness::Live);
    assert!(first.tools().len() == 2 && first.tools()[0].is_pinned_unchanged());
    let later = r#"{"tools":[{"name":"a","description":"new words"},{"name":"b"},{"name":"c"}]}"#;
    let registry = build(later, Freshness::Live);
    assert_eq!(render(registry.tools()), "Tool(mcp_s_b = s/b)");
    assert!(registry.tools()[0].is_pinned_unchanged());
    let hidden = registry.hidden();
    assert!(
        hidden.len() == 2 && hidden.iter().all(|tool| tool.visibility() == Visibility::Withheld)
    );
    assert!(!hidden[0].is_pinned_unchanged());
    assert!(!build(later, Freshness::Cached).tools()[0].is_pinned_unchanged());
}

#[test]
fn a_rebuilt_registry_shares_unchanged_tools() {
    let mut names = NameTable::default();
    let mut all_tools = vec![server_tools("a", "x y", &Policy::default())];
    let one = Registry::build(&all_tools, &mut names);
    all_tools.push(server_tools("b", "z", &Policy::default()));
    let two = Registry::build(&all_tools, &mut names);
    assert!(Arc::ptr_eq(&one.tools()[0], &two.tools()[0]));
    assert_eq!(two.tools().len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_tool_is_lost_and_the_order_of_offers_does_not_matter(
        (one, other) in prop::collection::btree_map("[ab.]{1,3}", prop::collection::btree_set("[ab.]{1,3}", 0..8), 1..8)
            .prop_flat_map(|servers| {
                let list: Vec<_> = servers.into_iter().collect();
                (Just(list.clone()), Just(list).prop_shuffle())
            }),
    ) {
        let build = |servers: &[(String, std::collections::BTreeSet<String>)]| {
            let all_tools: Vec<_> = servers
                .iter()
                .map(|(server, tools)| {
                    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
                    server_tools(server, &tools.join(" "), &Policy::default())
                })
                .collect();
            Registry::build(&all_tools, &mut NameTable::default())
        };
        let registry = build(&one);
        prop_assert_eq!(registry.tools().len(), one.iter().map(|(_, tools)| tools.len()).sum::<usize>());
        prop_assert!(registry.tools().is_sorted_by(|a, b| a.name() < b.name()));
        for tool in registry.tools() {
            prop_assert!(Arc::ptr_eq(registry.get(tool.name()).unwrap(), tool));
        }
        prop_assert_eq!(render(registry.tools()), render(build(&other).tools()));
    }
}

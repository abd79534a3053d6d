//! Tests of project folders: which folders belong to a project, and the precedence of their files.

use insta::assert_snapshot;

use super::{server, servers};
use crate::world::World;

#[test]
fn a_project_comes_before_the_person_and_the_nearest_folder_before_those_above() {
    let world = World::new()
        .with("~/.cursor/mcp.json", server("a", "user"))
        .with(".cursor/mcp.json", server("a", "root"))
        .with("sub/.cursor/mcp.json", server("a", "sub"))
        .with("sub/dir/.cursor/mcp.json", server("a", "dir"))
        .with("sub/dir/below/.cursor/mcp.json", server("a", "below"))
        .working_in("sub/dir");
    assert_snapshot!(world.show(), @r#"
    a: untrusted stdio, cursor project [project]/sub/dir/.cursor/mcp.json:1
      warning hides [project]/sub/dir/.cursor/mcp.json:1: hides your "a" from ~/.cursor/mcp.json (trust it to use it here, or rename yours)
    a: shadowed stdio, cursor project [project]/sub/.cursor/mcp.json:1, by cursor project [project]/sub/dir/.cursor/mcp.json
    a: shadowed stdio, cursor project [project]/.cursor/mcp.json:1, by cursor project [project]/sub/dir/.cursor/mcp.json
    a: shadowed stdio, cursor user ~/.cursor/mcp.json:1, by cursor project [project]/sub/dir/.cursor/mcp.json
    "#);
}

#[test]
fn the_nearest_folder_comes_before_the_order_of_files() {
    let world = World::new()
        .with(".omp/mcp.json", server("a", "1"))
        .with(".omp/.mcp.json", server("a", "2"))
        .with("sub/.omp/.mcp.json", server("a", "3"))
        .with("~/.omp/mcp.json", server("a", "4"))
        .with("~/.omp/agent/.mcp.json", server("a", "5"))
        .with("~/.omp/agent/mcp.json", server("a", "6"))
        .working_in("sub");
    assert_snapshot!(world.show(), @r#"
    a: untrusted stdio, omp project [project]/sub/.omp/.mcp.json:1
      warning hides [project]/sub/.omp/.mcp.json:1: hides your "a" from ~/.omp/agent/mcp.json (trust it to use it here, or rename yours)
      warning hides [project]/sub/.omp/.mcp.json:1: hides your "a" from ~/.omp/agent/.mcp.json (trust it to use it here, or rename yours)
      warning hides [project]/sub/.omp/.mcp.json:1: hides your "a" from ~/.omp/mcp.json (trust it to use it here, or rename yours)
    a: shadowed stdio, omp project [project]/.omp/mcp.json:1, by omp project [project]/sub/.omp/.mcp.json
    a: shadowed stdio, omp project [project]/.omp/.mcp.json:1, by omp project [project]/sub/.omp/.mcp.json
    a: shadowed stdio, omp user ~/.omp/agent/mcp.json:1, by omp project [project]/sub/.omp/.mcp.json
    a: shadowed stdio, omp user ~/.omp/agent/.mcp.json:1, by omp project [project]/sub/.omp/.mcp.json
    a: shadowed stdio, omp user ~/.omp/mcp.json:1, by omp project [project]/sub/.omp/.mcp.json
    "#);
}

#[test]
fn a_program_of_higher_priority_comes_before_the_project_of_a_lower_one() {
    let world = World::new()
        .with("~/.wharf/mcp.json", server("a", "1"))
        .with(".cursor/mcp.json", server("a", "2"));
    assert_snapshot!(world.show(), @"
    a: enabled stdio, wharf user ~/.wharf/mcp.json:1
    a: shadowed stdio, cursor project [project]/.cursor/mcp.json:1, by wharf user ~/.wharf/mcp.json
    ");
}

#[test]
fn mcp_json_comes_before_dot_mcp_json() {
    let world = World::new().with(".mcp.json", server("a", "1")).with("mcp.json", server("a", "2"));
    assert_snapshot!(world.show(), @"
    a: untrusted stdio, mcp-json project [project]/mcp.json:1
    a: shadowed stdio, mcp-json project [project]/.mcp.json:1, by mcp-json project [project]/mcp.json
    ");
}

#[test]
fn outside_a_repository_only_the_working_folder_counts() {
    let world = World::new()
        .with("/srv/.mcp.json", servers(&["above"]))
        .with("/srv/dir/.mcp.json", servers(&["here"]))
        .working_in("/srv/dir");
    assert_snapshot!(world.show(), @"here: untrusted stdio, mcp-json project [root]/system/srv/dir/.mcp.json:1");
}

#[test]
fn folders_above_the_root_of_the_repository_do_not_count() {
    let world = World::new()
        .with("/srv/.mcp.json", servers(&["above"]))
        .with("/srv/repository/.git/HEAD", "")
        .with("/srv/repository/.mcp.json", servers(&["root"]))
        .with("/srv/repository/dir/.mcp.json", servers(&["here"]))
        .working_in("/srv/repository/dir");
    assert_snapshot!(world.show(), @"
    here: untrusted stdio, mcp-json project [root]/system/srv/repository/dir/.mcp.json:1
    root: untrusted stdio, mcp-json project [root]/system/srv/repository/.mcp.json:1
    ");
}

#[test]
fn a_worktree_and_a_submodule_are_repositories_of_their_own() {
    let world = World::new()
        .with(".mcp.json", servers(&["above"]))
        .with("module/.git", "gitdir: ../.git/modules/module\n")
        .with("module/.mcp.json", servers(&["here"]))
        .working_in("module");
    assert_snapshot!(world.show(), @"here: untrusted stdio, mcp-json project [project]/module/.mcp.json:1");
}

#[test]
fn the_home_folder_is_never_a_project() {
    let world = World::new()
        .with("~/mcp.json", servers(&["home"]))
        .with("~/.cursor/mcp.json", servers(&["cursor"]))
        .working_in("~");
    assert_snapshot!(world.show(), @"cursor: enabled stdio, cursor user ~/.cursor/mcp.json:1");
}

#[test]
fn a_folder_above_the_home_folder_is_never_a_project() {
    let mut world = World::new()
        .with("/.git/HEAD", "")
        .with("/mcp.json", servers(&["above"]))
        .with("/home/me/.cursor/mcp.json", servers(&["cursor"]))
        .working_in("/");
    world.env.home = Some(world.path("/home/me"));
    assert_snapshot!(world.show(), @"cursor: enabled stdio, cursor user [root]/system/home/me/.cursor/mcp.json:1");
}

#[test]
fn a_home_folder_in_a_repository_ends_the_project_below_it() {
    let world = World::new()
        .with("~/.git/HEAD", "")
        .with("~/mcp.json", servers(&["home"]))
        .with("~/srv/mcp.json", servers(&["work"]))
        .with("~/srv/here/mcp.json", servers(&["here"]))
        .working_in("~/srv/here");
    assert_snapshot!(world.show(), @"
    here: untrusted stdio, mcp-json project ~/srv/here/mcp.json:1
    work: untrusted stdio, mcp-json project ~/srv/mcp.json:1
    ");
}

#[test]
fn a_user_file_inside_the_project_is_read_once_at_user_level() {
    let world = World::new().with(".wharf/mcp.json", servers(&["mine"]));
    let home = world.path(".wharf");
    let world = world.with_variable("WHARF_HOME", &home.to_string_lossy());
    assert_snapshot!(world.show(), @"mine: enabled stdio, wharf user [project]/.wharf/mcp.json:1");
}

#[cfg(unix)]
#[test]
fn a_home_folder_named_by_a_symlink_is_recognized() {
    let mut world = World::new().with("~/mcp.json", servers(&["home"])).working_in("~");
    std::os::unix::fs::symlink(world.path("~"), world.path("/link")).expect("a link");
    world.env.home = Some(world.path("/link"));
    assert!(world.load().winner("home").is_none(), "{}", world.show());
}

#[test]
fn excluded_project_files_take_no_part_in_merging() {
    let world = || {
        World::new()
            .with(".cursor/mcp.json", server("a", "project"))
            .with("~/.lmstudio/mcp.json", server("a", "user"))
    };
    let mut by_option = world();
    by_option.options.without_project = true;
    let by_setting = world().with("~/.wharf/config.toml", "[discovery]\nproject = false\n");
    let by_project = world().with(".wharf/config.toml", "[discovery]\nproject = false\n");
    assert_snapshot!(by_option.show(), @"a: enabled stdio, lmstudio user ~/.lmstudio/mcp.json:1");
    assert_eq!(by_setting.show(), by_option.show());
    assert_snapshot!(by_project.show(), @"
    a: enabled stdio, lmstudio user ~/.lmstudio/mcp.json:1
    warning project-settings [project]/.wharf/config.toml:2: this project's settings set discovery.project = false (remove the setting if you do not want it here)
    ");
}

#[test]
fn a_project_may_only_tighten_settings() {
    let world = World::new()
        .with("~/.wharf/config.toml", "[discovery]\ndisabled = [\"zed\"]\n")
        .with("~/.cursor/mcp.json", servers(&["cursor"]))
        .with("~/.lmstudio/mcp.json", servers(&["lmstudio"]))
        .with("~/.config/zed/settings.json", super::under("context_servers", &["zed"]))
        .with(".cursor/mcp.json", servers(&["project"]))
        .with(
            ".wharf/config.toml",
            "[discovery]\nproject = true\ndisabled = [\"cursor\"]\nduplicates = \"keep\"\n\n[tools]\npinning = \"enforce\"\nnaming = \"precise\"\n",
        );
    assert_snapshot!(world.show(), @r#"
    cursor: enabled stdio, cursor user ~/.cursor/mcp.json:1
    lmstudio: enabled stdio, lmstudio user ~/.lmstudio/mcp.json:1
    warning not-for-projects [project]/.wharf/config.toml:2: "discovery.project" is ignored in a project's file (set it in your own config.toml instead)
    warning project-settings [project]/.wharf/config.toml:3: this project's settings ignore the project's own cursor files; your servers are unaffected (remove the setting to see them here)
    warning not-for-projects [project]/.wharf/config.toml:4: "discovery.duplicates" is ignored in a project's file (set it in your own config.toml instead)
    warning project-settings [project]/.wharf/config.toml:7: this project's settings set tools.pinning = enforce (remove the setting if you do not want it here)
    warning not-for-projects [project]/.wharf/config.toml:8: "tools.naming" is ignored in a project's file (set it in your own config.toml instead)
    "#);
    assert!(world.load().settings.is_set_to("tools.pinning", "enforce"));
}

#[test]
fn without_projects_their_settings_are_ignored() {
    let world = || {
        World::new()
            .with("~/.cursor/mcp.json", servers(&["cursor"]))
            .with(".wharf/config.toml", "[tools]\npinning = \"enforce\"\n")
    };
    let by_setting = world().with("~/.wharf/config.toml", "[discovery]\nproject = false\n");
    let mut by_option = world();
    by_option.options.without_project = true;
    for world in [by_setting, by_option] {
        assert_eq!(world.show(), "cursor: enabled stdio, cursor user ~/.cursor/mcp.json:1\n");
        assert!(world.load().settings.is_set_to("tools.pinning", "observe"));
    }
}

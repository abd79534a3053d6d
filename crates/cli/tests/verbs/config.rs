//! `wharf config`: shows and changes settings.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn settings_are_shown() {
    assert_snapshot!(World::new().run("config get"), @"
    exit 0
    --- stdout
    call.max_ms = 3600000
    call.max_result_chars = 50000
    credentials.store = auto
    discovery.disabled =
    discovery.duplicates = hide
    discovery.project = true
    startup.mode = auto
    startup.timeout_ms = 250
    tools.naming = classic
    tools.pinning = observe
    tools.sanitize = light
    ");
    assert_snapshot!(World::new().run("config get --json"), @r#"
    exit 0
    --- stdout
    {
      "call.max_ms": 3600000,
      "call.max_result_chars": 50000,
      "credentials.store": "auto",
      "discovery.disabled": [],
      "discovery.duplicates": "hide",
      "discovery.project": true,
      "startup.mode": "auto",
      "startup.timeout_ms": 250,
      "tools.naming": "classic",
      "tools.pinning": "observe",
      "tools.sanitize": "light"
    }
    "#);
    assert_snapshot!(World::new().run("config get startup.timeout_ms"), @"
    exit 0
    --- stdout
    250
    ");
    assert_snapshot!(World::new().run("config get startup.timeout_ms --json"), @r#"
    exit 0
    --- stdout
    {
      "startup.timeout_ms": 250
    }
    "#);
}

#[test]
fn a_changed_setting_takes_effect() {
    let world = World::new();
    assert_snapshot!(world.run("config set discovery.disabled cursor,zed"), @"
    exit 0
    --- stdout
    discovery.disabled = cursor,zed in ~/.wharf/config.toml
    ");
    assert_snapshot!(world.run("config set discovery.duplicates keep --json"), @r#"
    exit 0
    --- stdout
    {
      "ok": true,
      "key": "discovery.duplicates",
      "path": "~/.wharf/config.toml",
      "message": "discovery.duplicates = keep in ~/.wharf/config.toml"
    }
    "#);
    assert_snapshot!(world.run("config get discovery.disabled"), @"
    exit 0
    --- stdout
    cursor,zed
    ");
    assert_snapshot!(world.run("config get discovery.duplicates --json"), @r#"
    exit 0
    --- stdout
    {
      "discovery.duplicates": "keep"
    }
    "#);
}

#[test]
fn wrong_keys_and_values_are_refused() {
    assert_snapshot!(World::new().run("config get discovery.disable"), @r#"
    exit 1
    --- stderr
    error: unknown setting "discovery.disable"
      hint: did you mean "discovery.disabled"?
    "#);
    assert_snapshot!(World::new().run("config set nonsense 1"), @r#"
    exit 1
    --- stderr
    error: unknown setting "nonsense"
      hint: `wharf config get` lists all settings
    "#);
    assert_snapshot!(World::new().run("config set startup.timeout_ms soon"), @r#"
    exit 1
    --- stderr
    error: "startup.timeout_ms" must be a whole number
    "#);
    let world = World::new();
    let mut command = world.command(&["config", "set", "startup.timeout_ms", "1"]);
    assert_snapshot!(world.render(&command.env_remove("HOME").output().unwrap()), @"
    exit 1
    --- stderr
    error: there is no home folder for Wharf's files
      hint: set HOME, or WHARF_HOME to a folder of yours
    ");
}

#[test]
fn problems_in_the_file_are_reported() {
    let world = World::new().home(".wharf/config.toml", "[discovery]\nprojct = true\n");
    assert_snapshot!(world.run("config get discovery.project"), @r#"
    exit 0
    --- stdout
    true
    --- stderr
    warning: ~/.wharf/config.toml:2: unknown setting "discovery.projct"
      hint: did you mean "discovery.project"?
    "#);
}

#[test]
fn settings_of_unimplemented_features_are_refused_and_reported() {
    let world = World::new().home(
        ".wharf/config.toml",
        "[daemon]\nenabled = false\n[serve]\nport = 1\n[models]\ndefault = \"x\"\n",
    );
    assert_snapshot!(world.run("config set daemon.enabled false"), @r#"
    exit 1
    --- stderr
    error: "daemon.enabled" has no effect: this version of Wharf does not include the daemon, a background process that shares connections
    "#);
    assert_snapshot!(world.run("config get startup.mode"), @r#"
    exit 0
    --- stdout
    auto
    --- stderr
    warning: ~/.wharf/config.toml:2: "daemon.enabled" has no effect: this version of Wharf does not include the daemon, a background process that shares connections
      hint: remove it
    warning: ~/.wharf/config.toml:4: "serve.port" has no effect: this version of Wharf does not include the gateway
      hint: remove it
    warning: ~/.wharf/config.toml:6: "models.default" has no effect: this version of Wharf does not include the agent session
      hint: remove it
    "#);
}

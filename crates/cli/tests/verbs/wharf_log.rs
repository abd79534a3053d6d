//! The log of Wharf itself: on stderr, only with `-vvv` or `WHARF_LOG`.

use crate::world::World;

/// Runs a command line and returns its log without timestamps.
fn logged(world: &World, line: &str) -> String {
    let output = world.output(line);
    let text = String::from_utf8(output.stderr).unwrap();
    let without_time = |line: &str| match line.split_once("Z ") {
        Some((_, rest)) => rest.trim_start().to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(without_time).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_is_logged_by_default() {
    let world = World::new();
    for line in ["config get", "config get -v", "config get -vv"] {
        assert_eq!(logged(&world, line), "", "{line}");
    }
}

#[test]
fn three_verbose_flags_or_the_variable_enable_the_log() {
    insta::assert_snapshot!(logged(&World::new(), "config get -vvv"), @"DEBUG wharf::log: log begins version=\"0.1.0\"");
    let world = World::new().variable("WHARF_LOG", "debug");
    insta::assert_snapshot!(logged(&world, "config get"), @"DEBUG wharf::log: log begins version=\"0.1.0\"");
}

#[test]
fn the_variable_overrides_the_flag() {
    let world = World::new().variable("WHARF_LOG", "warn");
    assert_eq!(logged(&world, "config get -vvv"), "");
}

#[test]
fn an_invalid_log_variable_causes_a_warning_and_disables_only_the_log() {
    let world = World::new().variable("WHARF_LOG", "wharf=loudly");
    insta::assert_snapshot!(logged(&world, "config get"), @"
    warning: WHARF_LOG is not a valid log filter, so nothing is logged
    hint: use `error`, `warn`, `info`, `debug` or `trace`
    ");
    assert!(world.output("config get").status.success());
}

#[test]
fn the_log_has_no_colour_and_does_not_change_stdout() {
    let plain = World::new().output("list --json");
    let loud = World::new().output("list --json -vvv --color always");
    assert_eq!(plain.stdout, loud.stdout);
    assert!(!String::from_utf8(loud.stderr).unwrap().contains('\u{1b}'));
}

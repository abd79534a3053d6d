//! When the output has colours: `--color`, `NO_COLOR`, pipes and JSON.

use crate::world::World;

#[track_caller]
fn check(line: &str, variables: &[(&str, &str)], coloured: bool) {
    let world =
        variables.iter().fold(World::new(), |world, (name, value)| world.variable(name, value));
    let output = world.output(line);
    for text in [&output.stdout, &output.stderr].into_iter().filter(|text| !text.is_empty()) {
        assert_eq!(text.contains(&0x1b), coloured, "{line} {variables:?}");
    }
}

#[test]
fn a_pipe_gets_no_colours_unless_asked_for() {
    check("explain thinking", &[], false);
    check("explain thinking", &[("CLICOLOR_FORCE", "1")], false);
    check("explain thinking --color always", &[], true);
    check("get nobody --color=always", &[], true);
    check("explain thinking --color never", &[], false);
}

#[test]
fn the_flag_wins_over_no_color() {
    check("explain thinking --color always", &[("NO_COLOR", "1")], true);
    check("explain thinking", &[("NO_COLOR", "1")], false);
}

#[test]
fn json_never_has_colours() {
    check("list --json --color always -q", &[], false);
}

#[test]
fn usage_errors_follow_the_flag() {
    check("list --nonsense --color always", &[], true);
    check("list --nonsense", &[], false);
}

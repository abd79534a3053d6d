//! Enforces `ARCHITECTURE.md` on the tree as it is: one test per rule.
//!
//! A rule is a function from files to violations, so each module also tests its rules on small
//! trees in memory: a rule that cannot fail protects nothing.

mod code;
mod layout;
mod literals;
mod manifests;
mod modules;
mod rule;
mod sources;
mod texts;
mod tree;

use crate::rule::Rule;
use crate::tree::Tree;

/// Fails with every violation of a rule in the real tree.
#[track_caller]
fn holds(rule: &Rule) {
    let violations = (rule.find)(&Tree::of_the_workspace());
    assert!(violations.is_empty(), "{}", rule.message(&violations));
}

#[test]
fn dependencies_point_one_way() {
    holds(&manifests::DIRECTION);
}

#[test]
fn modules_use_only_lower_layers() {
    holds(&modules::DIRECTION);
}

#[test]
fn config_depends_on_nothing_that_waits_or_runs_programs() {
    holds(&manifests::CONFIG_IS_PLAIN);
}

#[test]
fn config_is_plain_code() {
    holds(&sources::CONFIG_IS_PLAIN);
}

#[test]
fn libraries_never_touch_the_terminal() {
    holds(&sources::LIBRARIES_ARE_SILENT);
}

#[test]
fn only_the_host_file_of_the_cli_reads_the_environment() {
    holds(&sources::CLI_ENVIRONMENT);
}

#[test]
fn only_the_ui_of_the_cli_prints() {
    holds(&sources::CLI_PRINTING);
}

#[test]
fn no_test_is_ignored() {
    holds(&sources::NO_IGNORED_TEST);
}

#[test]
fn there_is_no_unsafe_code() {
    holds(&sources::NO_UNSAFE);
}

#[test]
fn every_source_file_opens_with_its_idea() {
    holds(&layout::HEADERS);
}

#[test]
fn no_source_file_is_too_long() {
    holds(&layout::LENGTH);
}

#[test]
fn every_file_is_named_after_what_it_is() {
    holds(&layout::NAMES);
}

#[test]
fn no_library_names_a_verb_or_a_flag() {
    holds(&literals::NO_COMMAND_LINE);
}

#[test]
fn no_text_names_a_package_registry() {
    holds(&texts::NO_REGISTRY);
}

#[test]
fn no_text_names_somebodys_home() {
    holds(&texts::NO_HOME);
}

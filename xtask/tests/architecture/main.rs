//! Checks the rules of `ARCHITECTURE.md` on the workspace: one test per rule.
//!
//! A rule is a function from files to violations. Each module also tests its rules on small trees
//! in memory, to prove that a rule can fail.

mod code;
mod functions;
mod index;
mod layout;
mod literals;
mod manifests;
mod modules;
mod parameters;
mod public_names;
mod rule;
mod sources;
mod texts;
mod third_party;
mod tree;

use crate::rule::Rule;
use crate::tree::Tree;

/// Fails with all violations of a rule in the workspace.
#[track_caller]
fn check(rule: &Rule) {
    let violations = (rule.find)(&Tree::read_workspace());
    assert!(violations.is_empty(), "{}", rule.message(&violations));
}

#[test]
fn dependencies_point_one_way() {
    check(&manifests::DIRECTION);
}

#[test]
fn modules_use_only_lower_layers() {
    check(&modules::DIRECTION);
}

#[test]
fn types_of_other_crates_in_public_signatures_are_exported() {
    check(&third_party::EXPORTED);
}

#[test]
fn config_depends_on_nothing_that_waits_or_runs_programs() {
    check(&manifests::CONFIG_IS_PLAIN);
}

#[test]
fn no_library_changes_all_json_of_a_program() {
    check(&manifests::NO_GLOBAL_FEATURE);
}

#[test]
fn config_is_plain_code() {
    check(&sources::CONFIG_IS_PLAIN);
}

#[test]
fn libraries_never_read_the_environment_by_themselves() {
    check(&sources::LIBRARIES_TAKE_AN_ENV);
}

#[test]
fn libraries_never_touch_the_terminal() {
    check(&sources::LIBRARIES_ARE_SILENT);
}

#[test]
fn only_the_host_file_of_the_cli_reads_the_environment() {
    check(&sources::CLI_ENVIRONMENT);
}

#[test]
fn only_the_ui_of_the_cli_prints() {
    check(&sources::CLI_PRINTING);
}

#[test]
fn no_test_is_ignored() {
    check(&sources::NO_IGNORED_TEST);
}

#[test]
fn there_is_no_unsafe_code() {
    check(&sources::NO_UNSAFE);
}

#[test]
fn every_source_file_has_a_header() {
    check(&layout::HEADERS);
}

#[test]
fn no_source_file_is_too_long() {
    check(&layout::LENGTH);
}

#[test]
fn no_file_has_a_meaningless_name() {
    check(&layout::NAMES);
}

#[test]
fn no_function_is_too_long() {
    check(&functions::LENGTH);
}

#[test]
fn no_two_public_types_have_the_same_name() {
    check(&public_names::ONE_TYPE_EACH);
}

#[test]
fn the_name_of_a_public_type_says_what_it_is() {
    check(&public_names::TELLING);
}

#[test]
fn no_library_names_a_verb_or_a_flag() {
    check(&literals::NO_COMMAND_LINE);
}

#[test]
fn no_text_names_a_package_registry() {
    check(&texts::NO_REGISTRY);
}

#[test]
fn no_text_names_a_home_folder() {
    check(&texts::NO_HOME);
}

#[test]
fn every_path_in_the_architecture_exists() {
    check(&index::PATHS);
}

#[test]
fn every_term_of_the_index_is_in_the_header_of_its_files() {
    check(&index::TERMS);
}

#[test]
fn no_parameter_is_a_tuple_pattern() {
    check(&parameters::NO_TUPLE_PATTERNS);
}

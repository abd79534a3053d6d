//! Rules about code: async, printing, the environment, ignored tests, `unsafe`.
//!
//! Comments, string literals and test code are ignored, except by the rules about tests.

use crate::code::{find_words, line_of, lines_that_name};
use crate::rule::{Rule, Violation};
use crate::tree::{SourceFile, Tree};

/// Macros that print.
const PRINTING: [&str; 5] = ["println!", "print!", "eprintln!", "eprint!", "dbg!"];

/// Crates that may print; all others are libraries.
const NOT_LIBRARIES: [&str; 3] = ["crates/benches/", "crates/cli/", "crates/testkit/"];

/// The crates that other programs embed.
const EMBEDDED: [&str; 3] = ["crates/config/src/", "crates/protocol/src/", "crates/runtime/src/"];

/// The one file of the libraries that reads the environment of the process.
const READS_THE_PROCESS: &str = "crates/config/src/env/process.rs";

pub(crate) const CONFIG_IS_PLAIN: Rule = Rule {
    says: "`wharf-config` uses no async, network or processes",
    fix: "async code and processes belong to the runtime",
    find: |tree| {
        search(tree, &|path| path.starts_with("crates/config/src/"), &|code| {
            let mut found = words(code, &["async"]);
            for path in ["std::net", "std::process", "which::which"] {
                found.extend(lines_that_name(code, path).into_iter().map(|line| (line, path)));
            }
            found
        })
    },
};

pub(crate) const LIBRARIES_TAKE_AN_ENV: Rule = Rule {
    says: "a library reads the environment of the process only in `Env::of_process`, and calls \
           that nowhere",
    fix: "take an `Env`; the program decides where it comes from",
    find: |tree| {
        let is_bound = |path: &str| {
            EMBEDDED.iter().any(|folder| path.starts_with(folder)) && path != READS_THE_PROCESS
        };
        search(tree, &is_bound, &environment)
    },
};

pub(crate) const LIBRARIES_ARE_SILENT: Rule = Rule {
    says: "a library never prints and never reads from the terminal",
    fix: "return the text or a `Problem`; the front end prints it",
    find: |tree| {
        let is_library = |path: &str| {
            path.starts_with("crates/")
                && path.contains("/src/")
                && !NOT_LIBRARIES.iter().any(|folder| path.starts_with(folder))
        };
        search(tree, &is_library, &|code| {
            let mut found = words(code, &PRINTING);
            found.extend(streams(code, &["stdin", "stdout", "stderr"]));
            found
        })
    },
};

pub(crate) const CLI_ENVIRONMENT: Rule = Rule {
    says: "in the command line only `src/host.rs` reads the environment",
    fix: "read it in `host.rs` and pass the value on",
    find: |tree| {
        let is_bound =
            |path: &str| path.starts_with("crates/cli/src/") && path != "crates/cli/src/host.rs";
        search(tree, &is_bound, &environment)
    },
};

pub(crate) const CLI_PRINTING: Rule = Rule {
    says: "in the command line only `src/ui/` prints",
    fix: "pass the value to a function of `ui`, which handles colour, width and `--json`",
    find: |tree| {
        let is_bound =
            |path: &str| path.starts_with("crates/cli/src/") && !path.contains("/src/ui/");
        search(tree, &is_bound, &|code| words(code, &PRINTING))
    },
};

pub(crate) const NO_IGNORED_TEST: Rule = Rule {
    says: "no test is ignored",
    fix: "repair the test or delete it",
    find: |tree| {
        everywhere(tree, |code| {
            let is_ignored = |(_, line): &(usize, &str)| {
                let attribute = ["#[ignore", "#[cfg_attr("]
                    .iter()
                    .any(|start| line.trim_start().starts_with(start));
                attribute && !find_words(line, "ignore").is_empty()
            };
            let lines = code.lines().enumerate().filter(is_ignored);
            lines.map(|(index, _)| (index + 1, "ignored test")).collect()
        })
    },
};

/// The parent-death signal must be set in the child before exec, which needs `pre_exec`.
const MAY_BE_UNSAFE: &str = "crates/protocol/src/transport/process/unix/parent_death.rs";

pub(crate) const NO_UNSAFE: Rule = Rule {
    says: "there is no `unsafe` code except for the parent-death signal",
    fix: "use a safe function of std or of an existing dependency",
    find: |tree| {
        let found = everywhere(tree, |code| words(code, &["unsafe"]));
        found.into_iter().filter(|violation| violation.path != MAY_BE_UNSAFE).collect()
    },
};

/// A line number and what was found there.
type LineMatch = (usize, &'static str);

/// Searches the product code of the selected files.
fn search(
    tree: &Tree,
    is_bound: &dyn Fn(&str) -> bool,
    find: &dyn Fn(&str) -> Vec<LineMatch>,
) -> Vec<Violation> {
    tree.rust()
        .filter(|file| is_bound(&file.path))
        .flat_map(|file| violations(file, find(&file.product_code())))
        .collect()
}

/// Searches all code, including tests.
fn everywhere(tree: &Tree, find: fn(&str) -> Vec<LineMatch>) -> Vec<Violation> {
    tree.rust().flat_map(|file| violations(file, find(&file.code()))).collect()
}

fn violations(file: &SourceFile, mut found: Vec<LineMatch>) -> Vec<Violation> {
    found.sort_unstable();
    found.dedup();
    found
        .into_iter()
        .map(|(line, what)| {
            let what = if what.contains(' ') { what.to_owned() } else { format!("`{what}`") };
            Violation { path: file.path.clone(), line, what }
        })
        .collect()
}

/// Finds the two ways to read the environment of the process. `split_paths` reads only its argument.
fn environment(code: &str) -> Vec<LineMatch> {
    let harmless = lines_that_name(code, "std::env::split_paths");
    let lines = lines_that_name(code, "std::env").into_iter();
    let mut found: Vec<LineMatch> =
        lines.filter(|line| !harmless.contains(line)).map(|line| (line, "std::env")).collect();
    found.extend(words(code, &["of_process"]));
    found
}

fn words(code: &str, wanted: &[&'static str]) -> Vec<LineMatch> {
    let lines = |word| find_words(code, word).into_iter().map(|at| line_of(code, at));
    wanted.iter().flat_map(|&word| lines(word).map(move |line| (line, word))).collect()
}

/// Finds the streams of the process: `io::stdout()` and `use std::io::stdout`, but neither
/// `child.stdout()` nor `command.stdout(pipe)`.
fn streams(code: &str, wanted: &[&'static str]) -> Vec<LineMatch> {
    let mut found = Vec::new();
    for &name in wanted {
        for at in find_words(code, name) {
            let before = code[..at].trim_end();
            let is_call = code[at + name.len()..].starts_with("()");
            if is_call && !before.ends_with('.') && !before.ends_with("fn") {
                found.push((line_of(code, at), name));
            }
        }
        let imports = lines_that_name(code, &format!("std::io::{name}"));
        found.extend(imports.into_iter().map(|line| (line, name)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn async_and_system_access_are_found_in_config() {
        CONFIG_IS_PLAIN.check(
            &[(
                "crates/config/src/a.rs",
                "//! async fn, std::net\nuse std::{net, fs};\nasync fn a() {}\nlet b = \"async\";\n\
                 std::process::id();\nwhich::which(x);\nwhich::which_in(x);\n",
            )],
            &[
                "crates/config/src/a.rs:2: `std::net`",
                "crates/config/src/a.rs:3: `async`",
                "crates/config/src/a.rs:5: `std::process`",
                "crates/config/src/a.rs:6: `which::which`",
            ],
        );
    }

    #[test]
    fn tests_of_config_and_other_crates_may_do_more() {
        CONFIG_IS_PLAIN.check(
            &[
                ("crates/config/src/a.rs", "#[cfg(test)]\nmod tests {\n    use std::net;\n}\n"),
                ("crates/config/src/a/tests.rs", "use std::net;"),
                ("crates/config/tests/b.rs", "use std::net;"),
                ("crates/runtime/src/c.rs", "async fn c() {}"),
            ],
            &[],
        );
    }

    #[test]
    fn a_library_that_reads_the_environment_is_found() {
        LIBRARIES_TAKE_AN_ENV.check(
            &[
                (READS_THE_PROCESS, "std::env::vars_os(); fn of_process() {}"),
                ("crates/config/src/a.rs", "//! Env::of_process\nuse std::{env, fs};\n"),
                ("crates/runtime/src/b.rs", "Options::new(Env::of_process());"),
                ("crates/protocol/src/c.rs", "std::env::temp_dir();\nstd::env::split_paths(x);"),
                ("crates/runtime/src/tests.rs", "std::env::temp_dir();"),
                ("crates/runtime/examples/d.rs", "Env::of_process();"),
            ],
            &[
                "crates/config/src/a.rs:2: `std::env`",
                "crates/runtime/src/b.rs:1: `of_process`",
                "crates/protocol/src/c.rs:1: `std::env`",
            ],
        );
    }

    #[test]
    fn a_library_that_prints_is_found() {
        LIBRARIES_ARE_SILENT.check(
            &[
                ("crates/config/src/a.rs", "println!();\neprint!();\ndbg!(x);\nwriteln!(f);\n"),
                ("crates/runtime/src/b.rs", "use std::io::{self, stdin};\nio::stdout().lock();\n"),
                (
                    "crates/protocol/src/c.rs",
                    "child.stdout();\ncommand.stdout(pipe);\nfn stdin() {}",
                ),
                ("crates/cli/src/d.rs", "println!();"),
                ("crates/testkit/src/e.rs", "println!();"),
                ("xtask/src/f.rs", "println!();"),
            ],
            &[
                "crates/config/src/a.rs:1: `println!`",
                "crates/config/src/a.rs:2: `eprint!`",
                "crates/config/src/a.rs:3: `dbg!`",
                "crates/runtime/src/b.rs:1: `stdin`",
                "crates/runtime/src/b.rs:2: `stdout`",
            ],
        );
    }

    #[test]
    fn reading_the_environment_outside_the_host_file_is_found() {
        CLI_ENVIRONMENT.check(
            &[
                ("crates/cli/src/host.rs", "use std::env;"),
                ("crates/cli/src/main.rs", "//! x\nuse std::{env, io};"),
                ("crates/cli/src/commands/host.rs", "std::env::var(x)\nEnv::of_process()"),
                ("crates/cli/tests/a.rs", "use std::env;"),
            ],
            &[
                "crates/cli/src/main.rs:2: `std::env`",
                "crates/cli/src/commands/host.rs:1: `std::env`",
                "crates/cli/src/commands/host.rs:2: `of_process`",
            ],
        );
    }

    #[test]
    fn printing_outside_the_ui_is_found() {
        CLI_PRINTING.check(
            &[
                ("crates/cli/src/ui/table.rs", "anstream::println!();"),
                ("crates/cli/src/commands/list.rs", "anstream::println!();"),
            ],
            &["crates/cli/src/commands/list.rs:1: `println!`"],
        );
    }

    #[test]
    fn an_ignored_test_is_found() {
        NO_IGNORED_TEST.check(
            &[(
                "crates/a/tests/a.rs",
                "#[ignore]\n#[ignore = \"slow\"]\n#[cfg_attr(windows, ignore)]\n\
                 // #[ignore]\n#[cfg_attr(windows, path = \"ignore\")]\nlet x = \"#[ignore]\";\n",
            )],
            &[
                "crates/a/tests/a.rs:1: ignored test",
                "crates/a/tests/a.rs:2: ignored test",
                "crates/a/tests/a.rs:3: ignored test",
            ],
        );
    }

    #[test]
    fn unsafe_code_is_found_in_tests_too() {
        NO_UNSAFE.check(
            &[
                ("crates/a/src/a.rs", "#[expect(unsafe_code)]\n// unsafe\nunsafe { x() }"),
                ("crates/a/tests/b.rs", "unsafe fn b() {}"),
                (MAY_BE_UNSAFE, "unsafe { x() }"),
            ],
            &["crates/a/src/a.rs:3: `unsafe`", "crates/a/tests/b.rs:1: `unsafe`"],
        );
    }
}

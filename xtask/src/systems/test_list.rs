//! The test binaries that cargo has built, found in its messages, and the names of their tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The packages whose tests run on Windows.
const PACKAGES: [&str; 5] =
    ["wharf-config", "wharf-protocol", "wharf", "wharf-cli", "wharf-testkit"];

/// A program that runs tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TestBinary {
    /// The package, and the target if it is not the library: `wharf-cli::verbs`.
    pub(super) id: String,
    pub(super) program: PathBuf,
    /// The folder of the package, in which tests run.
    pub(super) folder: PathBuf,
}

/// Finds the test binaries in cargo's messages, which are one JSON object per line.
pub(super) fn binaries(messages: &str) -> Vec<TestBinary> {
    let mut found: Vec<TestBinary> = messages.lines().filter_map(binary).collect();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found
}

fn binary(message: &str) -> Option<TestBinary> {
    // The profile is that of tests; the same words in the target only say that it may have some.
    if !message.contains(r#""test":true},"features""#) {
        return None;
    }
    let program = PathBuf::from(text_after(message, r#""executable":""#)?);
    let manifest = Path::new(text_after(message, r#""manifest_path":""#)?);
    let (_, package) = text_after(message, r#""package_id":""#)?.rsplit_once('#')?;
    let package = package.split('@').next()?;
    if !PACKAGES.contains(&package) {
        return None;
    }
    let kind = text_after(message, r#""kind":[""#)?;
    let (_, target) = message.split_once(r#""target":"#)?;
    let name = text_after(target, r#""name":""#)?;
    let id = match kind {
        "lib" => package.to_owned(),
        "bin" => format!("{package}::bin/{name}"),
        _ => format!("{package}::{name}"),
    };
    Some(TestBinary { id, program, folder: manifest.parent()?.to_owned() })
}

fn text_after<'a>(message: &'a str, key: &str) -> Option<&'a str> {
    message.split_once(key)?.1.split('"').next()
}

/// Parses what a test binary prints with `--list --format terse`.
pub(super) fn names(listing: &str) -> BTreeSet<String> {
    listing
        .lines()
        .filter_map(|line| line.trim_end().strip_suffix(": test"))
        .map(Into::into)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_are_found_in_cargos_messages() {
        let message = |package: &str, kind: &str, name: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/crates/x#{package}@0.1.0","manifest_path":"/w/crates/x/Cargo.toml","target":{{"kind":["{kind}"],"crate_types":["bin"],"name":"{name}","test":true}},"profile":{{"opt_level":"0","test":{test}}},"features":[],"executable":"/t/{name}.exe","fresh":true}}"#
            )
        };
        let messages = [
            message("wharf-cli", "test", "verbs", true),
            message("wharf-cli", "bin", "wharf", true),
            message("wharf-cli", "bin", "wharf", false),
            message("wharf", "lib", "wharf", true),
            message("serde", "lib", "serde", true),
        ];
        let found = binaries(&messages.join("\n"));
        let ids: Vec<&str> = found.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["wharf", "wharf-cli::bin/wharf", "wharf-cli::verbs"]);
        assert_eq!(found[2].program, Path::new("/t/verbs.exe"));
        assert_eq!(found[2].folder, Path::new("/w/crates/x"));
    }

    #[test]
    fn the_names_of_tests_are_read_from_a_listing() {
        let listing = "a::b: test\r\nc: test\nd: benchmark\n\n2 tests, 1 benchmark\n";
        assert_eq!(names(listing).into_iter().collect::<Vec<_>>(), ["a::b", "c"]);
    }
}

//! The features of the crates that programs embed: each one alone must compile without warnings,
//! and a build that has only servers on stdio must need few packages.

use std::collections::BTreeSet;

use crate::cargo::Cargo;

/// A package whose features are checked one by one.
#[derive(Debug, PartialEq)]
pub(crate) struct PackageFeatures {
    /// The name of the package.
    pub(crate) package: &'static str,
    /// Its features, without `default`.
    pub(crate) features: &'static [&'static str],
}

/// The protocol.
pub(crate) const PROTOCOL: PackageFeatures = PackageFeatures {
    package: "wharf-protocol",
    features: &["http", "tls", "serve", "serve-http", "skills"],
};

/// The runtime.
pub(crate) const RUNTIME: PackageFeatures = PackageFeatures {
    package: "wharf",
    features: &[
        "discovery",
        "http",
        "tls",
        "oauth",
        "keychain",
        "serve",
        "thinking",
        "schema-validation",
        "otel",
    ],
};

/// The definitions of servers.
pub(crate) const CONFIG: PackageFeatures =
    PackageFeatures { package: "wharf-config", features: &["discovery", "http"] };

/// The tests of the build that has only servers on stdio.
pub(crate) const STDIO_TESTS: [&str; 15] = [
    "test",
    "--package",
    "wharf",
    "--package",
    "wharf-config",
    "--package",
    "wharf-protocol",
    "--no-default-features",
    "--locked",
    "--no-fail-fast",
    "--lib",
    "--test",
    "own_files",
    "--test",
    "without_http",
];

/// Lists the packages of the build that has only servers on stdio, on Linux.
pub(crate) const STDIO_PACKAGES: [&str; 12] = [
    "tree",
    "--package",
    "wharf",
    "--no-default-features",
    "--edges",
    "normal",
    "--target",
    "x86_64-unknown-linux-gnu",
    "--prefix",
    "none",
    "--no-dedupe",
    "--locked",
];

/// How many packages that build may need, its own included.
pub(crate) const MOST_PACKAGES: usize = 80;

impl PackageFeatures {
    /// Describes the check in one line.
    pub(crate) fn describe(&self) -> String {
        format!(
            "cargo clippy --package {} --no-default-features, with none and with one each of {}",
            self.package,
            self.features.join(", ")
        )
    }

    /// Runs clippy with no feature, and with each feature alone; names those that fail.
    pub(crate) fn check(&self, cargo: &Cargo) -> Result<(), String> {
        let all = [""].iter().chain(self.features);
        let failed = all.filter(|feature| {
            let mut arguments = vec!["clippy", "--package", self.package, "--no-default-features"];
            arguments.extend(["--features", feature, "--locked", "--", "-D", "warnings"]);
            cargo.run(&arguments, &[]).is_err()
        });
        let failed: Vec<String> = failed.map(|feature| format!("\"{feature}\"")).collect();
        if failed.is_empty() { Ok(()) } else { Err(format!("with {}", failed.join(", "))) }
    }
}

/// Checks that the build that has only servers on stdio needs at most so many packages.
pub(crate) fn check_package_count(cargo: &Cargo, most: usize) -> Result<(), String> {
    let count = count_packages(&cargo.output(&STDIO_PACKAGES)?);
    println!("{count} packages");
    if count <= most { Ok(()) } else { Err(format!("{count} packages, more than {most}")) }
}

/// Counts the packages in the output of `cargo tree`: one on each line, some of them repeatedly.
fn count_packages(tree: &str) -> usize {
    let name_and_version = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        Some((words.next()?, words.next()?))
    };
    tree.lines().filter_map(name_and_version).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_counted_once_for_each_version() {
        let tree = "wharf v0.1.0 (/wharf)\nserde v1.0.0\nsyn v2.0.0\n\nsyn v3.0.0 (proc-macro)\n\
                    serde v1.0.0 (*)\nsyn v3.0.0\n";
        assert_eq!(count_packages(tree), 4);
    }
}

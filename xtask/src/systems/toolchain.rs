//! Debian's Rust, which builds the standard library for other systems from its source.
//!
//! It is called by its path and with its own target folder, so the toolchain that runs all other
//! checks stays as it is. The C code of dependencies is compiled by mingw for Windows and by zig for
//! macOS.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cargo::{Cargo, MissingTools};
use crate::program::Program;
use crate::tools::{self, PackageSet, Tools};

/// The packages of Debian: the compiler of its browsers, which is newer than our minimum, the
/// source of its standard library, a C compiler and linker for Windows, and Wine.
const PACKAGES: [&str; 7] = [
    "cargo-web",
    "gcc-mingw-w64-x86-64",
    "rust-web-clippy",
    "rust-web-src",
    "rustc-web",
    "wine",
    "wine64",
];

/// A C compiler for macOS.
const ZIG: PackageSet = PackageSet { folder: "zig", packages: &["ziglang==0.17.0"] };

const ZIG_PATH_SCRIPT: &str =
    "import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), 'zig'))";

const INSTALL_TIMEOUT: Duration = Duration::from_secs(900);

const QUERY_TIMEOUT: Duration = Duration::from_secs(60);

/// Enough for a build from nothing on two busy cores.
const BUILD_TIMEOUT: Duration = Duration::from_secs(3600);

/// Variables of rustup and of the cargo that started xtask; they name the other toolchain.
const OTHER_TOOLCHAIN: [&str; 5] =
    ["LD_LIBRARY_PATH", "RUSTC_WRAPPER", "RUSTDOC", "RUSTFLAGS", "RUSTUP_TOOLCHAIN"];

/// A system that Wharf is compiled for on Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Windows,
    MacOs,
}

impl Target {
    /// Returns the name that the compiler uses.
    pub(super) fn triple(self) -> &'static str {
        match self {
            Self::Windows => "x86_64-pc-windows-gnu",
            Self::MacOs => "aarch64-apple-darwin",
        }
    }
}

/// Installs the packages that are missing; returns why nothing can be checked, if that fails.
pub(super) fn missing(cargo: &Cargo) -> Option<String> {
    if let Some(why) = tools::missing_python() {
        return Some(why);
    }
    let missing = missing_packages();
    if missing.is_empty() {
        return None;
    }
    let names = missing.join(", ");
    println!("installing {names} …");
    let why = install(&missing).err()?;
    match cargo.missing_tools {
        MissingTools::Fail => eprintln!("{why}"),
        // On a developer's machine the packages are a wish, and the reason is noise.
        MissingTools::Skip => {}
    }
    Some(format!("these Debian packages are not installed: {names}"))
}

fn missing_packages() -> Vec<&'static str> {
    let is_installed = |package: &&str| {
        let query = ["--show", "--showformat=${Status}", *package];
        let answer = Program::new("dpkg-query", QUERY_TIMEOUT).args(query).capture();
        answer.is_ok_and(|answer| answer.stdout.ends_with(" installed"))
    };
    PACKAGES.into_iter().filter(|package| !is_installed(package)).collect()
}

fn install(packages: &[&str]) -> Result<(), String> {
    let apt_get = |arguments: &[&str]| {
        let program = Program::new("apt-get", INSTALL_TIMEOUT).args(arguments);
        program.env("DEBIAN_FRONTEND", "noninteractive").succeed().map(drop)
    };
    apt_get(&["update", "--quiet=2"])?;
    let options = ["install", "--quiet=2", "--yes", "--no-install-recommends"];
    apt_get(&[&options[..], packages].concat())
}

/// The cargo that compiles for other systems.
pub(super) struct CrossCargo {
    root: PathBuf,
    target_folder: PathBuf,
    zig: PathBuf,
    zig_cache: PathBuf,
}

impl CrossCargo {
    /// Installs what does not come from Debian.
    pub(super) fn install(cargo: &Cargo, tools: &Tools) -> Result<Self, String> {
        let python = tools::install_python(tools, &ZIG)?;
        let path = Program::new(python, QUERY_TIMEOUT).args(["-c", ZIG_PATH_SCRIPT]).succeed()?;
        Ok(Self {
            root: cargo.root().to_owned(),
            target_folder: cargo.root().join("target").join("systems"),
            zig: path.stdout.trim().into(),
            zig_cache: tools.folder().join("zig").join("cache"),
        })
    }

    /// Returns the folder of everything that is built here.
    pub(super) fn target_folder(&self) -> &Path {
        &self.target_folder
    }

    /// Lints all targets of the workspace; a warning is an error.
    pub(super) fn clippy(&self, target: Target) -> Program {
        self.program("/usr/bin/cargo-clippy")
            .args(["clippy", "--workspace", "--all-targets", "--locked"])
            .args(["-Zbuild-std=std,panic_unwind,test", "--target", target.triple()])
            .args(["--", "-D", "warnings"])
    }

    /// Runs a command of cargo for Windows.
    pub(super) fn windows(&self, arguments: &[&str]) -> Program {
        self.program("/usr/bin/cargo").args(arguments).args([
            "-Zbuild-std=std,panic_unwind,test",
            "--target",
            Target::Windows.triple(),
        ])
    }

    fn program(&self, path: &str) -> Program {
        let program = OTHER_TOOLCHAIN
            .iter()
            .fold(Program::new(path, BUILD_TIMEOUT), |program, name| program.without(name));
        program
            .folder(&self.root)
            .env("CARGO", "/usr/bin/cargo")
            .env("RUSTC", "/usr/bin/rustc")
            .env("CARGO_TARGET_DIR", &self.target_folder)
            // The standard library can be built only with the features of a nightly compiler.
            .env("RUSTC_BOOTSTRAP", "1")
            // Without debug information the programs are linked in half the time.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CC_aarch64_apple_darwin", self.root.join("xtask/src/systems/zig-cc.sh"))
            // There is no SDK of Apple, and the C code that is compiled needs none.
            .env("SDKROOT", "/")
            .env("ZIG", &self.zig)
            .env("ZIG_GLOBAL_CACHE_DIR", &self.zig_cache)
    }
}

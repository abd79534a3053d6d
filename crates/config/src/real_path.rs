//! Real paths: without links, and on Windows as other programs write them.
//!
//! There the system answers with `\\?\C:\…`. Many programs refuse such a path, it equals none
//! without the prefix, and `/` does not separate its parts. So the prefix is removed wherever the
//! path means the same without it.
//!
//! Paths on network shares are another matter: looking at one logs in at the host that it names, with
//! the credentials of the person. [`is_on_other_share`] is asked before a path of a project is
//! looked at.

use std::io;
use std::path::{Component, Path, PathBuf, Prefix};

/// Returns the absolute path of a file that exists, without links.
///
/// ```
/// let folder = std::env::temp_dir();
/// let real = wharf_config::real_path(&folder)?;
/// assert!(real.is_absolute() && !real.to_string_lossy().starts_with(r"\\?\"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Tells whether a path is on a network share or a device of Windows, and not on the one that
/// `folder` is on. Does not look at the path.
pub(crate) fn is_on_other_share(path: &Path, folder: &Path) -> bool {
    share(path).is_some_and(|own| share(folder) != Some(own))
}

/// Returns the share or the device of a path; none for a path on a drive, or without a drive.
fn share(path: &Path) -> Option<String> {
    let Some(Component::Prefix(prefix)) = path.components().next() else { return None };
    let text = |parts: [&std::ffi::OsStr; 2]| {
        parts.map(|part| part.to_string_lossy().to_lowercase()).join("\\")
    };
    match prefix.kind() {
        Prefix::Disk(_) | Prefix::VerbatimDisk(_) => None,
        Prefix::UNC(host, share) | Prefix::VerbatimUNC(host, share) => Some(text([host, share])),
        Prefix::Verbatim(name) => Some(text(["?".as_ref(), name])),
        Prefix::DeviceNS(name) => Some(text([".".as_ref(), name])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_path_has_no_parts_that_lead_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let real = real_path(folder.path()).unwrap();
        std::fs::create_dir(real.join("a")).unwrap();
        assert_eq!(real_path(&real.join("a").join("..")).unwrap(), real);
        assert!(real_path(&real.join("b")).is_err());
        assert!(!real.to_string_lossy().contains('?'));
    }

    #[cfg(windows)]
    #[test]
    fn a_path_is_on_another_share_unless_the_folder_is_on_it() {
        let check = |path: &str, folder: &str| is_on_other_share(path.as_ref(), folder.as_ref());
        for path in [
            r"\\host\share\a.exe",
            "//host/share/a.exe",
            r"\\?\UNC\host\share\a.exe",
            r"\\.\UNC\host\share\a.exe",
            r"\\.\pipe\x",
            r"\\?\GLOBALROOT\Device\Mup\host\share",
        ] {
            assert!(check(path, r"C:\project"), "{path}");
        }
        for path in [r"C:\a", r"\\?\C:\a", "a", r"..\a", r"\a", "/a"] {
            assert!(!check(path, r"C:\project") && !check(path, r"\\host\share\project"), "{path}");
        }
        assert!(!check(r"\\HOST\Share\a", r"\\host\share\project"));
        assert!(check(r"\\host\other\a", r"\\host\share\project"));
    }
}

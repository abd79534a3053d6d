//! Opens files without blocking, and only if they are regular files.
//!
//! Opening a pipe blocks until its other end is opened, and reading a device may never end. Both
//! can be at a path where a file is expected.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file with these options, without blocking. Fails if it is not a regular file.
///
/// ```
/// use std::fs::OpenOptions;
/// use wharf_config::store::open_regular;
///
/// let folder = std::env::temp_dir();
/// let error = open_regular(&folder, OpenOptions::new().read(true)).unwrap_err();
/// assert_eq!(error.to_string(), "it is a folder, not a file");
/// ```
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Opening a device may have side effects, so check the type before.
    if let Ok(metadata) = fs::metadata(path) {
        must_be_regular(metadata.file_type())?;
    }
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, O_NONBLOCK);
    let file = options.open(path)?;
    // The file may have been replaced since the check.
    must_be_regular(file.metadata()?.file_type())?;
    Ok(file)
}

fn must_be_regular(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    Err(io::Error::other(format!("it is {}, not a file", file_type_name(kind))))
}

#[cfg(unix)]
pub(super) fn file_type_name(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;

    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
pub(super) fn file_type_name(kind: FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "a device" }
}

/// The standard library does not define the flag; it is 0 on systems where its value is unknown.
#[cfg(unix)]
pub(super) const O_NONBLOCK: i32 = if cfg!(all(
    any(target_os = "linux", target_os = "android"),
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "x86", target_arch = "arm")
)) {
    0o4000
} else if cfg!(any(target_vendor = "apple", target_os = "freebsd", target_os = "openbsd")) {
    4
} else {
    0
};

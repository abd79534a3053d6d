//! Opens files of a person or of Wharf itself, which must be regular files.
//!
//! Opening a pipe waits until somebody opens its other end, reading a device may never end, and
//! both can stand where a file is expected. So nothing here waits, and only a regular file is
//! handed out.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file with these options, without ever waiting for it. Fails if it is not a regular file.
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
    // To open a device may already do something, so it is looked at before.
    if let Ok(metadata) = fs::metadata(path) {
        must_be_regular(metadata.file_type())?;
    }
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, O_NONBLOCK);
    let file = options.open(path)?;
    // What is opened may not be what was looked at.
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

/// The flag has no name in the standard library; where its value is not known it is left out.
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

//! Access lists of Windows with which only the owner can access a file or a folder.
//!
//! A new file there inherits the list of its folder. In the home folder that lets in the owner,
//! administrators and the system; elsewhere it is often everybody. So Wharf's own files and folders
//! get a list that inherits nothing. The system keeps its access, for backups and virus scanners.

use std::io;
use std::path::Path;

use windows_permissions::constants::{SeObjectType, SecurityInformation};
use windows_permissions::utilities::current_process_sid;
use windows_permissions::wrappers::SetNamedSecurityInfo;
use windows_permissions::{LocalBox, SecurityDescriptor};

const ERROR_INVALID_FUNCTION: i32 = 1;
const ERROR_NOT_SUPPORTED: i32 = 50;

/// Removes the access of other users to a file.
pub(super) fn restrict_file(path: &Path) -> io::Result<()> {
    restrict(path, "")
}

/// Removes the access of other users to a folder and to what is in it.
pub(super) fn restrict_folder(path: &Path) -> io::Result<()> {
    // Files and folders in it inherit the list.
    restrict(path, "OICI")
}

fn restrict(path: &Path, inheritance: &str) -> io::Result<()> {
    let owner = current_process_sid()?;
    // Protected from inheritance (`P`); full access (`FA`) for the owner and the system (`SY`).
    let list = format!("D:P(A;{inheritance};FA;;;{owner})(A;{inheritance};FA;;;SY)");
    let list: LocalBox<SecurityDescriptor> = list.parse()?;
    let what = SecurityInformation::Dacl | SecurityInformation::ProtectedDacl;
    let kind = SeObjectType::SE_FILE_OBJECT;
    match SetNamedSecurityInfo(path.as_os_str(), kind, what, None, None, list.dacl(), None) {
        // A file system without access lists has none to change.
        Err(error)
            if matches!(
                error.raw_os_error(),
                Some(ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED)
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use windows_permissions::wrappers::GetNamedSecurityInfo;

    use super::super::private_file;
    use super::*;

    /// Returns the users that a list allows something.
    fn allowed(path: &Path) -> Vec<String> {
        let kind = SeObjectType::SE_FILE_OBJECT;
        let list = GetNamedSecurityInfo(path.as_os_str(), kind, SecurityInformation::Dacl).unwrap();
        let text = list.as_sddl().unwrap().to_string_lossy().into_owned();
        let entries = text.split('(').skip(1).filter(|entry| entry.starts_with("A;"));
        // The user is the last part of an entry.
        let users = entries.filter_map(|entry| entry.trim_end_matches(')').rsplit(';').next());
        users.map(str::to_owned).collect()
    }

    fn is_for_owner_only(path: &Path) -> bool {
        let owner = current_process_sid().unwrap().to_string();
        let users = allowed(path);
        // Wine shows the account of administrators and well-known users by their short names.
        !users.is_empty()
            && users.iter().all(|user| *user == owner || ["SY", "LA", "BA"].contains(&&**user))
    }

    #[test]
    fn files_and_folders_are_only_for_their_owner() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        std::fs::create_dir(&open).unwrap();
        let everybody: LocalBox<SecurityDescriptor> = "D:P(A;OICI;FA;;;WD)".parse().unwrap();
        let what = SecurityInformation::Dacl | SecurityInformation::ProtectedDacl;
        let kind = SeObjectType::SE_FILE_OBJECT;
        SetNamedSecurityInfo(open.as_os_str(), kind, what, None, None, everybody.dacl(), None)
            .unwrap();
        assert!(!is_for_owner_only(&open), "otherwise the test proves nothing");

        let below = |name: &str| open.join(name);
        private_file::replace(&below("cache"), b"x").unwrap();
        private_file::write(&below("trust.json"), "x").unwrap();
        drop(private_file::open_new(&below("log")).unwrap());
        private_file::create_folder(&below("deep/folder")).unwrap();
        for name in ["cache", "trust.json", "log", "deep", "deep/folder"] {
            assert!(is_for_owner_only(&below(name)), "{name}: {:?}", allowed(&below(name)));
        }
        private_file::restrict_folder(&open).unwrap();
        assert!(is_for_owner_only(&open));
    }
}

//! Tests of reading, writing, backups and the lock, with real files.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use tempfile::TempDir;

use super::*;

/// Writes a file without the store, as another program would.
#[expect(clippy::disallowed_methods, reason = "it is the atomic writer that is tested")]
fn put(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).unwrap();
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    (folder, file)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Replaces the folder's name in a text, and separators by those of Unix.
fn without_folder(folder: &TempDir, text: &str) -> String {
    let text = text.replace(&folder.path().display().to_string(), "[folder]");
    text.replace(std::path::MAIN_SEPARATOR, "/")
}

/// Renders the error of reading a file, with the folder's name replaced.
fn describe_error(folder: &TempDir, file: &Path) -> String {
    let error = read(file).unwrap_err();
    let problem = error.as_problem();
    assert_eq!(problem.path.as_deref(), Some(file));
    let line = problem.line.map_or_else(String::new, |line| format!(" line {line}"));
    let all = format!("{}{line}: {} | {error} | {}", problem.code, problem.message, error.hint());
    without_folder(folder, &all)
}

#[test]
fn reading_a_missing_file_returns_none() {
    let (_folder, file) = folder();
    assert_eq!(read(&file).unwrap(), None);
    put(&file, "x");
    assert_eq!(read(&file.join("below-a-file")).unwrap(), None);
}

#[test]
fn a_written_text_is_read_back() {
    let (folder, file) = folder();
    write(&file, "one").unwrap();
    write(&file, "two\r\n").unwrap();
    assert_eq!(read(&file).unwrap().as_deref(), Some("two\r\n"));
    assert_eq!(names(folder.path()), ["mcp.json"]);
}

#[test]
fn a_folder_is_not_a_file() {
    let (folder, file) = folder();
    fs::create_dir(&file).unwrap();
    insta::assert_snapshot!(describe_error(&folder, &file), @r#"not-a-file: "mcp.json" is a folder, not a file | "[folder]/mcp.json" is a folder, not a file | move it away, or put a file in its place"#);
    assert!(write(&file, "x").is_err());
    assert!(back_up(&file).is_err());
}

#[test]
fn a_file_over_the_size_limit_is_refused() {
    let (folder, file) = folder();
    fs::File::create(&file).unwrap().set_len(MAX_FILE_BYTES).unwrap();
    assert_eq!(read(&file).unwrap().unwrap().len() as u64, MAX_FILE_BYTES);
    fs::File::create(&file).unwrap().set_len(MAX_FILE_BYTES + 1).unwrap();
    insta::assert_snapshot!(describe_error(&folder, &file), @r#"too-large: "mcp.json" is larger than 16 MiB | "[folder]/mcp.json" is larger than 16 MiB | make the file smaller"#);
}

#[test]
fn the_line_of_the_first_byte_that_is_not_utf8_is_named() {
    let (folder, file) = folder();
    put(&file, b"{\n\n  \"a\": \"\xff\"\n}");
    insta::assert_snapshot!(describe_error(&folder, &file), @r#"not-utf8 line 3: "mcp.json" is not valid UTF-8 (line 3) | "[folder]/mcp.json" is not valid UTF-8 (line 3) | save it as UTF-8; line 3 is not"#);
}

#[test]
fn backups_are_rotated_and_the_newest_five_kept() {
    let (folder, file) = folder();
    assert_eq!(back_up(&file).unwrap(), None);
    for round in 0..8 {
        put(&file, format!("{round}"));
        let copy = back_up(&file).unwrap().unwrap();
        assert_eq!(read(&copy).unwrap(), Some(format!("{round}")));
        assert_eq!(back_up(&file).unwrap(), Some(copy));
    }
    let copies: Vec<String> = names(folder.path())
        .into_iter()
        .map(|name| format!("{name}: {}", read(&folder.path().join(&name)).unwrap().unwrap()))
        .collect();
    insta::assert_snapshot!(copies.join("\n"), @"
    mcp.json: 7
    mcp.json.wharf-backup: 7
    mcp.json.wharf-backup.1: 6
    mcp.json.wharf-backup.2: 5
    mcp.json.wharf-backup.3: 4
    mcp.json.wharf-backup.4: 3
    ");
}

#[test]
fn a_failed_write_keeps_the_old_file_and_leaves_no_other() {
    let (folder, file) = folder();
    put(&file, "old");
    let error = write(&file.join("mcp.json"), "new").unwrap_err();
    let text = format!("{error} | {}", error.hint());
    insta::assert_snapshot!(without_folder(&folder, &text), @r#""[folder]/mcp.json/mcp.json" cannot be written | "[folder]/mcp.json" must be a folder; move away what is there"#);
    assert_eq!(error.as_problem().code, "unwritable");
    assert_eq!(read(&file).unwrap().as_deref(), Some("old"));
    assert_eq!(names(folder.path()), ["mcp.json"]);
}

#[test]
fn the_next_write_removes_temporary_files_of_a_crashed_one() {
    let (folder, file) = folder();
    let old = folder.path().join(".mcp.json.abc123.wharf-tmp");
    put(&old, "half");
    let then = SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&old).unwrap().set_modified(then).unwrap();
    put(&folder.path().join(".mcp.json.fresh1.wharf-tmp"), "another process is writing this");
    put(&folder.path().join(".other.json.abc123.wharf-tmp"), "of another file");
    write(&file, "new").unwrap();
    let left = [".mcp.json.fresh1.wharf-tmp", ".other.json.abc123.wharf-tmp", "mcp.json"];
    assert_eq!(names(folder.path()), left);
}

#[test]
fn a_held_lock_is_reported_as_busy() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("home/run");
    let held = WriteLock::acquire(&run, Duration::ZERO).unwrap();
    let error = WriteLock::acquire(&run, Duration::from_millis(30)).unwrap_err();
    assert!(error.is_busy());
    let text = format!("{error} | {}", error.hint());
    insta::assert_snapshot!(without_folder(&folder, &text), @r#""[folder]/home/run/write.lock" is locked by another Wharf process, for longer than 30ms | try again when the other process is done"#);
    drop(held);
    WriteLock::acquire(&run, Duration::ZERO).unwrap();
}

#[test]
fn concurrent_writers_lose_no_update() {
    let (folder, file) = folder();
    let run = folder.path().join("run");
    let count = || {
        for _ in 0..100 {
            let _lock = WriteLock::acquire(&run, Duration::from_secs(30)).unwrap();
            let number: u32 = read(&file).unwrap().map_or(0, |text| text.parse().unwrap());
            write(&file, &(number + 1).to_string()).unwrap();
        }
    };
    thread::scope(|scope| {
        scope.spawn(count);
        scope.spawn(count);
    });
    assert_eq!(read(&file).unwrap().as_deref(), Some("200"));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_new_file_and_its_new_folders_are_for_the_owner_only() {
        let (folder, _) = folder();
        let file = folder.path().join("a/b/mcp.json");
        write(&file, "x").unwrap();
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(&folder.path().join("a/b")), 0o700);
        assert_eq!(mode(&folder.path().join("a")), 0o700);
        let run = folder.path().join("home/run");
        WriteLock::acquire(&run, Duration::ZERO).unwrap();
        assert_eq!((mode(&run), mode(&folder.path().join("home"))), (0o700, 0o700));
        assert_eq!(mode(&run.join("write.lock")), 0o600);
    }

    #[test]
    fn a_write_and_a_backup_keep_the_mode_of_the_file() {
        let (_folder, file) = folder();
        for kept in [0o644, 0o600, 0o664, 0o755] {
            put(&file, format!("{kept}"));
            set_mode(&file, kept);
            let copy = back_up(&file).unwrap().unwrap();
            write(&file, "x").unwrap();
            assert_eq!((mode(&file), mode(&copy)), (kept, kept));
        }
    }

    #[test]
    fn a_read_only_file_is_not_replaced() {
        let (folder, file) = folder();
        put(&file, "old");
        set_mode(&file, 0o444);
        let error = write(&file, "new").unwrap_err();
        let text = format!("{error} | {}", error.hint());
        let text = text.replace(&folder.path().display().to_string(), "[folder]");
        insta::assert_snapshot!(text, @r#""[folder]/mcp.json" is read-only | make it writable, or edit the file it is generated from"#);
        assert_eq!(read(&file).unwrap().as_deref(), Some("old"));
    }

    #[test]
    fn links_are_followed_even_to_a_file_that_does_not_exist_yet() {
        let (folder, file) = folder();
        fs::create_dir(folder.path().join("real")).unwrap();
        symlink("second", &file).unwrap();
        symlink("real/new/mcp.json", folder.path().join("second")).unwrap();
        insta::assert_snapshot!(describe_error(&folder, &file), @r#"dangling-link: "mcp.json" is a link to "[folder]/real/new/mcp.json", which does not exist | "[folder]/mcp.json" is a link to "[folder]/real/new/mcp.json", which does not exist | create "[folder]/real/new/mcp.json", or remove the link"#);
        for text in ["created", "replaced"] {
            write(&file, text).unwrap();
            assert!(file.is_symlink());
            let real = folder.path().join("real/new/mcp.json");
            assert_eq!(read(&real).unwrap().as_deref(), Some(text));
        }
        assert_eq!(back_up(&file).unwrap(), Some(folder.path().join("mcp.json.wharf-backup")));
    }

    #[test]
    fn a_link_loop_is_an_error() {
        let (folder, file) = folder();
        symlink("other", &file).unwrap();
        symlink("mcp.json", folder.path().join("other")).unwrap();
        insta::assert_snapshot!(describe_error(&folder, &file), @r#"link-loop: "mcp.json" is a symbolic link to itself | "[folder]/mcp.json" is a symbolic link to itself | remove the link"#);
        assert_eq!(write(&file, "x").unwrap_err().as_problem().code, "link-loop");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the standard library cannot make a pipe")]
    fn reading_a_pipe_does_not_wait_for_a_writer() {
        let (folder, file) = folder();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        insta::assert_snapshot!(describe_error(&folder, &file), @r#"not-a-file: "mcp.json" is a pipe, not a file | "[folder]/mcp.json" is a pipe, not a file | move it away, or put a file in its place"#);
        assert!(write(&file, "x").is_err());
    }

    #[test]
    fn sockets_and_devices_are_refused() {
        let (folder, file) = folder();
        let _listener = UnixListener::bind(&file).unwrap();
        insta::assert_snapshot!(describe_error(&folder, &file), @r#"not-a-file: "mcp.json" is a socket, not a file | "[folder]/mcp.json" is a socket, not a file | move it away, or put a file in its place"#);
        let null = read(Path::new("/dev/null")).unwrap_err();
        assert_eq!(null.to_string(), "\"/dev/null\" is a device, not a file");
        assert!(write(Path::new("/dev/null"), "x").is_err());
    }
}

//! Folders, sockets, pipes, devices and links in place of a config file; files that are unreadable.

use std::fs::{self, File};

use insta::assert_snapshot;

use super::world;
use crate::world::CANARY;
#[cfg(unix)]
use crate::world::World;

const CURSOR: &str = "~/.cursor/mcp.json";

#[test]
fn a_file_of_50_mb_is_a_problem_and_is_not_read() {
    let world = world();
    let file = File::create(world.new_path(CURSOR)).expect("a file");
    file.set_len(50 * 1024 * 1024).expect("a size");
    assert_snapshot!(world.show_problems(), @r#"error too-large ~/.cursor/mcp.json: "mcp.json" is larger than 16 MiB (make the file smaller)"#);
}

#[test]
fn a_folder_is_a_problem() {
    let world = world();
    fs::create_dir_all(world.path(CURSOR)).expect("a folder");
    assert_snapshot!(world.show_problems(), @r#"error not-a-file ~/.cursor/mcp.json: "mcp.json" is a folder, not a file (move it away, or put a file in its place)"#);
}

#[test]
fn a_file_in_place_of_a_folder_is_ignored() {
    assert_eq!(world().with("~/.cursor", CANARY).show_problems(), "");
}

#[cfg(unix)]
mod unix {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    use super::*;

    fn linked(target: &Path) -> World {
        let world = world();
        symlink(target, world.new_path(CURSOR)).expect("a link");
        world
    }

    #[test]
    fn a_socket_is_a_problem() {
        let world = world();
        // The path of a socket is short; the temporary folder's may not be.
        let short = world.root().join("s");
        let _listener = UnixListener::bind(&short).expect("a socket");
        symlink(&short, world.new_path(CURSOR)).expect("a link");
        assert_snapshot!(world.show_problems(), @r#"error not-a-file ~/.cursor/mcp.json: "mcp.json" is a socket, not a file (move it away, or put a file in its place)"#);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pipe_is_a_problem_and_does_not_block() {
        // The other end stays open, so a read would block for ever.
        let (reader, _writer) = std::io::pipe().expect("a pipe");
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        assert_snapshot!(linked(Path::new(&path)).show_problems(), @r#"error not-a-file ~/.cursor/mcp.json: "mcp.json" is a pipe, not a file (move it away, or put a file in its place)"#);
    }

    #[test]
    fn an_endless_device_is_a_problem() {
        assert_snapshot!(linked(Path::new("/dev/zero")).show_problems(), @r#"error not-a-file ~/.cursor/mcp.json: "mcp.json" is a device, not a file (move it away, or put a file in its place)"#);
    }

    #[test]
    fn a_dangling_symlink_is_a_problem() {
        let world = world();
        symlink(world.path("~/gone.json"), world.new_path(CURSOR)).expect("a link");
        assert_snapshot!(world.show_problems(), @r#"error dangling-link ~/.cursor/mcp.json: "mcp.json" is a link to "~/gone.json", which does not exist (create "~/gone.json", or remove the link)"#);
    }

    #[test]
    fn a_symlink_loop_is_a_problem() {
        let world = world();
        symlink(world.path("~/other"), world.new_path(CURSOR)).expect("a link");
        symlink(world.path(CURSOR), world.path("~/other")).expect("a link");
        assert_snapshot!(world.show_problems(), @r#"error link-loop ~/.cursor/mcp.json: "mcp.json" is a symbolic link to itself (remove the link)"#);
    }

    #[test]
    fn a_symlink_to_a_valid_file_is_followed() {
        let world = world().with("~/dotfiles/mcp.json", r#"{ "mcpServers": {} }"#);
        symlink(world.path("~/dotfiles/mcp.json"), world.new_path(CURSOR)).expect("a link");
        assert_eq!(world.show_problems(), "");
    }

    #[test]
    fn a_file_that_may_not_be_read_is_a_problem() {
        let world = world().with(CURSOR, CANARY);
        let path = world.path(CURSOR);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("a mode");
        // The superuser may read everything.
        if fs::read(&path).is_err() {
            assert_snapshot!(world.show_problems(), @"error unreadable ~/.cursor/mcp.json: \"mcp.json\" cannot be read: Permission denied (os error 13) (check its permissions)");
        }
    }

    #[test]
    fn a_folder_that_may_not_be_read_is_a_problem_or_nothing() {
        let world = world().with(CURSOR, r#"{ "mcpServers": {} }"#);
        let folder = world.path("~/.cursor");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).expect("a mode");
        let rendered = world.show_problems();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).expect("a mode");
        assert!(rendered.is_empty() || rendered.contains("Permission denied"), "{rendered}");
    }
}

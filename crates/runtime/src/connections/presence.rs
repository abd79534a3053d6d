//! A mark on disk for as long as local servers may run, so that nobody has to search for what a
//! killed Wharf left behind unless one was killed.
//!
//! The mark is a file of its own with a lock on it, which the system lets go of when its owner dies.
//! It is removed when everything has ended in order. So a mark that can be locked is left over, and
//! a sign that processes may be, too: then the system's list of processes is worth reading.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wharf_config::store::{open_regular, private_file};

/// What the names of marks begin with; other files in the folder are not ours.
const PREFIX: &str = "servers-";

/// How many marks of others are taken at a time: who is killed all the time is cleaned up bit by bit.
const MOST: usize = 64;

/// The mark of one runtime. It stays if this is dropped without [`Presence::end`].
pub(crate) struct Presence {
    folder: Option<PathBuf>,
    own: Mutex<Own>,
}

enum Own {
    NotYet,
    Marked(Mark),
    /// It could not be made, and it is not tried again with every server.
    Without,
    Ended,
}

/// A mark on disk whose lock we hold.
pub(super) struct Mark {
    path: PathBuf,
    /// Closing it is what unlocks.
    _file: File,
}

impl Presence {
    /// Leaves marks in this folder; without one it leaves none, and finds none.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        // Elsewhere nothing that was left behind can be found, so it need not be marked.
        let folder = folder.filter(|_| cfg!(target_os = "linux"));
        Self { folder, own: Mutex::new(Own::NotYet) }
    }

    /// Leaves the mark, with the first process that is started. Later times cost nothing.
    pub(super) fn begin(&self) {
        let mut own = self.own();
        let (Own::NotYet, Some(folder)) = (&*own, &self.folder) else { return };
        *own = match Mark::make(folder) {
            Ok(mark) => Own::Marked(mark),
            Err(error) => {
                tracing::debug!(%error, "could not leave a mark for the next start");
                Own::Without
            }
        };
    }

    /// Takes the mark away, when everything has ended in order.
    pub(super) fn end(&self) {
        if let Own::Marked(mark) = std::mem::replace(&mut *self.own(), Own::Ended) {
            mark.remove();
        }
    }

    /// Returns the marks of those who died; nobody else gets them while they are held.
    pub(super) fn left_over(&self) -> Vec<Mark> {
        let Some(Ok(entries)) = self.folder.as_ref().map(fs::read_dir) else { return Vec::new() };
        let is_mark = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(PREFIX))
        };
        let paths = entries.flatten().map(|entry| entry.path()).filter(is_mark);
        paths.filter_map(Mark::of_the_dead).take(MOST).collect()
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mark {
    fn make(folder: &Path) -> io::Result<Self> {
        let mut tries = 0;
        loop {
            tries += 1;
            let path = folder.join(format!("{PREFIX}{}", private_file::random_id()?));
            let file = private_file::open_new(&path)?;
            // Somebody may have taken it for left over before it was locked.
            if file.try_lock().is_ok() && path.exists() {
                return Ok(Self { path, _file: file });
            }
            if tries == 3 {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
        }
    }

    /// Takes a mark whose owner is gone.
    fn of_the_dead(path: PathBuf) -> Option<Self> {
        // Over a network only what may be written can be locked for oneself.
        let file = open_regular(&path, OpenOptions::new().write(true)).ok()?;
        file.try_lock().ok()?;
        Some(Self { path, _file: file })
    }

    /// Removes it, while it is still locked.
    pub(super) fn remove(self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, "could not remove a mark");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn marks(folder: &Path) -> usize {
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    #[test]
    fn a_mark_is_there_from_the_first_server_to_the_end() {
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("a/run");
        let presence = Presence::new(Some(run.clone()));
        assert!(!run.exists());
        presence.begin();
        presence.begin();
        assert_eq!(marks(&run), 1);
        presence.end();
        presence.begin();
        assert_eq!(marks(&run), 0);
        Presence::new(None).begin();
    }

    #[test]
    fn a_mark_is_left_over_once_its_owner_is_gone() {
        let run = tempfile::tempdir().unwrap();
        let other = Presence::new(Some(run.path().to_owned()));
        other.begin();
        File::create(run.path().join("write.lock")).unwrap();
        let presence = Presence::new(Some(run.path().to_owned()));
        presence.begin();
        assert!(presence.left_over().is_empty(), "both are alive");
        drop(other);
        let left = presence.left_over();
        assert_eq!(left.len(), 1);
        assert!(presence.left_over().is_empty(), "somebody is at it");
        drop(left);
        let left = presence.left_over();
        assert_eq!(left.len(), 1, "who gives up leaves it to the next");
        left.into_iter().for_each(Mark::remove);
        assert!(presence.left_over().is_empty());
        presence.end();
        assert_eq!(marks(run.path()), 1, "other files stay");
    }

    #[test]
    fn the_dead_are_found_among_many_who_live() {
        let run = tempfile::tempdir().unwrap();
        let begin = |_| {
            let presence = Presence::new(Some(run.path().to_owned()));
            presence.begin();
            presence
        };
        let alive: Vec<Presence> = (0..3 * MOST).map(begin).collect();
        let finds = |many: usize| {
            // A process that another test starts holds what is open here for a moment.
            let deadline = Instant::now() + Duration::from_secs(5);
            while alive[0].left_over().len() != many {
                assert!(Instant::now() < deadline, "{many} are left over");
                std::thread::yield_now();
            }
        };
        (0..5).map(begin).for_each(drop);
        finds(5);
        (0..MOST).map(begin).for_each(drop);
        // The others are for the next time.
        finds(MOST);
    }

    #[test]
    fn where_no_mark_can_be_left_nothing_else_is_lost() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let presence = Presence::new(Some(file.path().join("run")));
        presence.begin();
        presence.begin();
        assert!(presence.left_over().is_empty());
        presence.end();
    }
}

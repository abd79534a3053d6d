//! Many small texts in one file: an index in the first line, then the texts one after the other.
//!
//! With a hundred servers, a file for each would cost more than connecting to them. The file is only
//! ever replaced as a whole, under a lock: a reader meets the old one or the new one, and what two
//! processes add at a time is kept.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytestring::ByteString;
use serde::{Deserialize, Serialize};
use wharf_config::store::open_regular;

use super::files::{self, Turn};
use super::written::Pieces;

const VERSION: u32 = 1;

/// For how long a loss counts. Afterwards nobody can tell what was lost, and whoever is new would be
/// suspected for ever.
const LOSS_COUNTS: Duration = Duration::from_secs(90 * 24 * 3600);

/// The most bytes of the index, and of one text.
const MOST_INDEX_BYTES: u64 = 16 << 20;
const MOST_BYTES: u64 = 16 << 20;

/// A file of many texts, each under its key.
#[derive(Debug)]
pub(super) struct Pack {
    path: PathBuf,
    /// Whether a change waits for the disk, if there is anything to lose.
    is_forced: bool,
    /// What was last read, as long as nobody replaces the file.
    opened: Mutex<Option<Arc<Opened>>>,
}

/// What there is under a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Text(ByteString),
    Nothing,
    /// There may have been something, but it cannot be read.
    Damaged,
}

/// A text that is to be put in.
#[derive(Debug)]
pub(super) struct Put {
    pub(super) key: String,
    pub(super) saved: SystemTime,
    /// How many things are in it; the index tells that without reading the text.
    pub(super) count: usize,
    pub(super) text: Pieces,
}

/// What the index says about a text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct About {
    key: String,
    /// Seconds since 1970.
    saved: u64,
    pub(super) bytes: u64,
    pub(super) count: usize,
}

impl About {
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Returns how long ago it was saved.
    pub(super) fn age(&self) -> Duration {
        Duration::from_secs(seconds(SystemTime::now()).saturating_sub(self.saved))
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Index {
    version: u32,
    /// What the keys of this file were made with, in a form that gives nothing away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seal: Option<String>,
    /// When the file was found damaged, in seconds since 1970: who is not in here may have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    texts: Vec<About>,
}

impl Index {
    fn has_lost(&self) -> bool {
        let age = |lost| Duration::from_secs(seconds(SystemTime::now()).saturating_sub(lost));
        self.lost.is_some_and(|lost| age(lost) <= LOSS_COUNTS)
    }
}

#[derive(Debug)]
struct Opened {
    stamp: Stamp,
    /// With the texts in the order of the file.
    index: Index,
    /// Key → which text, and where it begins.
    places: HashMap<String, (usize, u64)>,
    file: Mutex<File>,
}

/// What is to become of a pack.
#[derive(Debug, Default)]
pub(super) struct Change {
    /// What comes in, in place of what is under the same keys.
    pub(super) puts: Vec<Put>,
    /// The keys of what goes.
    pub(super) gone: Vec<String>,
}

/// A pack while nobody else can change it.
pub(super) struct Current<'a>(Option<&'a Opened>);

impl Current<'_> {
    /// Returns the text under a key.
    pub(super) fn get(&self, key: &str) -> Found {
        self.0.map_or(Found::Nothing, |opened| opened.get(key))
    }

    /// Returns what there is, the oldest first.
    pub(super) fn texts(&self) -> &[About] {
        self.0.map_or(&[], |opened| &opened.index.texts)
    }
}

impl Pack {
    /// Uses a file; nothing is read or made yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, is_forced: false, opened: Mutex::default() }
    }

    /// Lets changes wait until they are on the disk.
    pub(super) fn forced(self) -> Self {
        Self { is_forced: true, ..self }
    }

    /// Returns the text under a key. With another seal than it was written with, the file is damaged.
    pub(super) fn get(&self, seal: Option<&str>, key: &str) -> Found {
        match self.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
            Ok(opened) if opened.is_sealed_by(seal) => opened.get(key),
            _ => Found::Damaged,
        }
    }

    /// Returns what the index says about the newest text that is like this.
    pub(super) fn newest(&self, is_like: impl Fn(&About) -> bool) -> Option<About> {
        let opened = self.open().ok()?;
        opened.index.texts.iter().rfind(|text| is_like(text)).cloned()
    }

    /// Tells whether there is such a text.
    pub(super) fn has(&self, such: impl Fn(&About) -> bool) -> bool {
        self.open().is_ok_and(|opened| opened.index.texts.iter().any(such))
    }

    /// Changes what is in the file, by what `decide` makes of what is there. Blocks until it is one's
    /// turn, and for as long as the disk takes.
    pub(super) fn change(
        &self,
        turn: &Turn<'_>,
        seal: Option<&str>,
        decide: impl FnOnce(&Current<'_>) -> Change,
    ) -> io::Result<()> {
        turn.take()?;
        self.path.parent().into_iter().for_each(files::forget_left_behind);
        let (earlier, is_lost) = match self.open() {
            Ok(opened) if opened.is_sealed_by(seal) => (Some(opened), false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (None, false),
            Ok(_) => (None, true),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => (None, true),
            Err(error) => return Err(error),
        };
        let Change { puts, gone } = decide(&Current(earlier.as_deref()));
        if puts.is_empty() && gone.is_empty() {
            return Ok(());
        }
        let lost = match &earlier {
            Some(opened) => opened.index.lost,
            None => is_lost.then(|| seconds(SystemTime::now())),
        };
        let texts = earlier.iter().flat_map(|opened| &opened.index.texts);
        let leaves: HashSet<&str> = puts
            .iter()
            .map(|put| put.key.as_str())
            .chain(gone.iter().map(String::as_str))
            .collect();
        let kept: Vec<&About> = texts.filter(|text| !leaves.contains(&*text.key)).collect();
        let texts = kept.iter().copied().cloned().chain(puts.iter().map(Put::about)).collect();
        let index = Index { version: VERSION, seal: seal.map(str::to_owned), lost, texts };
        let mut line = serde_json::to_vec(&index)?;
        line.push(b'\n');
        if line.len() as u64 > MOST_INDEX_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let replaced = files::replace(&self.path, |file| {
            file.write_all(&line)?;
            if let Some(earlier) = &earlier {
                earlier.copy(&kept, file)?;
            }
            let mut out = BufWriter::with_capacity(64 << 10, &mut *file);
            puts.iter().try_for_each(|put| put.text.write_to(&mut out))?;
            out.flush()?;
            drop(out);
            if self.is_forced && earlier.is_some() { file.sync_data() } else { Ok(()) }
        });
        // Where a file has no number of its own, the new one may look like the old one.
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        replaced
    }

    /// Removes the file; returns the keys that were in it. Whoever does so holds the folder's lock.
    pub(super) fn clear(&self) -> io::Result<Vec<String>> {
        let texts = self.open();
        let keys = texts.iter().flat_map(|opened| &opened.index.texts).map(|text| text.key.clone());
        let keys = keys.collect();
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(keys),
        }
    }

    /// Opens the file, or returns what is open already if it is still the same.
    fn open(&self) -> io::Result<Arc<Opened>> {
        let stamp = Stamp::of(&fs::metadata(&self.path)?);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.as_ref().filter(|opened| opened.stamp == stamp) {
            return Ok(Arc::clone(opened));
        }
        let fresh = Arc::new(Opened::read_from(&self.path)?);
        *opened = Some(Arc::clone(&fresh));
        Ok(fresh)
    }
}

impl Put {
    fn about(&self) -> About {
        let (key, saved) = (self.key.clone(), seconds(self.saved));
        About { key, saved, bytes: self.text.len() as u64, count: self.count }
    }
}

impl Opened {
    fn read_from(path: &Path) -> io::Result<Self> {
        let damaged = || io::Error::from(io::ErrorKind::InvalidData);
        let mut file = open_regular(path, OpenOptions::new().read(true))?;
        let about = file.metadata()?;
        let mut line = Vec::new();
        BufReader::with_capacity(32 << 10, &mut file)
            .take(MOST_INDEX_BYTES)
            .read_until(b'\n', &mut line)?;
        let index: Index = serde_json::from_slice(&line).map_err(|_| damaged())?;
        let mut start = line.len() as u64;
        let mut places = HashMap::with_capacity(index.texts.len());
        for (number, text) in index.texts.iter().enumerate() {
            places.insert(text.key.clone(), (number, start));
            start = start.checked_add(text.bytes).ok_or_else(damaged)?;
        }
        if index.version != VERSION || start != about.len() {
            return Err(damaged());
        }
        Ok(Self { stamp: Stamp::of(&about), index, places, file: Mutex::new(file) })
    }

    fn is_sealed_by(&self, seal: Option<&str>) -> bool {
        seal.is_none() || self.index.seal.as_deref() == seal
    }

    fn get(&self, key: &str) -> Found {
        match self.places.get(key) {
            Some(&(index, start)) => {
                let text = self.read(start, self.index.texts[index].bytes);
                text.map_or(Found::Damaged, Found::Text)
            }
            None if self.index.has_lost() => Found::Damaged,
            None => Found::Nothing,
        }
    }

    fn read(&self, start: u64, bytes: u64) -> Option<ByteString> {
        let mut text = vec![0; usize::try_from(bytes.min(MOST_BYTES + 1)).ok()?];
        if text.len() as u64 > MOST_BYTES {
            return None;
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(start)).ok()?;
        file.read_exact(&mut text).ok()?;
        String::from_utf8(text).ok().map(ByteString::from)
    }

    /// Copies some of the texts, in the order of the file.
    fn copy(&self, texts: &[&About], out: &mut File) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for &About { key, bytes, .. } in texts {
            let (_, start) = self.places[key];
            file.seek(SeekFrom::Start(start))?;
            if io::copy(&mut Read::by_ref(&mut *file).take(*bytes), out)? != *bytes {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }
}

/// Which file it is; one that was replaced has another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    inode: Option<u64>,
}

impl Stamp {
    fn of(about: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = Some(std::os::unix::fs::MetadataExt::ino(about));
        #[cfg(not(unix))]
        let inode = None;
        Self { bytes: about.len(), modified: about.modified().ok(), inode }
    }
}

/// Returns the seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(pack: &Pack) -> Turn<'_> {
        Turn::new(pack.path.parent(), files::LOCK_WAIT)
    }

    fn put(key: &str, text: &str) -> Put {
        let mut pieces = Pieces::default();
        pieces.push(text.to_owned());
        Put { key: key.to_owned(), saved: SystemTime::now(), count: text.len(), text: pieces }
    }

    fn text(text: &'static str) -> Found {
        Found::Text(text.into())
    }

    fn put_all(pack: &Pack, puts: Vec<Put>) {
        pack.change(&turn(pack), None, |_| Change { puts, gone: Vec::new() }).unwrap();
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/pack");
        (folder, path)
    }

    #[test]
    fn texts_come_back_and_are_replaced_one_by_one() {
        let (_folder, path) = place();
        let pack = Pack::new(path.clone());
        assert_eq!(pack.get(None, "a"), Found::Nothing);
        put_all(&pack, vec![put("a", "one\n"), put("b", "zwölf"), put("c", "")]);
        put_all(&pack, vec![put("a", "another")]);
        for pack in [&pack, &Pack::new(path)] {
            assert_eq!(pack.get(None, "a"), text("another"));
            assert_eq!(pack.get(None, "b"), text("zwölf"));
            assert_eq!(pack.get(None, "c"), text(""));
            assert_eq!(pack.get(None, "d"), Found::Nothing);
            assert_eq!(pack.newest(|text| text.key() == "b").unwrap().count, 6);
        }
        assert_eq!(pack.clear().unwrap().len(), 3);
        assert_eq!(pack.get(None, "a"), Found::Nothing);
        assert_eq!(pack.clear().unwrap().len(), 0);
    }

    #[test]
    fn what_is_not_to_be_kept_is_gone() {
        let (_folder, path) = place();
        let pack = Pack::new(path);
        put_all(&pack, vec![put("a", "one"), put("b", "two")]);
        assert!(pack.has(|about| about.key == "a"));
        let gone = vec!["a".to_owned()];
        pack.change(&turn(&pack), None, |_| Change { puts: Vec::new(), gone }).unwrap();
        assert!(!pack.has(|about| about.key == "a"));
        assert_eq!((pack.get(None, "a"), pack.get(None, "b")), (Found::Nothing, text("two")));
    }

    #[test]
    fn another_process_is_seen_and_nothing_of_it_is_lost() {
        let (_folder, path) = place();
        let (one, other) = (Pack::new(path.clone()), Pack::new(path));
        put_all(&one, vec![put("a", "one")]);
        assert_eq!(other.get(None, "a"), text("one"));
        std::thread::scope(|scope| {
            for (name, pack) in [("x", &one), ("y", &other)] {
                scope.spawn(move || {
                    for round in 0..20 {
                        put_all(pack, vec![put(&format!("{name}{round}"), name)]);
                    }
                });
            }
        });
        for round in 0..20 {
            assert_eq!(one.get(None, &format!("y{round}")), text("y"));
            assert_eq!(other.get(None, &format!("x{round}")), text("x"));
        }
    }

    #[test]
    fn a_damaged_file_is_noticed_and_remembered_as_a_loss() {
        let (_folder, path) = place();
        let pack = Pack::new(path.clone());
        put_all(&pack, vec![put("a", "one"), put("b", "two")]);
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            files::put(&path, &whole[..length]).unwrap();
            assert_eq!(pack.get(None, "a"), Found::Damaged, "{length}");
        }
        put_all(&pack, vec![put("c", "three")]);
        assert_eq!((pack.get(None, "a"), pack.get(None, "c")), (Found::Damaged, text("three")));
    }

    #[test]
    fn another_seal_means_that_the_keys_are_lost() {
        let (_folder, path) = place();
        let pack = Pack::new(path).forced();
        let put_sealed = |seal, key| {
            let puts = vec![put(key, key)];
            pack.change(&turn(&pack), Some(seal), |_| Change { puts, gone: Vec::new() }).unwrap();
        };
        put_sealed("one", "a");
        assert_eq!(pack.get(Some("one"), "a"), text("a"));
        assert_eq!(pack.get(Some("one"), "b"), Found::Nothing);
        assert_eq!(pack.get(Some("two"), "b"), Found::Damaged);
        put_sealed("two", "c");
        assert_eq!(pack.get(Some("two"), "c"), text("c"));
        assert_eq!(pack.get(Some("two"), "b"), Found::Damaged);
    }

    #[test]
    fn a_loss_counts_for_a_while() {
        let (_folder, path) = place();
        let pack = Pack::new(path.clone());
        files::put(&path, b"damaged").unwrap();
        put_all(&pack, vec![put("a", "one")]);
        assert_eq!(pack.get(None, "b"), Found::Damaged);
        let whole = fs::read_to_string(&path).unwrap();
        let (_, rest) = whole.split_once("\"lost\":").unwrap();
        let (lost, _) = rest.split_once(',').unwrap();
        let long_ago = seconds(SystemTime::now()) - LOSS_COUNTS.as_secs() - 60;
        files::put(&path, whole.replace(lost, &long_ago.to_string()).as_bytes()).unwrap();
        assert_eq!(pack.get(None, "b"), Found::Nothing);
    }
}

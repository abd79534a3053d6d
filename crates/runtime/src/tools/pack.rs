//! Many small texts in one file: an index in the first line, then the texts one after the other.
//!
//! With a hundred servers, a file for each would cost more than connecting to them. The file is only
//! ever replaced as a whole, under a lock: a reader meets the old one or the new one, and what two
//! processes add at a time is kept. It is not forced to the disk.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use bytestring::ByteString;
use serde::{Deserialize, Serialize};

use super::disk;
use super::written::Pieces;

const VERSION: u32 = 1;

/// The most bytes of the index, and of one text.
const MOST_INDEX_BYTES: u64 = 16 << 20;
const MOST_BYTES: u64 = 16 << 20;

/// A file of many texts, each under its key.
#[derive(Debug)]
pub(super) struct Pack {
    path: PathBuf,
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
    /// The file was damaged once: who is not in here may have been.
    has_lost: bool,
    texts: Vec<About>,
}

#[derive(Debug)]
struct Opened {
    stamp: Stamp,
    has_lost: bool,
    /// In the order of the file.
    texts: Vec<About>,
    /// Key → which text, and where it begins.
    places: HashMap<String, (usize, u64)>,
    file: Mutex<File>,
}

impl Pack {
    /// Uses a file; nothing is read or made yet.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, opened: Mutex::default() }
    }

    /// Returns the text under a key.
    pub(super) fn get(&self, key: &str) -> Found {
        match self.open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
            Err(_) => Found::Damaged,
            Ok(opened) => match opened.places.get(key) {
                Some(&(index, start)) => {
                    let text = opened.read(start, opened.texts[index].bytes);
                    text.map_or(Found::Damaged, Found::Text)
                }
                None if opened.has_lost => Found::Damaged,
                None => Found::Nothing,
            },
        }
    }

    /// Returns what the index says about a key.
    pub(super) fn about(&self, key: &str) -> Option<About> {
        let opened = self.open().ok()?;
        opened.places.get(key).map(|(index, _)| opened.texts[*index].clone())
    }

    /// Tells whether there is such a text.
    pub(super) fn has(&self, such: impl Fn(&About) -> bool) -> bool {
        self.open().is_ok_and(|opened| opened.texts.iter().any(such))
    }

    /// Returns how long the file is.
    pub(super) fn bytes(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |about| about.len())
    }

    /// Puts texts in, in place of those under the same keys, and keeps of the others what is to be
    /// kept. Blocks for as long as the disk, and others, take.
    pub(super) fn change(
        &self,
        puts: &[Put],
        mut keep: impl FnMut(&About) -> bool,
    ) -> io::Result<()> {
        let folder = self.path.parent().ok_or(io::ErrorKind::InvalidFilename)?;
        let _lock = disk::lock(folder)?;
        disk::forget_left_behind(folder);
        let earlier = match self.open() {
            Ok(opened) => Some(opened),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
            Err(error) => return Err(error),
        };
        let has_lost = match &earlier {
            Some(opened) => opened.has_lost,
            None => self.path.exists(),
        };
        let replaced = |about: &About| puts.iter().any(|put| put.key == about.key);
        let mut index = Index { version: VERSION, has_lost, texts: Vec::new() };
        let mut kept = Vec::new();
        for (number, about) in earlier.iter().flat_map(|opened| opened.texts.iter().enumerate()) {
            if !replaced(about) && keep(about) {
                kept.push(number);
                index.texts.push(about.clone());
            }
        }
        index.texts.extend(puts.iter().map(Put::about));
        let mut line = serde_json::to_vec(&index)?;
        line.push(b'\n');
        disk::replace(&self.path, |file| {
            file.write_all(&line)?;
            if let Some(earlier) = &earlier {
                earlier.copy(&kept, file)?;
            }
            let mut out = BufWriter::with_capacity(64 << 10, file);
            puts.iter().try_for_each(|put| put.text.write_to(&mut out))?;
            out.flush()
        })
    }

    /// Removes the file; returns how many texts were in it.
    pub(super) fn clear(&self) -> io::Result<usize> {
        let count = self.open().map_or(0, |opened| opened.texts.len());
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(count),
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
        let mut file = File::open(path)?;
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
        let (stamp, file) = (Stamp::of(&about), Mutex::new(file));
        Ok(Self { stamp, has_lost: index.has_lost, texts: index.texts, places, file })
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
    fn copy(&self, numbers: &[usize], out: &mut File) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        for &number in numbers {
            let About { key, bytes, .. } = &self.texts[number];
            let (_, start) = self.places[key];
            file.seek(SeekFrom::Start(start))?;
            io::copy(&mut Read::by_ref(&mut *file).take(*bytes), out)?;
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

    fn put(key: &str, text: &str) -> Put {
        let mut pieces = Pieces::default();
        pieces.push(text.to_owned());
        Put { key: key.to_owned(), saved: SystemTime::now(), count: text.len(), text: pieces }
    }

    fn text(text: &'static str) -> Found {
        Found::Text(text.into())
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
        assert_eq!(pack.get("a"), Found::Nothing);
        pack.change(&[put("a", "one\n"), put("b", "zwölf"), put("c", "")], |_| true).unwrap();
        pack.change(&[put("a", "another")], |_| true).unwrap();
        for pack in [&pack, &Pack::new(path)] {
            assert_eq!(pack.get("a"), text("another"));
            assert_eq!(pack.get("b"), text("zwölf"));
            assert_eq!(pack.get("c"), text(""));
            assert_eq!(pack.get("d"), Found::Nothing);
            assert_eq!(pack.about("b").unwrap().count, 6);
        }
        assert_eq!(pack.clear().unwrap(), 3);
        assert_eq!(pack.get("a"), Found::Nothing);
        assert_eq!(pack.clear().unwrap(), 0);
    }

    #[test]
    fn what_is_not_to_be_kept_is_gone() {
        let (_folder, path) = place();
        let pack = Pack::new(path);
        pack.change(&[put("a", "one"), put("b", "two")], |_| true).unwrap();
        assert!(pack.has(|about| about.key == "a"));
        pack.change(&[], |about| about.key != "a").unwrap();
        assert!(!pack.has(|about| about.key == "a"));
        assert_eq!((pack.get("a"), pack.get("b")), (Found::Nothing, text("two")));
    }

    #[test]
    fn another_process_is_seen_and_nothing_of_it_is_lost() {
        let (_folder, path) = place();
        let (one, other) = (Pack::new(path.clone()), Pack::new(path));
        one.change(&[put("a", "one")], |_| true).unwrap();
        assert_eq!(other.get("a"), text("one"));
        std::thread::scope(|scope| {
            for (name, pack) in [("x", &one), ("y", &other)] {
                scope.spawn(move || {
                    for round in 0..20 {
                        pack.change(&[put(&format!("{name}{round}"), name)], |_| true).unwrap();
                    }
                });
            }
        });
        for round in 0..20 {
            assert_eq!(one.get(&format!("y{round}")), text("y"));
            assert_eq!(other.get(&format!("x{round}")), text("x"));
        }
    }

    #[test]
    fn a_damaged_file_is_noticed_and_remembered_as_a_loss() {
        let (_folder, path) = place();
        let pack = Pack::new(path.clone());
        pack.change(&[put("a", "one"), put("b", "two")], |_| true).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            disk::put(&path, &whole[..length]).unwrap();
            assert_eq!(pack.get("a"), Found::Damaged, "{length}");
        }
        pack.change(&[put("c", "three")], |_| true).unwrap();
        assert_eq!((pack.get("a"), pack.get("c")), (Found::Damaged, text("three")));
    }
}

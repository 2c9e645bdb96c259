//! Cache of compiled code in a directory.
//!
//! An entry is a file named after its key. It is written under a temporary name, synced and
//! renamed, and never changed afterwards. A reader sees a whole entry or none, however many
//! processes write and whenever they are killed. Each entry has a checksum. A damaged entry is a
//! miss and is removed.
//!
//! | bytes | header |
//! |---|---|
//! | 0 to 7 | `GANTRYCC` |
//! | 8 to 11 | format version, little-endian as all numbers |
//! | 12 to 15 | 0 |
//! | 16 to 47 | key |
//! | 48 to 55 | length of the code in bytes; it begins at 128 and ends the file |
//! | 56 to 87 | SHA-256 of bytes 0 to 55 and the code |
//! | 88 to 127 | 0 |

#![allow(unsafe_code, reason = "entries are mapped")]

#[cfg(feature = "remote-cache")]
mod remote;

#[cfg(feature = "remote-cache")]
pub use remote::{RemoteCache, RemoteStats};

use memmap2::Mmap;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

const MAGIC: &[u8; 8] = b"GANTRYCC";
const VERSION: u32 = 1;
/// Length of the header in bytes.
const HEADER: usize = 128;
/// Offset of the checksum; it covers the header up to here.
const SUM: usize = 56;
/// Suffix of an entry's file name, after the key in hexadecimal.
const EXTENSION: &str = ".gantry-code";
/// Prefix of the names of files that are being written.
const WRITING: &str = ".gantry-writing-";
/// Age from which a file that is being written counts as left by a killed writer.
const ABANDONED: Duration = Duration::from_secs(15 * 60);
/// Age from which the last use noted for an entry is brought up to date.
const NOTED: Duration = Duration::from_secs(60);

/// Cache of compiled code in a directory. Any number of threads and processes may use it at once.
///
/// Keys are those of `gantry_codegen::CacheKey`, or any others of 32 bytes that each identify one
/// code.
///
/// The entries of the directory take [`CodeCache::limit`] bytes at most, files that are being
/// written included. A writer that passes the limit removes the least recently used entries, down
/// to seven eighths of it. Entries of other processes are counted again after a sixteenth of the
/// limit was stored. Each writer may therefore pass the limit by as much.
///
/// Only those whom the directory's users trust with the code that they run should be able to write
/// to it.
#[derive(Debug)]
pub struct CodeCache {
    dir: PathBuf,
    limit: u64,
    /// Known size of the directory; locked while it is counted.
    size: Mutex<DirectorySize>,
    /// Store that other machines share.
    #[cfg(feature = "remote-cache")]
    remote: Option<RemoteCache>,
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
    evicted: AtomicU64,
}

/// DirectorySize of all entries in bytes: at the last count, and stored since.
#[derive(Debug, Default)]
struct DirectorySize {
    counted: Option<u64>,
    since: u64,
}

/// Counts of a cache since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheStats {
    /// Lookups that found code.
    pub hits: u64,
    /// Lookups that found none, damaged entries included.
    pub misses: u64,
    /// Entries that were damaged.
    pub damaged: u64,
    /// Entries that were removed to keep to the limit.
    pub evicted: u64,
}

/// Code of a cache, memory-mapped. It stays valid when its entry is removed.
pub struct CachedCode(EntryBytes);

/// Bytes of an entry, its header among them.
enum EntryBytes {
    Mapped(Mmap),
    /// Entry of the remote cache that the directory did not take.
    #[cfg(feature = "remote-cache")]
    Fetched(Vec<u8>),
}

impl EntryBytes {
    fn all(&self) -> &[u8] {
        match self {
            EntryBytes::Mapped(map) => map,
            #[cfg(feature = "remote-cache")]
            EntryBytes::Fetched(bytes) => bytes,
        }
    }
}

impl Deref for CachedCode {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.all().get(HEADER..).unwrap_or(&[])
    }
}

impl fmt::Debug for CachedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CachedCode({} bytes)", self.len())
    }
}

/// Entry of the directory, or file that is being written.
struct CacheFile {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    /// True for a file that is not an entry yet.
    writing: bool,
}

impl CodeCache {
    /// Limit of a new cache, in bytes.
    pub const DEFAULT_LIMIT: u64 = 256 << 20;

    /// Opens the cache in a directory, and creates the directory if it does not exist.
    ///
    /// # Errors
    /// The directory does not exist and cannot be created.
    pub fn open(dir: impl Into<PathBuf>) -> io::Result<CodeCache> {
        let dir = dir.into();
        if !dir.is_dir() {
            make_private(&dir)?;
        }
        Ok(CodeCache {
            dir,
            limit: Self::DEFAULT_LIMIT,
            size: Mutex::default(),
            #[cfg(feature = "remote-cache")]
            remote: None,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
        })
    }

    /// Returns the cache with another limit, in bytes.
    #[must_use]
    pub fn with_limit(self, limit: u64) -> CodeCache {
        CodeCache { limit, ..self }
    }

    /// Returns the cache with a store behind it that other machines share. The directory stays in
    /// front: what the store has is copied there, and what is compiled is put into both. Faults of
    /// the store are no errors, and cost a bounded time.
    #[cfg(feature = "remote-cache")]
    #[must_use]
    pub fn with_remote(self, remote: RemoteCache) -> CodeCache {
        CodeCache {
            remote: Some(remote),
            ..self
        }
    }

    /// Returns the store behind the directory, if there is one.
    #[cfg(feature = "remote-cache")]
    pub fn remote(&self) -> Option<&RemoteCache> {
        self.remote.as_ref()
    }

    /// Returns the limit of all entries together, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the counts since the cache was opened.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            damaged: self.damaged.load(Relaxed),
            evicted: self.evicted.load(Relaxed),
        }
    }

    /// Returns the code of a key. Anything at its path that is not a whole entry is removed.
    pub fn get(&self, key: &[u8; 32]) -> Option<CachedCode> {
        let path = self.path(key);
        let found = match read(&path, key) {
            Ok(Some(found)) => {
                note_use(&found.file, found.used);
                Some(found.code)
            }
            Ok(None) => {
                self.damaged.fetch_add(1, Relaxed);
                // An entry that cannot be removed stays a miss.
                let _ = fs::remove_file(&path);
                None
            }
            Err(_) => None,
        };
        let found = found.or_else(|| self.fetch(key));
        let count = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Relaxed);
        found
    }

    /// Returns the code of a key from the remote cache, and copies it to the directory.
    #[cfg(feature = "remote-cache")]
    fn fetch(&self, key: &[u8; 32]) -> Option<CachedCode> {
        let entry = self.remote.as_ref()?.get(key)?;
        // A directory that takes no more is no reason to compile.
        let _ = self.write(key, &[&entry]);
        Some(CachedCode(EntryBytes::Fetched(entry)))
    }

    /// Returns nothing: there is no remote cache in this build.
    #[cfg(not(feature = "remote-cache"))]
    fn fetch(&self, _: &[u8; 32]) -> Option<CachedCode> {
        None
    }

    /// Stores the code of a key, in place of what was stored before. Code beyond the limit by
    /// itself is not stored.
    ///
    /// # Errors
    /// The entry cannot be written, as in a read-only or missing directory or on a full
    /// disk. A cache that cannot be written can still be read.
    pub fn put(&self, key: &[u8; 32], code: &[u8]) -> io::Result<()> {
        let header = header(key, code);
        #[cfg(feature = "remote-cache")]
        if let Some(remote) = &self.remote {
            remote.put(key, [&header, code].concat());
        }
        self.write(key, &[&header, code])
    }

    /// Writes an entry of parts to the directory.
    fn write(&self, key: &[u8; 32], parts: &[&[u8]]) -> io::Result<()> {
        let bytes = parts.iter().map(|p| p.len() as u64).sum();
        if bytes > self.limit {
            return Ok(());
        }
        let mut file = tempfile::Builder::new()
            .prefix(WRITING)
            .tempfile_in(&self.dir)?;
        for part in parts {
            file.write_all(part)?;
        }
        // Without this the rename could reach the disk before the contents.
        file.as_file().sync_all()?;
        file.persist(self.path(key)).map_err(|e| e.error)?;
        self.stored(bytes);
        Ok(())
    }

    fn path(&self, key: &[u8; 32]) -> PathBuf {
        self.dir.join(file_name(key))
    }

    /// Counts bytes that were stored, and evicts entries if it is time to.
    fn stored(&self, bytes: u64) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        size.since = size.since.saturating_add(bytes);
        let fits = |n: u64| n.saturating_add(size.since) <= self.limit;
        if size.counted.is_some_and(fits) && size.since <= self.limit / 16 {
            return;
        }
        *size = DirectorySize {
            counted: Some(self.make_room()),
            since: 0,
        };
    }

    /// Counts the entries and evicts the least recently used ones if they pass the limit. Returns
    /// the bytes left.
    fn make_room(&self) -> u64 {
        let mut all = self.files();
        let mut sum = all.iter().fold(0u64, |n, f| n.saturating_add(f.bytes));
        if sum <= self.limit {
            return sum;
        }
        all.retain(|f| !f.writing);
        all.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        for f in all {
            if sum <= self.limit - self.limit / 8 {
                break;
            }
            let removed = fs::remove_file(&f.path);
            self.evicted.fetch_add(u64::from(removed.is_ok()), Relaxed);
            // An entry that is gone already was removed by another process.
            if removed.is_ok() || removed.is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
                sum = sum.saturating_sub(f.bytes);
            }
        }
        sum
    }

    /// Lists entries and files that others are writing, and removes files left by killed writers.
    /// Touches nothing else in the directory.
    fn files(&self) -> Vec<CacheFile> {
        let mut out = Vec::new();
        let Ok(dir) = fs::read_dir(&self.dir) else {
            return out;
        };
        let now = SystemTime::now();
        for entry in dir.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let writing = name.starts_with(WRITING);
            if !writing && !is_entry(&name) {
                continue;
            }
            // Metadata of the link itself, where the entry is one.
            let Ok(data) = entry.metadata() else { continue };
            let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if !data.is_file() {
                continue;
            }
            let age = now.duration_since(used).unwrap_or_default();
            if writing && age > ABANDONED && fs::remove_file(entry.path()).is_ok() {
                continue;
            }
            out.push(CacheFile {
                path: entry.path(),
                bytes: data.len(),
                used,
                writing,
            });
        }
        out
    }
}

/// Creates a directory that only its user may access, on hosts that have such permissions.
fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Returns the name of a key's entry.
fn file_name(key: &[u8; 32]) -> String {
    use fmt::Write as _;
    let mut name = String::with_capacity(64 + EXTENSION.len());
    for b in key {
        let _ = write!(name, "{b:02x}");
    }
    name.push_str(EXTENSION);
    name
}

fn is_entry(name: &str) -> bool {
    name.strip_suffix(EXTENSION)
        .is_some_and(|key| key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn header(key: &[u8; 32], code: &[u8]) -> [u8; HEADER] {
    let mut out = [0; HEADER];
    let mut fields = Vec::with_capacity(SUM);
    fields.extend_from_slice(MAGIC);
    fields.extend_from_slice(&VERSION.to_le_bytes());
    fields.extend_from_slice(&[0; 4]);
    fields.extend_from_slice(key);
    fields.extend_from_slice(&(code.len() as u64).to_le_bytes());
    let sum = Sha256::new_with_prefix(&fields)
        .chain_update(code)
        .finalize();
    fields.extend_from_slice(&sum);
    for (to, from) in out.iter_mut().zip(fields) {
        *to = from;
    }
    out
}

/// Returns the code of an entry, or `None` where the bytes are not a whole entry of this key.
fn entry_of<'b>(bytes: &'b [u8], key: &[u8; 32]) -> Option<&'b [u8]> {
    let (head, code) = bytes.split_at_checked(HEADER)?;
    (head == header(key, code)).then_some(code)
}

/// Entry that was opened.
struct OpenEntry {
    code: CachedCode,
    file: File,
    /// Time of its last noted use.
    used: SystemTime,
}

/// Opens the entry at a path. Returns `None` where the file is not a whole entry of this key.
fn read(path: &Path, key: &[u8; 32]) -> io::Result<Option<OpenEntry>> {
    // Links, pipes and devices are not opened, since that may block for ever.
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = File::open(path)?;
    let data = file.metadata()?;
    // SAFETY: a file gets an entry's name when it is complete, and nobody writes it afterwards.
    // Entries are replaced and removed by name, which does not change what is mapped. Others who
    // can change files in the directory can change programs' code anyway, as the type says.
    let map = unsafe { Mmap::map(&file) }?;
    if entry_of(&map, key).is_none() {
        return Ok(None);
    }
    let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let code = CachedCode(EntryBytes::Mapped(map));
    Ok(Some(OpenEntry { code, file, used }))
}

/// Notes a use of an entry in its file's modification time. Its owner may do that with a file that
/// is open for reading. A failure for others does no harm.
fn note_use(file: &File, last: SystemTime) {
    let now = SystemTime::now();
    if now.duration_since(last).is_ok_and(|age| age > NOTED) {
        let _ = file.set_modified(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_as_the_table_says() {
        let h = header(&[7; 32], b"code");
        assert_eq!(&h[..8], b"GANTRYCC");
        assert_eq!(h[8..16], [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(h[16..48], [7; 32]);
        assert_eq!(h[48..56], [4, 0, 0, 0, 0, 0, 0, 0]);
        let sum = Sha256::new_with_prefix(&h[..56]).chain_update(b"code");
        assert_eq!(h[56..88], sum.finalize()[..]);
        assert_eq!(h[88..], [0; 40]);
    }

    #[test]
    fn names_of_entries() {
        let name = "0f".repeat(32);
        assert!(is_entry(&format!("{name}.gantry-code")));
        let short = name.get(1..).unwrap_or_default();
        for other in [&name[..], &format!("{short}.gantry-code"), ".gantry-code"] {
            assert!(!is_entry(other), "{other}");
        }
    }
}

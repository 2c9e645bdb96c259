//! A cache of compiled code in a directory.
//!
//! An entry is a file named after its key. It is written beside its place, synced and renamed, and never changed: who reads it sees all of it or nothing,
//! however many processes write and whenever they are killed. Each has a checksum; one that is damaged is a miss, and removed.
//!
//! | bytes | header |
//! |---|---|
//! | 0 to 7 | `GANTRYCC` |
//! | 8 to 11 | version of this format, little-endian as all numbers |
//! | 12 to 15 | 0 |
//! | 16 to 47 | the key |
//! | 48 to 55 | bytes of code, which begins at 128 and ends the file |
//! | 56 to 87 | SHA-256 of the header up to here and the code |
//! | 88 to 127 | 0 |

#![allow(unsafe_code, reason = "entries are mapped")]

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
/// Bytes of the header.
const HEADER: usize = 128;
/// Where the checksum is: behind what it is of.
const SUM: usize = 56;
/// How entries are called: the key in hexadecimal, and this.
const EXTENSION: &str = ".gantry-code";
/// How files that are being written begin.
const WRITING: &str = ".gantry-writing-";
/// The age from which on such a file is that of a writer who was killed.
const ABANDONED: Duration = Duration::from_secs(15 * 60);
/// Uses of an entry are noted if the last note is as old.
const NOTED: Duration = Duration::from_secs(60);

/// A cache of compiled code in a directory, which any number of threads and processes may use at once. Keys are those of
/// `gantry_codegen::CacheKey`, or any others of 32 bytes that stand for one code each.
///
/// The entries of the directory take [`CodeCache::limit`] bytes at most, files that are being written included: who passes that by storing removes
/// what was not used for longest, down to seven eighths. Other processes' entries are counted when a sixteenth of the
/// limit was stored since the last count, so each writer may pass it by as much.
///
/// The directory should be writable for those alone whom its users trust with the code that they run.
#[derive(Debug)]
pub struct CodeCache {
    dir: PathBuf,
    limit: u64,
    /// What is known of the directory's size; held while it is counted.
    size: Mutex<Size>,
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
    evicted: AtomicU64,
}

/// Bytes of all entries when they were last counted, and those stored since.
#[derive(Debug, Default)]
struct Size {
    counted: Option<u64>,
    since: u64,
}

/// What a cache has seen since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheStats {
    /// Codes that were there.
    pub hits: u64,
    /// Codes that were not, the damaged ones included.
    pub misses: u64,
    /// Entries that were damaged.
    pub damaged: u64,
    /// Entries that were removed to keep to the limit.
    pub evicted: u64,
}

/// Code of a cache, mapped. It stays as it is when its entry is removed.
pub struct CachedCode(Mmap);

impl Deref for CachedCode {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.get(HEADER..).unwrap_or(&[])
    }
}

impl fmt::Debug for CachedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CachedCode({} bytes)", self.len())
    }
}

/// A file of the directory.
struct Found {
    path: PathBuf,
    bytes: u64,
    used: SystemTime,
    /// It is no entry yet.
    writing: bool,
}

impl CodeCache {
    /// The most bytes of entries if nothing else is said.
    pub const DEFAULT_LIMIT: u64 = 256 << 20;

    /// Opens the cache in a directory, which is made if it is not there.
    ///
    /// # Errors
    /// It can neither be made nor is it there.
    pub fn open(dir: impl Into<PathBuf>) -> io::Result<CodeCache> {
        let dir = dir.into();
        if !dir.is_dir() {
            make_private(&dir)?;
        }
        Ok(CodeCache {
            dir,
            limit: Self::DEFAULT_LIMIT,
            size: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            damaged: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
        })
    }

    /// The same with another limit, in bytes.
    #[must_use]
    pub fn with_limit(self, limit: u64) -> CodeCache {
        CodeCache { limit, ..self }
    }

    /// The most bytes of entries.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What was seen since it was opened.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            damaged: self.damaged.load(Relaxed),
            evicted: self.evicted.load(Relaxed),
        }
    }

    /// The code of a key, if it is there and whole. Whatever else is there in its place is removed.
    pub fn get(&self, key: &[u8; 32]) -> Option<CachedCode> {
        let path = self.path(key);
        let found = match read(&path, key) {
            Ok(Some(found)) => {
                note_use(&found.file, found.used);
                Some(found.code)
            }
            Ok(None) => {
                self.damaged.fetch_add(1, Relaxed);
                // Where it cannot be removed it stays a miss.
                let _ = fs::remove_file(&path);
                None
            }
            Err(_) => None,
        };
        let count = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Relaxed);
        found
    }

    /// Stores the code of a key; what was there is replaced. Code that alone is beyond the limit is not stored.
    ///
    /// # Errors
    /// It cannot be written: a directory that is read-only or gone, a full disk. A cache that cannot be written can still be read.
    pub fn put(&self, key: &[u8; 32], code: &[u8]) -> io::Result<()> {
        let bytes = (HEADER + code.len()) as u64;
        if bytes > self.limit {
            return Ok(());
        }
        let header = header(key, code);
        let mut file = tempfile::Builder::new()
            .prefix(WRITING)
            .tempfile_in(&self.dir)?;
        file.write_all(&header)?;
        file.write_all(code)?;
        // A rename may be on the disk before what is in the file is.
        file.as_file().sync_all()?;
        file.persist(self.path(key)).map_err(|e| e.error)?;
        self.stored(bytes);
        Ok(())
    }

    fn path(&self, key: &[u8; 32]) -> PathBuf {
        use fmt::Write as _;
        let mut name = String::with_capacity(64 + EXTENSION.len());
        for b in key {
            let _ = write!(name, "{b:02x}");
        }
        name.push_str(EXTENSION);
        self.dir.join(name)
    }

    /// Notes that so much was stored, and makes room if it is time.
    fn stored(&self, bytes: u64) {
        let mut size = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        size.since = size.since.saturating_add(bytes);
        let fits = |n: u64| n.saturating_add(size.since) <= self.limit;
        if size.counted.is_some_and(fits) && size.since <= self.limit / 16 {
            return;
        }
        *size = Size {
            counted: Some(self.make_room()),
            since: 0,
        };
    }

    /// Counts entries, and removes what was not used for longest if they are too many. Gives the bytes that are left.
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
            // If it is gone already, another process has removed it.
            if removed.is_ok() || removed.is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
                sum = sum.saturating_sub(f.bytes);
            }
        }
        sum
    }

    /// The entries, and what others are writing; what killed writers left is removed. Nothing else in the directory is touched.
    fn files(&self) -> Vec<Found> {
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
            // Of a link, its own.
            let Ok(data) = entry.metadata() else { continue };
            let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if !data.is_file() {
                continue;
            }
            let age = now.duration_since(used).unwrap_or_default();
            if writing && age > ABANDONED && fs::remove_file(entry.path()).is_ok() {
                continue;
            }
            out.push(Found {
                path: entry.path(),
                bytes: data.len(),
                used,
                writing,
            });
        }
        out
    }
}

/// Makes a directory that is its user's alone, where the host knows such.
fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
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

/// An entry that was read.
struct Read {
    code: CachedCode,
    file: File,
    /// When it was last noted as used.
    used: SystemTime,
}

/// The entry at a path; `None` where what is there is no whole entry of this key.
fn read(path: &Path, key: &[u8; 32]) -> io::Result<Option<Read>> {
    // Links, pipes and devices are not opened: that may wait for ever.
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = File::open(path)?;
    let data = file.metadata()?;
    if data.len() < HEADER as u64 {
        return Ok(None);
    }
    // SAFETY: a file gets an entry's name when it is complete, and nobody writes it afterwards: entries are replaced and removed by name, which
    // leaves what is mapped as it is. Who else changes files in the directory can change programs' code anyway, as the type says.
    let map = unsafe { Mmap::map(&file) }?;
    let code = map.get(HEADER..).unwrap_or(&[]);
    if map.get(..HEADER) != Some(&header(key, code)[..]) {
        return Ok(None);
    }
    let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let code = CachedCode(map);
    Ok(Some(Read { code, file, used }))
}

/// Notes, in the file's time, that it was used: who made it may do that with a file that is open for reading. Others may not, and it is
/// no harm.
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

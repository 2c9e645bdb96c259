//! Cache of compiled code: use by many threads and processes at once, writers killed at any point,
//! and unrelated files in its directory.

use gantry_runtime::{CacheStats, CodeCache};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// Variable with the directory for the processes that tests start.
const DIR: &str = "GANTRY_TEST_CACHE";
/// Variable with the seed of such a process.
const SEED: &str = "GANTRY_TEST_SEED";

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

fn key(n: u8) -> [u8; 32] {
    std::array::from_fn(|i| n.wrapping_mul(31).wrapping_add(i as u8))
}

/// Generates code whose length and bytes follow from the key and the first twelve bytes.
fn code(n: u8, seed: u64) -> Vec<u8> {
    let mut rng = Rng(seed);
    let mut out = vec![n, 0, 0, 0];
    out.extend_from_slice(&seed.to_le_bytes());
    for _ in 0..rng.below(3000) {
        out.extend_from_slice(&rng.next().to_le_bytes());
    }
    out
}

fn is_whole(n: u8, found: &[u8]) -> bool {
    let seed = found
        .get(4..12)
        .map(|b| u64::from_le_bytes(b.try_into().unwrap()));
    seed.is_some_and(|s| code(n, s) == found)
}

fn open() -> (TempDir, CodeCache) {
    let dir = TempDir::new().unwrap();
    let cache = CodeCache::open(dir.path().join("codes")).unwrap();
    (dir, cache)
}

fn files(cache: &CodeCache) -> Vec<PathBuf> {
    let entries = fs::read_dir(cache.dir()).unwrap();
    entries.map(|e| e.unwrap().path()).collect()
}

fn bytes(cache: &CodeCache) -> u64 {
    let sizes = files(cache).into_iter().map(|p| p.metadata());
    sizes.map(|m| m.map_or(0, |m| m.len())).sum()
}

/// Returns the path of the only entry.
fn entry(cache: &CodeCache) -> PathBuf {
    let all = files(cache);
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

/// Starts this test binary again, for one test.
fn process(test: &str, dir: &Path, seed: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("cache::{test}"), "--nocapture"])
        .env(DIR, dir)
        .env(SEED, seed.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the directory and seed of a process that a test started.
fn started() -> Option<(PathBuf, u64)> {
    let dir = std::env::var_os(DIR)?;
    let seed = std::env::var(SEED).ok()?.parse().ok()?;
    Some((dir.into(), seed))
}

#[test]
fn what_is_stored_is_found() {
    let (_dir, cache) = open();
    assert!(cache.get(&key(1)).is_none());
    cache.put(&key(1), b"one").unwrap();
    cache.put(&key(2), b"").unwrap();
    let one = cache.get(&key(1)).unwrap();
    assert_eq!(&one[..], b"one");
    assert_eq!(&cache.get(&key(2)).unwrap()[..], b"");
    assert!(cache.get(&key(3)).is_none());
    // Replacing an entry does not change code that is held.
    cache.put(&key(1), b"another").unwrap();
    assert_eq!(&one[..], b"one");
    let again = CodeCache::open(cache.dir()).unwrap();
    assert_eq!(&again.get(&key(1)).unwrap()[..], b"another");
    let seen = CacheStats {
        hits: 2,
        misses: 2,
        ..CacheStats::default()
    };
    assert_eq!(cache.stats(), seen);
    for f in files(&cache) {
        fs::remove_file(f).unwrap();
    }
    assert_eq!(&one[..], b"one");
    assert!(cache.get(&key(1)).is_none());
}

#[test]
fn what_is_damaged_is_a_miss_and_goes() {
    let (_dir, cache) = open();
    cache.put(&key(1), b"some code of a kernel").unwrap();
    let path = entry(&cache);
    let whole = fs::read(&path).unwrap();
    let mut damaged: Vec<Vec<u8>> = (0..whole.len()).map(|n| whole[..n].to_vec()).collect();
    for n in 0..whole.len() {
        for bit in [0, 7] {
            let mut flipped = whole.clone();
            flipped[n] ^= 1 << bit;
            damaged.push(flipped);
        }
    }
    damaged.push([&whole[..], &[0]].concat());
    let count = damaged.len() as u64;
    for d in damaged {
        fs::write(&path, &d).unwrap();
        assert!(cache.get(&key(1)).is_none());
        assert!(!path.exists());
    }
    assert_eq!(cache.stats().damaged, count);
    // A whole entry of another key.
    cache.put(&key(2), b"of another").unwrap();
    fs::rename(entry(&cache), &path).unwrap();
    assert!(cache.get(&key(1)).is_none());
    assert!(files(&cache).is_empty());
    cache.put(&key(1), b"mended").unwrap();
    assert_eq!(&cache.get(&key(1)).unwrap()[..], b"mended");
}

#[test]
fn anything_may_be_in_the_directory() {
    let (_dir, cache) = open();
    cache.put(&key(1), b"code").unwrap();
    let path = entry(&cache);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    fs::write(cache.dir().join("README"), b"mine").unwrap();
    fs::write(cache.dir().join(format!("{name}x")), b"mine").unwrap();
    fs::write(cache.dir().join(&name[1..]), b"mine").unwrap();
    fs::create_dir(cache.dir().join("0".repeat(64) + ".gantry-code")).unwrap();
    fs::create_dir(cache.dir().join(".gantry-writing-directory")).unwrap();
    // In the place of an entry: a full directory, then links and a pipe.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("inside"), b"mine").unwrap();
    assert!(cache.get(&key(1)).is_none());
    assert!(cache.put(&key(1), b"code").is_err());
    assert!(path.join("inside").exists());
    fs::remove_dir_all(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe.gantry-code");
        fs::write(cache.dir().join(odd), b"mine").unwrap();
        for target in ["nothing", "/dev/zero", "README", "."] {
            std::os::unix::fs::symlink(target, &path).unwrap();
            assert!(cache.get(&key(1)).is_none());
            assert!(path.symlink_metadata().is_err());
        }
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_err() || cache.get(&key(1)).is_none());
    }
    cache.put(&key(1), b"code").unwrap();
    assert_eq!(&cache.get(&key(1)).unwrap()[..], b"code");
    // Eviction does not touch files that are no entries.
    let small = CodeCache::open(cache.dir()).unwrap().with_limit(300);
    for n in 2..9 {
        small.put(&key(n), b"code").unwrap();
    }
    assert!(small.stats().evicted >= 6);
    assert!(cache.dir().join("README").exists() && cache.dir().join(&name[1..]).exists());
}

#[test]
fn a_directory_that_cannot_be_written_can_be_read() {
    let (_dir, cache) = open();
    cache.put(&key(1), b"code").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |m| fs::set_permissions(cache.dir(), fs::Permissions::from_mode(m)).unwrap();
        mode(0o555);
        let again = CodeCache::open(cache.dir()).unwrap();
        assert_eq!(&again.get(&key(1)).unwrap()[..], b"code");
        // To the administrator nothing is read-only.
        let stored = again.put(&key(2), b"code");
        assert_eq!(stored.is_err(), again.get(&key(2)).is_none());
        // A damaged entry that cannot be removed stays a miss.
        let path = entry_of(&again, 1);
        fs::write(&path, b"damaged").unwrap();
        assert!(again.get(&key(1)).is_none() && again.get(&key(1)).is_none());
        mode(0o755);
        // A directory that nobody can write.
        if Path::new("/proc/self").is_dir() {
            let none = CodeCache::open("/proc/self").unwrap();
            assert!(none.put(&key(1), b"code").is_err());
            assert!(none.get(&key(1)).is_none());
        }
    }
    // A directory that is gone.
    fs::remove_dir_all(cache.dir()).unwrap();
    assert!(cache.get(&key(1)).is_none());
    assert!(cache.put(&key(1), b"code").is_err());
    // A path that is no directory.
    let file = TempDir::new().unwrap();
    let file = file.path().join("file");
    fs::write(&file, b"mine").unwrap();
    assert!(CodeCache::open(&file).is_err());
    assert!(CodeCache::open(file.join("below")).is_err());
}

fn entry_of(cache: &CodeCache, n: u8) -> PathBuf {
    let name: String = key(n).iter().map(|b| format!("{b:02x}")).collect();
    cache.dir().join(name + ".gantry-code")
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let (_dir, cache) = open();
    let cache = cache.with_limit(10_000);
    // 1128 bytes each.
    let code = [1; 1000];
    let old = SystemTime::now() - Duration::from_secs(10_000);
    for n in 0..8 {
        cache.put(&key(n), &code).unwrap();
        let file = fs::File::options().write(true).open(entry_of(&cache, n));
        let age = Duration::from_secs(u64::from(n));
        file.unwrap().set_modified(old + age).unwrap();
    }
    assert_eq!(cache.stats().evicted, 0);
    // The oldest is used.
    assert!(cache.get(&key(0)).is_some());
    cache.put(&key(8), &code).unwrap();
    // Evicted down to seven eighths: 7 of 9 fit.
    assert_eq!(cache.stats().evicted, 2);
    let left: HashSet<u8> = (0..9).filter(|&n| entry_of(&cache, n).exists()).collect();
    assert_eq!(left, HashSet::from([0, 3, 4, 5, 6, 7, 8]));
    // Code beyond the limit by itself is not stored, and evicts nothing.
    cache.put(&key(9), &[0; 10_000]).unwrap();
    assert!(cache.get(&key(9)).is_none());
    assert_eq!(cache.stats().evicted, 2);
    // Another process's entries count too.
    let other = CodeCache::open(cache.dir()).unwrap().with_limit(20_000);
    for n in 10..16 {
        other.put(&key(n), &code).unwrap();
    }
    cache.put(&key(20), &code).unwrap();
    assert!(bytes(&cache) <= 10_000);
}

#[test]
fn what_killed_writers_left_is_removed() {
    let (_dir, cache) = open();
    let left = |name: &str, age: u64| {
        let path = cache.dir().join(format!(".gantry-writing-{name}"));
        fs::write(&path, [0; 500]).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        file.set_modified(time).unwrap();
        path
    };
    let (dead, alive) = (left("dead", 4000), left("alive", 10));
    cache.put(&key(1), b"code").unwrap();
    assert!(!dead.exists() && alive.exists());
}

/// Stores and reads a few codes, with room for half of them, as many processes do at once.
fn store_and_read(dir: &Path, seed: u64) -> CacheStats {
    let cache = CodeCache::open(dir).unwrap().with_limit(LIMIT);
    let mut rng = Rng(seed);
    for _ in 0..400 {
        let n = rng.below(16) as u8;
        match rng.below(3) {
            0 => cache.put(&key(n), &code(n, rng.next())).unwrap(),
            _ => {
                if let Some(found) = cache.get(&key(n)) {
                    assert!(is_whole(n, &found), "seed {seed}, key {n}");
                }
            }
        }
    }
    cache.stats()
}

const LIMIT: u64 = 100_000;

#[test]
fn many_processes_at_once() {
    if let Some((dir, seed)) = started() {
        let stats = store_and_read(&dir, seed);
        assert!(stats.hits > 0 && stats.damaged == 0, "{stats:?}");
        return;
    }
    let (_dir, cache) = open();
    let children: Vec<Child> = (0..6)
        .map(|n| process("many_processes_at_once", cache.dir(), n))
        .collect();
    // Threads of this process take part too.
    let dir = cache.dir();
    std::thread::scope(|s| {
        let threads: Vec<_> = (10..13)
            .map(|n| s.spawn(move || store_and_read(dir, n)))
            .collect();
        for t in threads {
            assert_eq!(t.join().unwrap().damaged, 0);
        }
    });
    for mut c in children {
        assert!(c.wait().unwrap().success());
    }
    // Each of nine may have passed the limit by a sixteenth, and by one code.
    assert!(bytes(&cache) <= LIMIT + 9 * (LIMIT / 16 + 24_200));
    assert!(
        files(&cache)
            .iter()
            .all(|f| f.extension().is_some_and(|e| e == "gantry-code"))
    );
}

#[test]
fn writers_killed_at_any_point() {
    if let Some((dir, seed)) = started() {
        let cache = CodeCache::open(dir).unwrap();
        let mut rng = Rng(seed);
        loop {
            let n = rng.below(8) as u8;
            cache.put(&key(n), &code(n, rng.next())).unwrap();
        }
    }
    let (_dir, cache) = open();
    let mut rng = Rng(5);
    let mut found = 0;
    let mut left = 0;
    for round in 0..60 {
        let mut children: Vec<Child> = (0..2)
            .map(|n| process("writers_killed_at_any_point", cache.dir(), round * 2 + n))
            .collect();
        std::thread::sleep(Duration::from_micros(5_000 + rng.below(25_000)));
        for c in &mut children {
            c.kill().unwrap();
            c.wait().unwrap();
        }
        for n in 0..8 {
            if let Some(code) = cache.get(&key(n)) {
                assert!(is_whole(n, &code), "round {round}, key {n}");
                found += 1;
            }
        }
        let writing = |p: &&PathBuf| p.extension().is_none_or(|e| e != "gantry-code");
        left = files(&cache).iter().filter(writing).count();
    }
    assert_eq!(cache.stats().damaged, 0);
    assert!(found > 0, "no writer came so far as to store one");
    println!("{found} codes found, {left} files left by killed writers");
}

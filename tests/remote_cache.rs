//! Code cache that processes share over a store: a directory, Redis (Debian's, on loopback), and
//! servers that are down or silent.
//!
//! `cargo test -p gantry --features remote-cache --test remote_cache` runs it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code"
)]

use gantry::prelude::*;
use gantry::runtime::{RemoteCache, RemoteStats};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Variables for the processes that tests start: the directory, and the URI of the store.
const DIR: &str = "GANTRY_TEST_CACHE";
const STORE: &str = "GANTRY_TEST_STORE";
/// Number of kernels that a process needs.
const KERNELS: u32 = 6;
/// Time that a request to a silent server may cost.
const TIMEOUT: Duration = Duration::from_millis(400);

/// Compiles the kernel of a number through the cache and runs it. Returns true if it was in the
/// cache.
fn compile_and_run(cache: &CodeCache, n: u32) -> bool {
    let text = format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(16) fn add(@builtin(global_invocation_id) id: vec3<u32>) {{
            y[id.x] += {n}u;
        }}"
    );
    let device = Device::named("skl").unwrap();
    let target = CompileOptions::for_device(&device.info()).unwrap();
    let context = &mut Context::new();
    let code = compile_wgsl_cached(cache, context, &text, &Default::default(), &target).unwrap();
    let y = device.buffer_from(&[1u32; 16]).unwrap();
    let add = device.load(&code).unwrap().kernel("add").unwrap();
    add.dispatch([1, 1, 1]).bind(0, 0, &y).run().unwrap();
    assert_eq!(y.read::<u32>().unwrap(), [1 + n; 16]);
    code.is_hit()
}

fn open(dir: &Path, store: &str) -> CodeCache {
    let remote = RemoteCache::open(store).unwrap();
    let remote = remote.with_times(TIMEOUT, Duration::from_secs(600));
    CodeCache::open(dir).unwrap().with_remote(remote)
}

/// Compiles and runs kernels of a range of numbers; returns how many were in the cache.
fn hits(cache: &CodeCache, kernels: std::ops::Range<u32>) -> u32 {
    kernels.map(|n| u32::from(compile_and_run(cache, n))).sum()
}

fn stats(cache: &CodeCache) -> RemoteStats {
    cache.remote().unwrap().stats()
}

/// Runs another process with a directory of its own, and returns the hits and the remote cache's
/// counts that it prints.
fn process(store: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_with_a_cache", "--nocapture"])
        .env(DIR, dir.path())
        .env(STORE, store)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{text}");
    let line = text.lines().find_map(|l| l.split_once("counts: "));
    line.unwrap().1.to_owned()
}

#[test]
fn a_process_with_a_cache() {
    let Some(dir) = std::env::var_os(DIR) else {
        return;
    };
    let cache = open(Path::new(&dir), &std::env::var(STORE).unwrap());
    let found = hits(&cache, 0..KERNELS);
    let RemoteStats {
        refused,
        stored,
        failures,
        ..
    } = stats(&cache);
    println!("counts: {found} hits, {refused} refused, {stored} stored, {failures} failures");
}

/// Server of Redis on loopback, which ends with the test.
struct Redis {
    server: Child,
    port: u16,
    _dir: tempfile::TempDir,
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.end();
    }
}

impl Redis {
    /// Starts a server. Prints a line and returns `None` where Redis is not installed.
    fn start() -> Option<Redis> {
        let dir = tempfile::tempdir().unwrap();
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let started = Command::new("redis-server")
            .args([
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--port",
                &port.to_string(),
            ])
            .arg("--dir")
            .arg(dir.path())
            .stdout(Stdio::null())
            .spawn();
        let Ok(server) = started else {
            assert!(
                std::env::var_os("GANTRY_REQUIRE_ORACLES").is_none_or(|v| v != "1"),
                "redis-server is not on PATH, and GANTRY_REQUIRE_ORACLES=1"
            );
            println!("skipped: redis-server is not on PATH");
            return None;
        };
        let redis = Redis {
            server,
            port,
            _dir: dir,
        };
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(redis)
    }

    fn end(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    fn uri(&self) -> String {
        format!("redis://127.0.0.1:{}/gantry", self.port)
    }

    /// Sends a command in the server's protocol, and reads the first answer: a string, the number
    /// of an array's elements, or a status.
    fn send(&self, words: &[&[u8]]) -> (BufReader<TcpStream>, Vec<u8>) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        write!(stream, "*{}\r\n", words.len()).unwrap();
        for w in words {
            write!(stream, "${}\r\n", w.len()).unwrap();
            stream.write_all(w).unwrap();
            stream.write_all(b"\r\n").unwrap();
        }
        let mut reader = BufReader::new(stream);
        let answer = next(&mut reader);
        (reader, answer)
    }

    fn keys(&self) -> Vec<Vec<u8>> {
        let (mut reader, count) = self.send(&[b"KEYS", b"*"]);
        let count: usize = String::from_utf8(count).unwrap().parse().unwrap();
        (0..count).map(|_| next(&mut reader)).collect()
    }

    fn get(&self, key: &[u8]) -> Vec<u8> {
        self.send(&[b"GET", key]).1
    }

    fn set(&self, key: &[u8], value: &[u8]) {
        assert_eq!(self.send(&[b"SET", key, value]).1, b"OK");
    }
}

/// Reads an answer of Redis, as [`Redis::send`] says.
fn next(reader: &mut BufReader<TcpStream>) -> Vec<u8> {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let (kind, rest) = line.trim_end().split_at(1);
    if kind != "$" {
        return rest.as_bytes().to_vec();
    }
    let mut bytes = vec![0; rest.parse::<usize>().unwrap() + 2];
    reader.read_exact(&mut bytes).unwrap();
    bytes.truncate(bytes.len() - 2);
    bytes
}

#[test]
fn two_processes_share_redis() {
    let Some(redis) = Redis::start() else { return };
    let all = |hits: u32, refused: u32, stored: u32| {
        format!("{hits} hits, {refused} refused, {stored} stored, 0 failures")
    };
    assert_eq!(process(&redis.uri()), all(0, 0, KERNELS));
    // The second compiles nothing.
    assert_eq!(process(&redis.uri()), all(KERNELS, 0, 0));
    // Entries cut off, changed, emptied, replaced by others and by text are refused and mended.
    let keys = redis.keys();
    let entries: Vec<Vec<u8>> = keys.iter().map(|k| redis.get(k)).collect();
    assert_eq!(entries.len(), KERNELS as usize);
    redis.set(&keys[0], &entries[0][..entries[0].len() / 2]);
    let mut changed = entries[1].clone();
    let last = changed.len() - 9;
    changed[last] ^= 1;
    redis.set(&keys[1], &changed);
    redis.set(&keys[2], b"");
    redis.set(&keys[3], &entries[4]);
    redis.set(&keys[4], b"no entry");
    assert_eq!(process(&redis.uri()), all(1, 5, 5));
    assert_eq!(process(&redis.uri()), all(KERNELS, 0, 0));
    for (key, entry) in keys.iter().zip(&entries) {
        assert_eq!(&redis.get(key), entry);
    }
}

#[test]
fn a_server_that_ends_is_no_error() {
    let Some(mut redis) = Redis::start() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path(), &redis.uri());
    assert_eq!(hits(&cache, 0..3), 0);
    redis.end();
    assert_eq!(hits(&cache, 0..KERNELS), 3);
    let counts = stats(&cache);
    // One request failed, and the others were not made.
    assert_eq!((counts.stored, counts.failures), (3, 1));
    // The directory has all of it.
    assert_eq!(hits(&cache, 0..KERNELS), KERNELS);
    // A server that is not there when a process starts.
    assert_eq!(
        process(&redis.uri()),
        "0 hits, 0 refused, 0 stored, 1 failures"
    );
}

#[test]
fn a_silent_server_costs_its_time_once() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path(), &format!("redis://127.0.0.1:{port}"));
    let start = Instant::now();
    assert_eq!(hits(&cache, 0..1), 0);
    assert!(start.elapsed() >= TIMEOUT);
    assert_eq!(hits(&cache, 1..KERNELS), 0);
    assert_eq!(stats(&cache).failures, 1);
    assert_eq!(hits(&cache, 0..KERNELS), KERNELS);
}

#[test]
fn a_store_that_comes_back_is_used_again() {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let remote = RemoteCache::open(&format!("redis://127.0.0.1:{port}")).unwrap();
    let remote = remote.with_times(Duration::from_millis(50), Duration::ZERO);
    let dir = tempfile::tempdir().unwrap();
    let cache = CodeCache::open(dir.path()).unwrap().with_remote(remote);
    assert_eq!(hits(&cache, 0..1), 0);
    // Without a pause, looking up and storing are both tried.
    assert_eq!(stats(&cache).failures, 2);
}

/// A directory as the store, from tasks of a runtime of the host too, and with secrets.
#[test]
fn a_directory_is_a_store() {
    let store = tempfile::tempdir().unwrap();
    let uri = format!("fs://{}", store.path().display());
    let with = |secret: Option<&[u8]>| {
        let remote = RemoteCache::open(&uri).unwrap();
        let remote = match secret {
            Some(secret) => remote.with_secret(secret),
            None => remote,
        };
        let dir = tempfile::tempdir().unwrap();
        let cache = CodeCache::open(dir.path()).unwrap().with_remote(remote);
        (hits(&cache, 0..2), stats(&cache).refused, dir)
    };
    let counts = |secret| {
        let (hits, refused, _dir) = with(secret);
        (hits, refused)
    };
    assert_eq!(counts(Some(b"secret")), (0, 0));
    assert_eq!(counts(Some(b"secret")), (2, 0));
    // Of another secret, or of none, an entry is refused and replaced.
    assert_eq!(counts(Some(b"other")), (0, 2));
    assert_eq!(counts(None), (0, 2));
    assert_eq!(counts(None), (2, 0));
    assert_eq!(counts(Some(b"secret")), (0, 2));
}

#[test]
fn wrong_uris_are_errors_that_name_them() {
    for uri in ["", "redis", "gopher://host/path", "redis://"] {
        let error = RemoteCache::open(uri).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{uri}: ")), "{error}");
    }
    let remote = RemoteCache::open("redis://user:word@127.0.0.1:1/0/code").unwrap();
    let shown = format!("{remote:?}");
    assert!(
        !shown.contains("word") && shown.contains("127.0.0.1:1"),
        "{shown}"
    );
}

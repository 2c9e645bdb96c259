//! Cache of compiled code behind the local one: a store that several machines share.
//!
//! The store is whatever `opendal` reaches: a directory, Redis, S3. An entry is an object named
//! after its key. It holds an entry's file of the local cache and, if the hosts share a secret, an
//! HMAC of it. An entry that is not whole, of another key or of another secret is a miss.
//!
//! No host waits for a store that is down. Each request has a time limit. After one that fails, the
//! store is left alone for a while, and only the local cache is used.

use super::{entry_of, file_name};
use hmac::{Hmac, KeyInit, Mac};
use opendal::layers::{RetryLayer, TimeoutLayer};
use opendal::{ErrorKind, Operator};
use sha2::Sha256;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Length of an HMAC in bytes.
const SEAL: usize = 32;

/// Store of compiled code that several machines share, for [`CodeCache::with_remote`].
///
/// Whoever can write to the store decides what code runs. [`Self::with_secret`] narrows that to the
/// hosts that have the secret.
///
/// [`CodeCache::with_remote`]: super::CodeCache::with_remote
pub struct RemoteCache {
    store: Operator,
    /// Threads that requests run on. Taken when the cache is dropped.
    runtime: Option<Runtime>,
    uri: String,
    secret: Option<Vec<u8>>,
    timeout: Duration,
    pause: Duration,
    /// Time until which the store is left alone.
    alone_until: Mutex<Option<Instant>>,
    hits: AtomicU64,
    misses: AtomicU64,
    refused: AtomicU64,
    stored: AtomicU64,
    failures: AtomicU64,
}

/// Counts of a remote cache since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RemoteStats {
    /// Lookups that found code.
    pub hits: u64,
    /// Lookups that found none, refused entries included.
    pub misses: u64,
    /// Entries that were damaged, of another key, or of another secret.
    pub refused: u64,
    /// Entries that were stored.
    pub stored: u64,
    /// Requests that failed or took too long. The store was left alone after each.
    pub failures: u64,
}

impl RemoteCache {
    /// Time limit of a request of a new cache.
    pub const TIMEOUT: Duration = Duration::from_secs(2);
    /// Time for which a store is left alone after a request that failed.
    pub const PAUSE: Duration = Duration::from_secs(60);

    /// Opens the store of a URI, as `opendal` names its services and their options:
    /// `redis://HOST:6379/0/gantry`, `fs:///mnt/share/gantry`, `memory://`, and with the feature
    /// `remote-cache-http` also `s3://BUCKET/gantry?region=eu-west-1`. Nothing is connected yet.
    ///
    /// # Errors
    /// The service is unknown or not part of this build, or an option is wrong.
    pub fn open(uri: &str) -> io::Result<RemoteCache> {
        opendal::install_default();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("gantry-cache")
            .enable_all()
            .build()?;
        let store = {
            // Some services look for the runtime when they are made.
            let _inside = runtime.enter();
            Operator::from_uri(uri).map_err(|e| io::Error::other(format!("{uri}: {e}")))?
        };
        let retry = RetryLayer::default()
            .with_max_times(1)
            .with_min_delay(Duration::from_millis(20));
        let timeout = TimeoutLayer::default()
            .with_timeout(Self::TIMEOUT)
            .with_io_timeout(Self::TIMEOUT);
        Ok(RemoteCache {
            store: store.layer(timeout).layer(retry),
            runtime: Some(runtime),
            uri: uri.to_owned(),
            secret: None,
            timeout: Self::TIMEOUT,
            pause: Self::PAUSE,
            alone_until: Mutex::new(None),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            stored: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        })
    }

    /// Seals entries by a secret that the hosts share, and refuses those without the right seal.
    #[must_use]
    pub fn with_secret(mut self, secret: &[u8]) -> RemoteCache {
        self.secret = Some(secret.to_vec());
        self
    }

    /// Sets the time limit of a request, retries included, and how long the store is left alone
    /// after one that failed.
    #[must_use]
    pub fn with_times(mut self, timeout: Duration, pause: Duration) -> RemoteCache {
        self.timeout = timeout;
        self.pause = pause;
        self
    }

    /// Returns the counts since the cache was opened.
    pub fn stats(&self) -> RemoteStats {
        RemoteStats {
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            refused: self.refused.load(Relaxed),
            stored: self.stored.load(Relaxed),
            failures: self.failures.load(Relaxed),
        }
    }

    /// Returns the bytes of a key's entry, checked whole.
    pub(super) fn get(&self, key: &[u8; 32]) -> Option<Vec<u8>> {
        let (store, path) = (self.store.clone(), file_name(key));
        let found = self.request(async move {
            match store.read(&path).await {
                Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
                read => read.map(|bytes| Some(bytes.to_vec())),
            }
        });
        let entry = found.flatten().and_then(|bytes| {
            let entry = self.checked(key, bytes);
            self.refused.fetch_add(u64::from(entry.is_none()), Relaxed);
            entry
        });
        let count = if entry.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Relaxed);
        entry
    }

    /// Stores a key's entry. A failure is counted and no error: the store is then left alone.
    pub(super) fn put(&self, key: &[u8; 32], mut entry: Vec<u8>) {
        if let Some(seal) = self.seal(&entry) {
            entry.extend_from_slice(&seal.finalize().into_bytes());
        }
        let (store, path) = (self.store.clone(), file_name(key));
        let done = self.request(async move { store.write(&path, entry).await.map(|_| ()) });
        self.stored.fetch_add(u64::from(done.is_some()), Relaxed);
    }

    /// Removes the seal of an entry, and checks both. Returns `None` for an entry to refuse.
    fn checked(&self, key: &[u8; 32], mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        if self.secret.is_some() {
            let at = bytes.len().checked_sub(SEAL)?;
            let found = bytes.split_off(at);
            self.seal(&bytes)?.verify_slice(&found).ok()?;
        }
        entry_of(&bytes, key)?;
        Some(bytes)
    }

    /// Begins the seal of an entry, if there is a secret.
    fn seal(&self, entry: &[u8]) -> Option<Hmac<Sha256>> {
        let secret = self.secret.as_deref()?;
        let mut seal = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        seal.update(entry);
        Some(seal)
    }

    /// Runs a request within the time limit, unless the store is left alone. It runs on a thread of
    /// the cache, so that the caller may itself be a task of some runtime.
    fn request<T: Send + 'static>(
        &self,
        work: impl Future<Output = opendal::Result<T>> + Send + 'static,
    ) -> Option<T> {
        if self.is_left_alone() {
            return None;
        }
        let (send, receive) = channel();
        let task = self.runtime.as_ref()?.spawn(async move {
            // Nobody waits for it any more if this fails.
            let _ = send.send(work.await);
        });
        let answer = receive.recv_timeout(self.timeout);
        if let Err(RecvTimeoutError::Timeout) = answer {
            task.abort();
        }
        match answer {
            Ok(Ok(found)) => Some(found),
            _ => {
                self.failures.fetch_add(1, Relaxed);
                *self.alone() = Instant::now().checked_add(self.pause);
                None
            }
        }
    }

    fn is_left_alone(&self) -> bool {
        let mut until = self.alone();
        let alone = until.is_some_and(|t| Instant::now() < t);
        if !alone {
            *until = None;
        }
        alone
    }

    fn alone(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.alone_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RemoteCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URI may have a password, up to its `@`.
        let shown = match (self.uri.split_once("://"), self.uri.rsplit_once('@')) {
            (Some((service, _)), Some((_, rest))) => format!("{service}://{rest}"),
            _ => self.uri.clone(),
        };
        let shown = shown.split('?').next().unwrap_or_default();
        f.debug_tuple("RemoteCache").field(&shown).finish()
    }
}

impl Drop for RemoteCache {
    fn drop(&mut self) {
        // Waiting for its threads could block for ever, and is forbidden to tasks.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

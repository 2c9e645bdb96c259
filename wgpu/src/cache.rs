//! Pipeline caches: zebins by the keys of their shaders.
//!
//! The data that a program stores and brings back is
//!
//! | bytes | |
//! |---|---|
//! | 0 to 31 | SHA-256 of the rest |
//! | then, for each zebin | key of 32 bytes, length as a little-endian `u64`, the zebin |
//!
//! wgpu-core puts a header of its own before it, with the validation key of the device.

use gantry::codegen::CompileOptions;
use gantry::spirv::{Options, Simd, cache_key};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Key = [u8; 32];
type Zebins = BTreeMap<Key, Arc<[u8]>>;

/// Pipeline cache. A handle.
#[derive(Clone, Debug, Default)]
pub struct Cache(Arc<Mutex<Zebins>>);

impl Cache {
    /// Creates a cache of stored data. What is damaged counts as nothing.
    pub(crate) fn new(data: Option<&[u8]>) -> Cache {
        let zebins = data.map(|data| {
            read(data).unwrap_or_else(|| {
                log::warn!("gantry-wgpu: the data of a pipeline cache is damaged and is not used");
                Zebins::new()
            })
        });
        Cache(Arc::new(Mutex::new(zebins.unwrap_or_default())))
    }

    fn zebins(&self) -> MutexGuard<'_, Zebins> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn get(&self, key: &Key) -> Option<Arc<[u8]>> {
        self.zebins().get(key).cloned()
    }

    pub(crate) fn put(&self, key: &Key, zebin: &[u8]) {
        self.zebins().insert(*key, zebin.into());
    }

    /// Returns the data to store.
    pub(crate) fn data(&self) -> Vec<u8> {
        let mut all = vec![0; size_of::<Key>()];
        for (key, zebin) in self.zebins().iter() {
            all.extend_from_slice(key);
            all.extend_from_slice(&(zebin.len() as u64).to_le_bytes());
            all.extend_from_slice(zebin);
        }
        if let Some((sum, rest)) = all.split_first_chunk_mut::<32>() {
            *sum = Sha256::digest(rest).into();
        }
        all
    }
}

/// Reads stored data. Returns `None` if it is damaged.
fn read(data: &[u8]) -> Option<Zebins> {
    let (sum, mut rest) = data.split_first_chunk::<32>()?;
    if Sha256::digest(rest)[..] != sum[..] {
        return None;
    }
    let mut zebins = Zebins::new();
    while !rest.is_empty() {
        let (key, after) = rest.split_first_chunk::<32>()?;
        let (length, after) = after.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (zebin, after) = after.split_at_checked(length)?;
        zebins.insert(*key, zebin.into());
        rest = after;
    }
    Some(zebins)
}

/// Returns what changes with the compiler, the target and the size of sub-groups: data of another
/// is out of date for wgpu-core.
pub(crate) fn validation_key(target: &CompileOptions, sub_group_size: u32) -> [u8; 16] {
    let options = Options {
        simd: Simd::Width(sub_group_size),
        ..Options::default()
    };
    let mut short = [0; 16];
    for (to, from) in short
        .iter_mut()
        .zip(cache_key(&[], &options, target).as_bytes())
    {
        *to = *from;
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_comes_back_and_damage_is_found() {
        let cache = Cache::default();
        assert_eq!(Cache::new(Some(&cache.data())).zebins().len(), 0);
        cache.put(&[1; 32], &[1, 2, 3]);
        cache.put(&[2; 32], &[]);
        let data = cache.data();
        assert_eq!(
            Cache::new(Some(&data)).zebins().clone(),
            cache.zebins().clone()
        );
        for at in 0..data.len() {
            let mut damaged = data.clone();
            damaged[at] ^= 0x10;
            assert!(read(&damaged).is_none(), "byte {at}");
            assert!(read(&data[..at]).is_none(), "{at} bytes");
        }
    }
}

//! Cache policies of accesses, from decorations of their pointers (`SPV_INTEL_cache_controls`).
//!
//! Level 0 is the first level of the caches, level 1 the third one. A level without a decoration is
//! cached. What messages do not have is left out, as a policy permits and promises nothing else.

use super::Emit;
use crate::read::Id;
use gantry_codegen::ir::{CachePolicy, LevelPolicy, MemFlags, Opcode, Space};
use spirv::{Decoration, LoadCacheControl, StoreCacheControl};

fn load_policy(control: u32) -> Option<LevelPolicy> {
    Some(match LoadCacheControl::from_u32(control)? {
        LoadCacheControl::UncachedINTEL => LevelPolicy::Uncached,
        LoadCacheControl::CachedINTEL | LoadCacheControl::ConstCachedINTEL => LevelPolicy::Cached,
        LoadCacheControl::StreamingINTEL => LevelPolicy::Streaming,
        LoadCacheControl::InvalidateAfterReadINTEL => LevelPolicy::ReadInvalidate,
    })
}

fn store_policy(control: u32) -> Option<LevelPolicy> {
    Some(match StoreCacheControl::from_u32(control)? {
        StoreCacheControl::UncachedINTEL => LevelPolicy::Uncached,
        StoreCacheControl::WriteThroughINTEL => LevelPolicy::WriteThrough,
        StoreCacheControl::WriteBackINTEL => LevelPolicy::WriteBack,
        StoreCacheControl::StreamingINTEL => LevelPolicy::Streaming,
    })
}

impl Emit<'_, '_, '_> {
    /// Returns the cache policy of an access through a pointer, for the opcode that makes it.
    pub(super) fn cache_policy(&self, pointer: Id, opcode: Opcode) -> CachePolicy {
        let loads = matches!(
            opcode,
            Opcode::Load | Opcode::Bload | Opcode::Block2dLoad | Opcode::Block2dPrefetch
        );
        let (decoration, policy): (_, fn(u32) -> Option<LevelPolicy>) = if loads {
            (Decoration::CacheControlLoadINTEL, load_policy)
        } else {
            (Decoration::CacheControlStoreINTEL, store_policy)
        };
        let mut cache = CachePolicy::DEFAULT;
        for (_, d, words) in self.m.decorations(self.body.origin(pointer)) {
            if d != decoration {
                continue;
            }
            match *words {
                [0, control] => cache.l1 = policy(control).unwrap_or_default(),
                [1, control] => cache.l3 = policy(control).unwrap_or_default(),
                _ => {}
            }
        }
        cache.completed(opcode)
    }

    /// Returns the flags of an access through a pointer with its cache policy. Volatile accesses
    /// and atomics bypass the first level.
    pub(in crate::emit) fn with_cache_policy(
        &self,
        pointer: Id,
        opcode: Opcode,
        mem: MemFlags,
    ) -> MemFlags {
        if !matches!(mem.space, Space::Global | Space::Surface(_)) {
            return mem;
        }
        let cache = self.cache_policy(pointer, opcode);
        if cache != CachePolicy::DEFAULT && mem.volatile {
            let l1 = LevelPolicy::Uncached;
            return mem.cached(CachePolicy { l1, ..cache }.completed(opcode));
        }
        mem.cached(cache)
    }
}

//! Thread payload: r0, local ids and cross-thread data.
//!
//! Before Xe-HP everything is in registers. From Xe-HP on, registers hold only inline data and,
//! where the hardware generates them, local ids. The rest is indirect data in memory, which the
//! kernel loads itself. Sources: compute-runtime, `EncodeDispatchKernel` and `PerThreadDataHelper`;
//! the thread payloads of the PRMs ("Media GPGPU Pipeline").

use super::super::memory::Block;
use super::super::regs;
use super::super::thread::Thread;
use crate::zebin::{KernelInfo, PerThreadIds};
use gantry_isa_gen::Platform;

/// Start of indirect data, as an offset from general state base (Xe-HP and later). The driver
/// aligns it to 64 bytes. It is not 0, so that code that ignores `r0.0` is found out.
pub(in super::super) const INDIRECT_BASE: u32 = 0x1000;

/// Limit on the work-items of a group with hardware-generated local ids. Larger groups load theirs
/// from memory (compute-runtime, `isRuntimeLocalIdsGenerationRequired`).
const MAX_HARDWARE_IDS: u32 = 1024;

/// Walk orders of the hardware in the order that the driver tries them: dimensions, fastest first.
const WALKS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [2, 0, 1],
    [1, 2, 0],
    [2, 1, 0],
];

/// Layout of a kernel's payload.
pub(in super::super) struct PayloadLayout {
    platform: Platform,
    /// Bytes of a GRF.
    grf: u32,
    simd: u32,
    /// Bytes of per-thread data of a thread, in whole GRFs.
    per_thread: u32,
    /// Bytes of cross-thread data.
    cross: u32,
    /// Part that is not in memory, from Xe-HP on.
    inline: Option<InlinePayload>,
    /// Bytes of implicit arguments before the cross-thread data in memory.
    implicit: u32,
}

/// Part of a payload that the hardware loads to registers on Xe-HP and later.
#[derive(Clone, Copy)]
struct InlinePayload {
    /// Bytes of cross-thread data in registers.
    bytes: u32,
    /// Byte offset of the kernel's entry after the loads of local ids.
    skip: u32,
}

/// Order of a group's work-items on its channels.
#[derive(Clone, Copy)]
pub(in super::super) struct LocalIdWalk {
    size: [u32; 3],
    /// Dimensions, fastest first.
    order: [usize; 3],
    /// True if the hardware generates the local ids. Otherwise they are in memory.
    hardware: bool,
    /// Bytes of one dimension of a thread's local ids.
    row: u32,
}

impl PayloadLayout {
    pub(super) fn new(platform: Platform, kernel: &KernelInfo, implicit: u32) -> PayloadLayout {
        let grf = platform.features().grf_bytes;
        let cross = kernel.cross_thread_bytes();
        let per_thread = kernel
            .per_thread
            .iter()
            .map(|p| p.offset.saturating_add(p.size).next_multiple_of(grf))
            .max()
            .unwrap_or(0);
        let inline = (platform >= Platform::XeHp).then_some(InlinePayload {
            bytes: kernel.env.inline_data_payload_size.min(cross),
            skip: kernel.env.offset_to_skip_per_thread_data_load,
        });
        PayloadLayout {
            platform,
            grf,
            simd: kernel.env.simd_size,
            // Before Xe-HP a kernel without local ids still gets a register for them, with unused
            // contents.
            per_thread: if inline.is_none() {
                per_thread.max(grf)
            } else {
                per_thread
            },
            cross,
            inline,
            implicit,
        }
    }

    /// Returns the bytes of registers that the payload takes when a thread starts.
    pub(super) fn register_bytes(&self) -> u32 {
        let cross = match self.inline {
            None => self.cross,
            Some(i) => i.bytes,
        };
        self.grf + self.per_thread + cross.next_multiple_of(self.grf)
    }

    /// Returns the bytes of a group's indirect data. It is 0 before Xe-HP, where threads do not see
    /// it.
    pub(in super::super) fn indirect_bytes(&self, threads: u32) -> u64 {
        match self.inline {
            None => 0,
            Some(i) => {
                u64::from(self.implicit + self.cross - i.bytes)
                    + u64::from(threads) * u64::from(self.per_thread)
            }
        }
    }

    /// Returns the order of a group's work-items. Channels count x fastest, except where the
    /// hardware generates the ids. It uses the first order whose two fastest dimensions are powers
    /// of two.
    pub(in super::super) fn walk(&self, size: [u32; 3]) -> LocalIdWalk {
        let linear = LocalIdWalk {
            size,
            order: WALKS[0],
            hardware: false,
            row: (self.simd * 2).next_multiple_of(self.grf),
        };
        let items = size.iter().product::<u32>();
        if self.inline.is_none()
            || self.per_thread == 0
            || self.simd == 1
            || items > MAX_HARDWARE_IDS
        {
            return linear;
        }
        let fits = |o: &&[usize; 3]| size[o[0]].is_power_of_two() && size[o[1]].is_power_of_two();
        match WALKS.iter().find(fits) {
            Some(&order) => LocalIdWalk {
                order,
                hardware: true,
                ..linear
            },
            None => linear,
        }
    }

    /// Returns the entry of a group's threads, as a byte offset from the kernel's start.
    pub(in super::super) fn entry(&self, walk: &LocalIdWalk) -> u32 {
        match self.inline {
            Some(i) if walk.hardware => i.skip,
            _ => 0,
        }
    }

    /// Writes what the group's threads share to its indirect data: implicit arguments, and the
    /// cross-thread data that is not inline.
    pub(in super::super) fn share(&self, indirect: &Block, implicit: &[u8], cross: &[u8]) {
        if let Some(rest) = self.inline.and_then(|i| cross.get(i.bytes as usize..)) {
            if self.implicit > 0 {
                indirect.write(0, implicit);
            }
            indirect.write(u64::from(self.implicit), rest);
        }
    }

    /// Loads a thread's payload, for `lanes` work-items.
    #[allow(
        clippy::too_many_arguments,
        reason = "one thread's start: all of it is used"
    )]
    pub(in super::super) fn start(
        &self,
        t: &mut Thread,
        kernel: &KernelInfo,
        walk: &LocalIdWalk,
        cross: &[u8],
        indirect: &Block,
        number: u32,
        lanes: u32,
    ) {
        let first = number * self.simd;
        match self.inline {
            None => {
                let ids = t.regs.get_mut(self.grf, self.per_thread as usize);
                walk.ids(kernel, first, lanes, ids);
                let at = self.grf + self.per_thread;
                t.regs.get_mut(at, cross.len()).copy_from_slice(cross);
            }
            Some(i) => {
                let mut at = self.grf;
                if walk.hardware {
                    let ids = t.regs.get_mut(at, self.per_thread as usize);
                    walk.ids(kernel, first, lanes, ids);
                    at += self.per_thread;
                } else if self.per_thread > 0 {
                    let mut ids = vec![0; self.per_thread as usize];
                    walk.ids(kernel, first, lanes, &mut ids);
                    let shared = u64::from(self.implicit + self.cross - i.bytes);
                    indirect.write(shared + u64::from(number * self.per_thread), &ids);
                }
                let inline = cross.get(..i.bytes as usize).unwrap_or(&[]);
                t.regs.get_mut(at, inline.len()).copy_from_slice(inline);
            }
        }
    }

    /// Writes r0, and the thread's number in `sr0`.
    ///
    /// - `threads` is the number of threads of the group, which barriers wait for. It is in r0.2
    ///   bits 31:24 from Xe-HP on. Compiled kernels copy that byte to both counts of a barrier
    ///   message.
    /// - `scratch` is the scratch bits of `r0.5`, with its low ten bits clear.
    /// - `scratch_code` is the size of a thread's scratch: 1 KB shifted left by it.
    pub(in super::super) fn header(
        &self,
        t: &mut Thread,
        group: [u32; 3],
        (number, threads): (u32, u32),
        scratch: u32,
        scratch_code: u32,
    ) {
        let [x, y, z] = group;
        t.regs.set_u32(4, x);
        t.regs.set_u32(24, y);
        t.regs.set_u32(28, z);
        if self.inline.is_some() {
            t.regs.set_u32(0, INDIRECT_BASE);
            t.regs.set_u32(8, number | threads << 24);
            t.regs.set_u32(20, scratch | number & 0x3ff);
        } else {
            t.regs.set_u32(12, scratch_code);
            // Bit 9 marks a compute thread; from Gen11 on it belongs to the number. The low bits
            // are the hardware thread's number.
            let compute = u32::from(self.platform < Platform::Gen11) << 9;
            t.regs.set_u32(20, scratch | compute | number & 0x3ff);
        }
        t.regs.set_u32(regs::SR0, self.state(number));
    }

    /// Returns sr0.0 of a hardware thread: thread of the EU, EU, subslice and slice. Kernels
    /// compute a number from it by removing the bits that no thread has.
    fn state(&self, number: u32) -> u32 {
        let thread = number & 7;
        match self.platform {
            Platform::XeHp | Platform::XeHpg => thread | (number >> 3 & 3) << 4 | number >> 5 << 7,
            Platform::XeHpc => thread | (number >> 3 & 3) << 4 | number >> 5 << 8,
            _ => thread | (number >> 3 & 7) << 8,
        }
    }
}

impl LocalIdWalk {
    /// Returns the position of a work-item in its group.
    fn item(&self, number: u32) -> [u32; 3] {
        let [a, b, c] = self.order;
        let (na, nb) = (self.size[a].max(1), self.size[b].max(1));
        let mut id = [0u32; 3];
        id[a] = number % na;
        id[b] = number / na % nb;
        id[c] = number / na / nb;
        id
    }

    /// Writes the local ids of `lanes` work-items from number `first` on as words. Each dimension
    /// has a row of `row` bytes, for as many dimensions as `out` holds.
    pub(super) fn rows(&self, first: u32, lanes: u32, row: u32, out: &mut [u8]) {
        let [a, b, c] = self.order;
        let mut id = self.item(first);
        for lane in 0..lanes {
            for (d, id) in id.iter().enumerate() {
                put(out, d as u32 * row + lane * 2, *id);
            }
            id[a] += 1;
            if id[a] >= self.size[a] {
                id[a] = 0;
                id[b] += 1;
                if id[b] >= self.size[b] {
                    id[b] = 0;
                    id[c] += 1;
                }
            }
        }
    }

    /// Writes a thread's per-thread data.
    fn ids(&self, kernel: &KernelInfo, first: u32, lanes: u32, out: &mut [u8]) {
        for p in &kernel.per_thread {
            let place = p.offset as usize..(p.offset + p.size) as usize;
            let Some(out) = out.get_mut(place) else {
                continue;
            };
            match p.kind {
                PerThreadIds::Packed => self.packed(first, out),
                PerThreadIds::Local => self.rows(first, lanes, self.row, out),
            }
        }
    }

    /// Writes the local id of a work-item as consecutive words, as far as they fit.
    pub(super) fn packed(&self, number: u32, out: &mut [u8]) {
        for (d, id) in self.item(number).iter().enumerate() {
            put(out, d as u32 * 2, *id);
        }
    }
}

/// Writes a local id.
fn put(out: &mut [u8], at: u32, id: u32) {
    if let Some(o) = out.get_mut(at as usize..).and_then(<[u8]>::first_chunk_mut) {
        *o = (id as u16).to_le_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zebin::{ExecutionEnv, LaunchFact, PayloadArg, PayloadKind, PerThreadArg};

    fn ids(kind: PerThreadIds, size: u32) -> PerThreadArg {
        PerThreadArg {
            kind,
            offset: 0,
            size,
        }
    }

    fn kernel(simd: u32, inline: u32, per_thread: PerThreadArg) -> KernelInfo {
        KernelInfo {
            name: "k".to_owned(),
            env: ExecutionEnv {
                simd_size: simd,
                inline_data_payload_size: inline,
                offset_to_skip_per_thread_data_load: 192,
                ..ExecutionEnv::default()
            },
            grf_count: 128,
            payload: vec![PayloadArg {
                kind: PayloadKind::Launch(LaunchFact::GlobalSize),
                offset: 52,
                size: 12,
            }],
            per_thread: vec![per_thread],
            binding_table: Vec::new(),
            samplers: Vec::new(),
            memory: Vec::new(),
            args: Vec::new(),
            divisible: false,
        }
    }

    fn start(
        p: Platform,
        k: &KernelInfo,
        size: [u32; 3],
        number: u32,
        lanes: u32,
    ) -> (Thread, Vec<u8>, u32) {
        let l = PayloadLayout::new(p, k, 0);
        let mut t = Thread::new(4096);
        t.reset(1, 0);
        let walk = l.walk(size);
        let indirect = Block::new(l.indirect_bytes(8) as usize).unwrap();
        let cross: Vec<u8> = (0..64).map(|i| i + 100).collect();
        l.share(&indirect, &[], &cross);
        l.start(&mut t, k, &walk, &cross, &indirect, number, lanes);
        let mut bytes = vec![0; indirect.len()];
        indirect.read(0, &mut bytes);
        (t, bytes, l.entry(&walk))
    }

    #[test]
    fn whole_threads_get_one_id() {
        let k = kernel(1, 32, ids(PerThreadIds::Packed, 6));
        let (t, _, entry) = start(Platform::Gen9, &k, [3, 2, 2], 10, 1);
        assert_eq!(t.regs.get(32, 6), [1, 0, 1, 0, 1, 0]);
        assert_eq!(t.regs.get(64, 2), [100, 101]);
        assert_eq!(entry, 0);
        // From Xe-HP on the ids are in memory after the data that is not inline, in a register's
        // size for each thread.
        let (t, memory, entry) = start(Platform::XeHpg, &k, [3, 2, 2], 5, 1);
        assert_eq!(t.regs.get(32, 2), [100, 101]);
        assert_eq!(memory[..2], [132, 133]);
        assert_eq!(memory[32 + 5 * 32..][..6], [2, 0, 1, 0, 0, 0]);
        assert_eq!(entry, 0);
    }

    #[test]
    fn hardware_walks_in_the_order_it_can() {
        let k = kernel(8, 32, ids(PerThreadIds::Local, 96));
        // 3 is no power of two: y is the fastest, then z.
        let (t, _, entry) = start(Platform::XeHpg, &k, [3, 4, 8], 0, 8);
        assert_eq!(entry, 192);
        assert_eq!(t.regs.get(32, 4), [0; 4]);
        assert_eq!(t.regs.get(64, 10), [0, 0, 1, 0, 2, 0, 3, 0, 0, 0]);
        assert_eq!(t.regs.get(96, 10), [0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
        assert_eq!(t.regs.get(128, 2), [100, 101]);
        // Two dimensions are no powers of two: linear, from memory.
        let (t, memory, entry) = start(Platform::XeHpg, &k, [3, 5, 8], 1, 8);
        assert_eq!(entry, 0);
        assert_eq!(t.regs.get(32, 2), [100, 101]);
        assert_eq!(memory[32 + 96..][..4], [2, 0, 0, 0]);
        // Before Xe-HP the order is always linear, in registers.
        let (t, _, entry) = start(Platform::XeLp, &k, [3, 4, 8], 0, 8);
        assert_eq!(entry, 0);
        assert_eq!(t.regs.get(32, 8), [0, 0, 1, 0, 2, 0, 0, 0]);
        assert_eq!(t.regs.get(128, 2), [100, 101]);
    }

    #[test]
    fn large_groups_load_their_ids() {
        let k = kernel(8, 32, ids(PerThreadIds::Local, 96));
        let l = PayloadLayout::new(Platform::XeHpg, &k, 0);
        assert!(l.walk([1024, 1, 1]).hardware);
        assert!(!l.walk([1024, 2, 1]).hardware);
    }
}

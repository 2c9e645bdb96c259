//! Thread groups: each runs on one host core, its threads in turn from barrier to barrier.

use super::Bounds;
use super::barrier::Barriers;
use super::launch::{INDIRECT_BASE, LaunchControl, LaunchPlan, patch_group};
use super::memory::{Block, Mapped, Reserved, View};
use super::sampler::Samplers;
use super::special;
use super::surface::Surfaces;
use super::thread::{Counts, StopReason, Thread};
use super::watch::{NoObserver, Observer, Watcher};
use crate::error::Fault;
use gantry_isa_gen::diag::Count;
use gantry_isa_gen::{Inst, Platform, Reg};
use std::cell::Cell;
use std::sync::Arc;

/// Instructions of a thread's first turn, before the group's other threads get theirs. A turn
/// without a barrier is followed by one sixteen times as long. An endless loop so reaches its limit
/// while the group's other threads have run little.
const SLICE: u64 = 1 << 16;
/// Instructions between two checks if the launch has been ended.
const LOOK: u64 = 1 << 16;

/// Reason why a group did not run to its end.
pub(super) enum GroupError {
    Fault(Box<Fault>),
    /// The launch was ended elsewhere.
    Stopped,
}

/// Addressable memory that a host core has for its groups.
pub(super) struct WorkerMemory {
    /// Private memory of a group's threads.
    private: Option<Mapped>,
    /// Implicit arguments of the group.
    implicit: Option<Mapped>,
    _addresses: [Option<Reserved>; 2],
}

impl WorkerMemory {
    pub(super) fn new(plan: &LaunchPlan<'_>) -> Result<WorkerMemory, String> {
        let map = |len: usize| -> Result<(Option<Mapped>, Option<Reserved>), String> {
            if len == 0 {
                return Ok((None, None));
            }
            let addresses = plan.space.reserve(len as u64).map_err(|e| e.to_string())?;
            let m = Mapped {
                base: addresses.base,
                block: Arc::new(Block::unshared(len).ok_or_else(no_memory)?),
            };
            Ok((Some(m), Some(addresses)))
        };
        let threads = plan.threads_per_group as usize;
        let (private, a) = map(threads * plan.private_bytes as usize)?;
        let implicit = plan.implicit.as_ref();
        let (implicit, b) = map(implicit.map_or(0, |i| i.bytes(plan.threads_per_group)))?;
        Ok(WorkerMemory {
            private,
            implicit,
            _addresses: [a, b],
        })
    }
}

fn no_memory() -> String {
    "no memory left for the threads of a group".to_owned()
}

/// State of one host core, reused from group to group.
pub(super) struct Worker<'p> {
    plan: &'p LaunchPlan<'p>,
    threads: Vec<Thread>,
    /// Number of the thread that runs.
    running: Cell<u32>,
    view: View<'p>,
    slm: Block,
    /// Scratch of the threads, one after the other.
    scratch: Block,
    /// Indirect data of the group (Xe-HP and later).
    indirect: Block,
    own: &'p WorkerMemory,
    cross: Vec<u8>,
    counts: Counts,
    /// Observer of the groups.
    watcher: Option<Watcher<'p>>,
}

/// Range of memory that a thread may access, by offsets or addresses.
#[derive(Clone, Copy)]
pub(super) struct MemoryArea<'g> {
    pub(super) block: &'g Block,
    /// Byte offset of its start in the block.
    pub(super) at: u64,
    /// Address that messages use for its first byte.
    pub(super) first: u64,
    pub(super) bytes: u64,
    /// Kind, for messages.
    what: AreaKind,
}

/// Kind of a memory area.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AreaKind {
    /// Whole block.
    Block,
    /// Indirect data of the group.
    Indirect,
    /// Scratch of a thread, by offsets.
    Scratch { stack: bool },
    /// Private memory of a thread, by virtual addresses.
    Private { stack: bool },
}

impl<'g> MemoryArea<'g> {
    /// Returns the area of a whole block, by offsets in it.
    #[inline(always)]
    pub(super) fn whole(block: &'g Block) -> MemoryArea<'g> {
        MemoryArea::part(block, 0, block.len() as u64, 0)
    }

    /// Returns the area of `bytes` bytes of a block from `at` on. The first is at the address
    /// `first`.
    #[inline(always)]
    pub(super) fn part(block: &'g Block, at: u64, bytes: u64, first: u64) -> MemoryArea<'g> {
        MemoryArea {
            block,
            at,
            first,
            bytes,
            what: AreaKind::Block,
        }
    }

    /// Returns the block of an access of `n` bytes, and its offset there.
    #[inline(always)]
    pub(super) fn at(&self, address: u64, n: u64, what: &str) -> Result<(&'g Block, u64), String> {
        match address.checked_sub(self.first) {
            Some(o) if o.checked_add(n).is_some_and(|end| end <= self.bytes) => {
                Ok((self.block, self.at + o))
            }
            _ => Err(self.outside(address, n, what)),
        }
    }

    #[cold]
    fn outside(&self, address: u64, n: u64, what: &str) -> String {
        let (first, bytes) = (self.first, self.bytes);
        let end = first + bytes;
        let (at, area, overflow) = match self.what {
            AreaKind::Block => ("offset", "the block", ""),
            AreaKind::Indirect => ("offset", "the group's indirect data", ""),
            AreaKind::Scratch { stack: false } => {
                ("offset", "the thread's own scratch", "scratch overflow")
            }
            AreaKind::Private { stack: false } => (
                "address",
                "the thread's own private memory",
                "private memory overflow",
            ),
            AreaKind::Scratch { .. } => ("offset", "the thread's own scratch", "stack overflow"),
            AreaKind::Private { .. } => (
                "address",
                "the thread's own private memory",
                "stack overflow",
            ),
        };
        let access = format!("{what} of {} at {at} {address:#x}", Count(n, "byte"));
        if bytes == 0 {
            format!("{access} of {area}: there is none")
        } else if overflow.is_empty() || address < first {
            format!("{access} is outside {area}, {first:#x} to {end:#x}")
        } else {
            format!(
                "{access} is beyond {area} of {bytes} bytes, {first:#x} to {end:#x}: {overflow}"
            )
        }
    }
}

/// State that the threads of a running group share.
pub(super) struct Group<'w> {
    plan: &'w LaunchPlan<'w>,
    view: &'w View<'w>,
    slm: &'w Block,
    scratch: &'w Block,
    indirect: &'w Block,
    /// Private memory of the group's threads in global memory.
    private: Option<&'w Mapped>,
    /// Number of the thread that runs.
    running: &'w Cell<u32>,
    barriers: Barriers,
}

impl Group<'_> {
    pub(super) fn platform(&self) -> Platform {
        self.plan.program.platform
    }

    /// Returns the instruction of an operation.
    pub(super) fn instruction(&self, pc: u32) -> Option<&Inst<Reg>> {
        self.plan.program.inst(pc)
    }

    pub(super) fn barriers(&mut self) -> &mut Barriers {
        &mut self.barriers
    }

    #[inline(always)]
    pub(super) fn slm(&self) -> &Block {
        self.slm
    }

    /// Returns the area of A32 stateless messages of the running thread: its scratch, or from Xe-HP
    /// on the group's indirect data.
    #[inline(always)]
    pub(super) fn stateless(&self) -> MemoryArea<'_> {
        if self.plan.scratch.surface {
            MemoryArea {
                block: self.indirect,
                at: 0,
                first: u64::from(INDIRECT_BASE),
                bytes: self.indirect.len() as u64,
                what: AreaKind::Indirect,
            }
        } else {
            MemoryArea {
                first: u64::from(self.plan.scratch.pointer(self.running.get())),
                ..self.scratch()
            }
        }
    }

    /// Returns the running thread's scratch.
    #[inline(always)]
    pub(super) fn scratch(&self) -> MemoryArea<'_> {
        let bytes = u64::from(self.plan.scratch.bytes);
        MemoryArea {
            block: self.scratch,
            at: u64::from(self.running.get()) * bytes,
            first: 0,
            bytes,
            what: AreaKind::Scratch {
                stack: self.plan.kernel.env.has_stack_calls,
            },
        }
    }

    /// Returns the treatment of accesses outside of a surface's buffer.
    #[inline(always)]
    pub(super) fn bounds(&self) -> Bounds {
        self.plan.bounds
    }

    /// Returns the launch's surfaces.
    #[inline(always)]
    pub(super) fn surfaces(&self) -> &Surfaces {
        &self.plan.surfaces
    }

    /// Returns the launch's samplers.
    pub(super) fn samplers(&self) -> &Samplers {
        &self.plan.samplers
    }

    /// Returns the running thread's private memory, if `block` holds private memory.
    #[inline(always)]
    fn private_in(&self, block: &Block) -> Option<MemoryArea<'_>> {
        let p = self.private.filter(|p| std::ptr::eq(block, &*p.block))?;
        Some(self.private_of(p))
    }

    /// Returns the running thread's part of private memory.
    #[inline(always)]
    fn private_of<'a>(&self, p: &'a Mapped) -> MemoryArea<'a> {
        let bytes = u64::from(self.plan.private_bytes);
        let at = u64::from(self.running.get()) * bytes;
        MemoryArea {
            block: &p.block,
            at,
            first: p.base + at,
            bytes,
            what: AreaKind::Private {
                stack: self.plan.kernel.env.has_stack_calls,
            },
        }
    }

    /// Returns the area that the running thread may access around `n` bytes at a virtual address of
    /// 48 bits.
    #[inline(always)]
    pub(super) fn area(&self, address: u64, n: u64) -> Option<MemoryArea<'_>> {
        let (block, at) = self.view.find(address, n)?;
        match self.private_in(block) {
            Some(own) => own.at(address, n, "").is_ok().then_some(own),
            None => Some(MemoryArea {
                first: address - at,
                ..MemoryArea::whole(block)
            }),
        }
    }

    /// Returns the block at a virtual address, and the offset in it.
    #[inline(always)]
    pub(super) fn global(&self, address: u64, n: u64, dir: &str) -> Result<(&Block, u64), String> {
        // Addresses have 48 bits.
        let address = address & 0xffff_ffff_ffff;
        match self.view.find(address, n) {
            Some((block, at)) => match self.private_in(block) {
                Some(own) => own.at(address, n, dir),
                None => Ok((block, at)),
            },
            None => Err(self.nowhere(address, n, dir)),
        }
    }

    #[cold]
    fn nowhere(&self, address: u64, n: u64, dir: &str) -> String {
        let near = match self.view.near(address) {
            Some((base, len)) if address - base < len + 0x10000 => {
                // The last thread's private memory ends where all of it does.
                if let Some(p) = self.private.filter(|p| p.base == base) {
                    return self.private_of(p).outside(address, n, dir);
                }
                format!("; the buffer at {base:#x} ends at {:#x}", base + len)
            }
            _ => String::new(),
        };
        format!(
            "{dir} of {} at address {address:#x} is outside every buffer{near}",
            Count(n, "byte")
        )
    }
}

impl<'p> Worker<'p> {
    pub(super) fn new(
        plan: &'p LaunchPlan<'p>,
        own: &'p WorkerMemory,
    ) -> Result<Worker<'p>, String> {
        let threads = plan.threads_per_group as usize;
        let scratch =
            Block::unshared(threads * plan.scratch.bytes as usize).ok_or_else(no_memory)?;
        let indirect = plan.layout.indirect_bytes(plan.threads_per_group);
        Ok(Worker {
            plan,
            threads: (0..threads)
                .map(|_| Thread::new(plan.program.grf_end()))
                .collect(),
            running: Cell::new(0),
            view: View::new(&plan.memory, [own.private.as_ref(), own.implicit.as_ref()]),
            slm: Block::unshared(plan.slm_bytes as usize).ok_or_else(no_memory)?,
            scratch,
            indirect: Block::unshared(indirect as usize).ok_or_else(no_memory)?,
            own,
            cross: Vec::new(),
            counts: Counts::default(),
            watcher: plan.watch.map(|w| Watcher::new(w, plan)),
        })
    }

    /// Runs a group to its end. Returns the number of its threads.
    pub(super) fn run_group(
        &mut self,
        id: [u32; 3],
        control: &LaunchControl<'_>,
    ) -> Result<u64, GroupError> {
        let plan = self.plan;
        let size = plan.group_size(id);
        let items = size.iter().product::<u32>();
        let per_thread = plan.items_per_thread;
        let threads = items.div_ceil(per_thread) as usize;
        self.slm.clear();
        self.cross.clear();
        self.cross.extend_from_slice(&plan.cross_thread);
        let private = self.own.private.as_ref();
        let walk = plan.layout.walk(size);
        let implicit = match (&plan.implicit, &self.own.implicit) {
            (Some(args), Some(m)) => {
                let (bytes, at) = args.of_group(&walk, size, m.base);
                m.block.write(0, &bytes);
                Some((m.base + at as u64, bytes, at))
            }
            _ => None,
        };
        patch_group(
            plan.kernel,
            &mut self.cross,
            size,
            private.map_or(0, |m| m.base),
            implicit.as_ref().map_or(0, |(address, ..)| *address),
        );
        let header = implicit
            .as_ref()
            .and_then(|(_, bytes, at)| bytes.get(*at..))
            .unwrap_or(&[]);
        plan.layout.share(&self.indirect, header, &self.cross);
        let entry = plan.program.at(i64::from(plan.layout.entry(&walk)));
        for (i, t) in self.threads.iter_mut().take(threads).enumerate() {
            let number = i as u32;
            let lanes = (items - number * per_thread).min(per_thread);
            // Whole-thread kernels (SIMD1) have no channels of their own: all are on.
            let dispatch = if plan.simd == 1 {
                u32::MAX
            } else {
                gantry_isa_gen::sem::mask(lanes as usize)
            };
            t.reset(dispatch, entry);
            let code = (plan.scratch.bytes / 1024).max(1).ilog2();
            let scratch = plan.scratch.pointer(number);
            plan.layout
                .header(t, id, (number, threads as u32), scratch, code);
            let (cross, indirect) = (&self.cross, &self.indirect);
            plan.layout
                .start(t, plan.kernel, &walk, cross, indirect, number, lanes);
        }
        let mut group = Group {
            plan,
            view: &self.view,
            slm: &self.slm,
            scratch: &self.scratch,
            indirect: &self.indirect,
            private,
            running: &self.running,
            barriers: Barriers::new(threads as u32, plan.kernel.env.barrier_count),
        };
        let run = &mut self.threads;
        let result = match &mut self.watcher {
            None => run_threads(run, threads, &mut group, plan, id, control, &mut NoObserver),
            Some(w) => {
                w.group(id);
                match w.only_counts() {
                    Some(c) => run_threads(run, threads, &mut group, plan, id, control, c),
                    None => run_threads(run, threads, &mut group, plan, id, control, w),
                }
            }
        };
        for t in self.threads.iter().take(threads) {
            self.counts.add(&t.counts);
        }
        result.map(|()| threads as u64)
    }
}

impl Worker<'_> {
    /// Returns a fault of the running thread in this group.
    pub(super) fn fault(&self, id: [u32; 3], what: String) -> Box<Fault> {
        let number = self.running.get();
        let pc = self.threads.get(number as usize).map_or(0, |t| t.pc);
        fault_at(self.plan, id, number, pc, what)
    }

    /// Returns the core's counts, and passes observations to the watch.
    pub(super) fn finish(self) -> Counts {
        if let Some(w) = self.watcher {
            w.finish();
        }
        self.counts
    }
}

/// Returns a fault of a thread at an operation.
fn fault_at(
    plan: &LaunchPlan<'_>,
    group: [u32; 3],
    thread: u32,
    pc: u32,
    what: String,
) -> Box<Fault> {
    let op = plan.program.ops.get(pc as usize);
    let place = plan.location(op.map_or(0, |o| o.ip));
    Box::new(Fault {
        kernel: plan.kernel.name.clone(),
        group,
        thread,
        function: place.function,
        ip: place.offset,
        instruction: plan.program.text(pc),
        what,
        source: op.and_then(|o| plan.source_line(o.ip)),
    })
}

#[allow(clippy::too_many_arguments, reason = "all of a group")]
fn run_threads(
    threads: &mut [Thread],
    count: usize,
    group: &mut Group<'_>,
    plan: &LaunchPlan<'_>,
    id: [u32; 3],
    control: &LaunchControl<'_>,
    observer: &mut impl Observer,
) -> Result<(), GroupError> {
    let fault = |t: &Thread, number: usize, what| {
        GroupError::Fault(fault_at(plan, id, number as u32, t.pc, what))
    };
    let mut slice = SLICE;
    loop {
        let mut alive = false;
        let mut moved = false;
        let mut waits = false;
        let mut lends = false;
        for (i, t) in threads.iter_mut().take(count).enumerate() {
            if t.done {
                continue;
            }
            alive = true;
            group.running.set(i as u32);
            let before = t.counts.instructions;
            let end = before.saturating_add(slice);
            observer.thread(i as u32);
            while t.counts.instructions < end {
                let left = plan.instruction_limit.saturating_sub(t.counts.instructions);
                match t.run(plan.program, group, LOOK.min(left.max(1)), observer) {
                    StopReason::Ended => break,
                    StopReason::Waiting => {
                        waits = true;
                        break;
                    }
                    StopReason::Fused => {
                        waits = true;
                        lends = true;
                        break;
                    }
                    StopReason::Fault(what) => return Err(fault(t, i, what)),
                    StopReason::Slice => {}
                }
                if t.counts.instructions >= plan.instruction_limit {
                    let n = t.counts.instructions;
                    let what = format!("the thread has run {n} instructions without an end");
                    return Err(fault(t, i, what));
                }
                if control.stops() {
                    return Err(GroupError::Stopped);
                }
            }
            moved |= t.counts.instructions != before;
        }
        if !alive {
            return Ok(());
        }
        // Turns may be short, as when threads meet at a barrier again and again.
        if control.stops() {
            return Err(GroupError::Stopped);
        }
        if lends {
            let running = threads.get_mut(..count).unwrap_or_default();
            match special::lend(running, plan.program) {
                Ok(some) => moved |= some,
                Err((i, what)) => {
                    let t = threads.get(i).unwrap_or(&threads[0]);
                    return Err(fault(t, i, what));
                }
            }
        }
        slice = if waits {
            SLICE
        } else {
            slice.saturating_mul(16)
        };
        if !moved {
            // All remaining threads wait, and no thread is left to arrive.
            let (i, t) = threads
                .iter()
                .take(count)
                .enumerate()
                .filter(|(_, t)| !t.done)
                .max_by_key(|(i, t)| (t.lends, count - i))
                .unwrap_or((0, &threads[0]));
            let waiting = threads.iter().take(count).filter(|t| !t.done).count();
            if t.lends {
                let what = "`dpasw` waits for the other thread of its pair, which waits elsewhere";
                return Err(fault(t, i, what.to_owned()));
            }
            return Err(fault(
                t,
                i,
                format!(
                    "the barrier can never complete: {waiting} of the group's {count} threads wait, the others have ended"
                ),
            ));
        }
    }
}

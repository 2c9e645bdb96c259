//! Interpreter: the reference semantics of the IR.
//!
//! It executes functions instruction by instruction, all lanes of each. It is slow and simple, and
//! shares nothing with lowering, for which it is the oracle. `isa-gen` defines the results of
//! operations, by the corresponding Gen operations.
//!
//! ```
//! use gantry_codegen::interp::{Arg, Buffers, Grid, launch};
//! use gantry_codegen::text::parse;
//!
//! let text = "\
//! kernel %twice(i64 ptr) simd8 {
//! block0(v0: i64):
//!     v1 = bload.i32x8 v0
//!     v2 = iadd v1, v1
//!     bstore v2, v0
//!     return
//! }
//! ";
//! let module = parse(text)?.module;
//! let mut memory = Buffers::default();
//! let buffer = memory.add((0..8u32).flat_map(u32::to_le_bytes).collect());
//! let kernel = module.find("twice").ok_or("no kernel")?;
//! let grid = Grid::new([8, 1, 1], [8, 1, 1]);
//! launch(&module, kernel, &grid, &[Arg::ptr(buffer)], &mut memory, 1000)?;
//! assert_eq!(memory.bytes(buffer)[4..8], [2, 0, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alu;
mod block2d;
mod cube;
mod host;
mod image;
mod memory;
mod print;
pub(crate) mod pure;
#[cfg(test)]
mod reference;
mod sampler;
mod thread;

pub use image::{Component, Image};
pub use memory::{Buffers, Memory, MemoryError};
pub use sampler::{Addressing, Compare, MipFilter, Sampler};

use crate::ir::memory::SLM_ALIGN;
use crate::ir::{ArgKind, FuncKind, FuncRef, Module, Origin, Scalar, Type};
use gantry_isa_gen::diag::{Are, Count};
use memory::{DataContents, ImageTables, Spaces};
use thread::{Thread, ThreadState};

/// Lanes of a value: the bits of each, zero-extended; 0 or 1 for predicates.
pub type Lanes = Vec<u64>;

/// Work-items and work-group size, by dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    /// Work-items.
    pub global: [u32; 3],
    /// Work-items of a group. The last group of a dimension may have fewer.
    pub local: [u32; 3],
    /// Offset of the global ids.
    pub offset: [u32; 3],
}

impl Grid {
    /// Makes a grid without offset.
    pub const fn new(global: [u32; 3], local: [u32; 3]) -> Grid {
        Grid {
            global,
            local,
            offset: [0; 3],
        }
    }

    /// Number of dimensions up to the last one with several work-items; at least 1.
    pub fn dimensions(&self) -> u32 {
        let several = |d: &usize| self.global[*d] > 1 || self.local[*d] > 1;
        [2, 1].into_iter().find(several).map_or(1, |d| d as u32 + 1)
    }

    /// Number of groups in each dimension.
    pub fn groups(&self) -> [u32; 3] {
        std::array::from_fn(|d| self.global[d].div_ceil(self.local[d].max(1)))
    }
}

/// Kernel argument: the lanes of the parameter's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arg(pub Lanes);

impl Arg {
    /// Makes the argument of a buffer's address.
    pub fn ptr(address: u64) -> Arg {
        Arg(vec![address])
    }

    /// Makes the argument of a 32-bit integer.
    pub fn i32(v: i32) -> Arg {
        Arg(vec![u64::from(v as u32)])
    }

    /// Makes the argument of a single float.
    pub fn f32(v: f32) -> Arg {
        Arg(vec![u64::from(v.to_bits())])
    }

    /// Makes an argument of a type from its bytes in memory; `None` if their count is wrong.
    pub fn from_bytes(ty: Type, bytes: &[u8]) -> Option<Arg> {
        let size = ty.scalar().bytes() as usize;
        if size == 0 || bytes.len() != ty.bytes() as usize {
            return None;
        }
        Some(Arg(bytes.chunks_exact(size).map(memory::from_le).collect()))
    }
}

/// Statistics of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Hardware threads run.
    pub threads: u64,
    /// Instructions executed, summed over threads.
    pub instructions: u64,
}

/// Reason that an execution ended early.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InterpError {
    /// Launch that does not fit the kernel.
    #[error("{0}")]
    Launch(String),
    /// Instruction that failed.
    #[error("%{function}, group {group:?}, thread {thread}, at `{at}`{origin}: {what}")]
    Failed {
        /// Name of the function.
        function: String,
        /// Id of the work-group.
        group: [u32; 3],
        /// Number of the thread in the group.
        thread: u32,
        /// Instruction, as text.
        at: String,
        /// Source location of the instruction.
        origin: Origin,
        /// Error message.
        what: String,
    },
    /// Barrier at which some threads of a group wait, while others have ended.
    #[error(
        "%{function}, group {group:?}: a barrier that never completes: {} waiting, {ended} ended", Count(*.waiting, "thread")
    )]
    Barrier {
        /// Name of the kernel.
        function: String,
        /// Id of the work-group.
        group: [u32; 3],
        /// Number of threads at the barrier.
        waiting: usize,
        /// Number of threads that ended.
        ended: usize,
    },
}

/// Maximum number of work-items of a group.
const MAX_GROUP: u32 = 1024;

/// State shared by the threads of a group.
struct Group<'a> {
    grid: &'a Grid,
    id: [u32; 3],
    /// Number of work-items of this group, which may be a partial one.
    size: [u32; 3],
}

/// Loaded module with the contents of its variables, kept from one launch to the next.
pub struct Loaded<'m> {
    module: &'m Module,
    contents: DataContents,
}

impl<'m> Loaded<'m> {
    /// Loads a module.
    pub fn new(module: &'m Module) -> Loaded<'m> {
        Loaded {
            module,
            contents: DataContents::new(module),
        }
    }

    /// Returns the module.
    pub fn module(&self) -> &'m Module {
        self.module
    }

    /// Launches a kernel: see [`launch`].
    ///
    /// # Errors
    /// As [`launch`].
    pub fn launch(
        &mut self,
        kernel: FuncRef,
        grid: &Grid,
        args: &[Arg],
        memory: &mut dyn Memory,
        fuel: u64,
    ) -> Result<Stats, InterpError> {
        let Loaded { module, contents } = self;
        let func = module
            .functions
            .get(kernel)
            .ok_or_else(|| InterpError::Launch("there is no such function".to_owned()))?;
        let FuncKind::Kernel {
            simd,
            group_size,
            slm_bytes,
            ..
        } = func.kind
        else {
            return Err(InterpError::Launch(format!("%{} is no kernel", func.name)));
        };
        if args.len() != func.sig.params.len() {
            return Err(InterpError::Launch(format!(
                "%{} takes {}, and {} given",
                func.name,
                Count(func.sig.params.len(), "argument"),
                Are(args.len())
            )));
        }
        for (n, (arg, p)) in args.iter().zip(&func.sig.params).enumerate() {
            if arg.0.len() != p.ty.lanes() as usize {
                return Err(InterpError::Launch(format!(
                    "argument {n} of %{} is {}, and {} lanes are given",
                    func.name,
                    p.ty,
                    arg.0.len()
                )));
            }
        }
        if group_size.is_some_and(|g| g != grid.local) {
            return Err(InterpError::Launch(format!(
                "%{} requires another work-group size",
                func.name
            )));
        }
        let items = grid.local.iter().try_fold(1u32, |n, &l| n.checked_mul(l));
        if !items.is_some_and(|n| (1..=MAX_GROUP).contains(&n)) {
            return Err(InterpError::Launch(format!(
                "a work-group of {:?} work-items: it has 1 to {MAX_GROUP}",
                grid.local
            )));
        }
        // The host gives the address of a surface, while the kernel receives the offset of the
        // buffer in it. SLM arguments follow the kernel's static SLM.
        let mut surfaces = Vec::new();
        let mut tables = ImageTables::default();
        let mut args = args.to_vec();
        for (arg, p) in args.iter_mut().zip(&func.sig.params) {
            match p.kind {
                ArgKind::Surface => {
                    surfaces.extend(arg.0.first());
                    arg.0 = vec![0];
                }
                ArgKind::Slm => {
                    let own = u64::from(slm_bytes.next_multiple_of(SLM_ALIGN));
                    arg.0.iter_mut().for_each(|v| *v = v.wrapping_add(own));
                }
                ArgKind::Image(..) | ArgKind::Sampler => {
                    let value = arg.0.first().copied().unwrap_or_default();
                    let there = match p.kind {
                        ArgKind::Sampler => memory.sampler(value).map(|s| tables.samplers.push(s)),
                        _ => memory.image(value).map(|i| tables.images.push(i)),
                    };
                    if there.is_none() {
                        let what = format!("%{}: an argument is not what it should be", func.name);
                        return Err(InterpError::Launch(what));
                    }
                    arg.0 = vec![0];
                }
                ArgKind::Value | ArgKind::Ptr => {}
            }
        }
        let own = func.samplers.iter().map(|s| Sampler::from(*s));
        tables.samplers.extend(own);
        let args = &args[..];
        let mut stats = Stats::default();
        let mut fuel = fuel;
        let [nx, ny, nz] = grid.groups();
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let id = [x, y, z];
                    let size = std::array::from_fn(|d| {
                        let before = id[d].saturating_mul(grid.local[d]);
                        grid.local[d].min(grid.global[d].saturating_sub(before))
                    });
                    let group = Group { grid, id, size };
                    run_group(
                        module,
                        kernel,
                        simd.max(1),
                        &group,
                        args,
                        &mut Spaces::new(memory, &surfaces, &tables, &module.data, contents),
                        &mut fuel,
                        &mut stats,
                    )?;
                }
            }
        }
        Ok(stats)
    }
}

/// Launches a kernel over a grid. Variables of the module have their initial contents.
///
/// Groups run one after the other. The threads of a group take turns, each running to the next
/// barrier. `fuel` is the maximum number of instructions of the whole launch.
///
/// # Errors
/// Returns an error if the function is no kernel, or the arguments do not match its parameters.
/// Also for an access outside of memory, a barrier that not all threads reach, and exhausted fuel.
/// The module must have been verified. Otherwise other errors are possible.
pub fn launch(
    module: &Module,
    kernel: FuncRef,
    grid: &Grid,
    args: &[Arg],
    memory: &mut dyn Memory,
    fuel: u64,
) -> Result<Stats, InterpError> {
    Loaded::new(module).launch(kernel, grid, args, memory, fuel)
}

#[allow(
    clippy::too_many_arguments,
    reason = "the state of a launch, passed on once"
)]
fn run_group(
    module: &Module,
    kernel: FuncRef,
    simd: u32,
    group: &Group<'_>,
    args: &[Arg],
    memory: &mut Spaces<'_>,
    fuel: &mut u64,
    stats: &mut Stats,
) -> Result<(), InterpError> {
    let [x, y, z] = group.size.map(u64::from);
    let items = x * y * z;
    let count = items.div_ceil(u64::from(simd));
    let mut threads = Vec::new();
    for n in 0..count {
        threads.push(Thread::new(module, kernel, group, n as u32, simd, args)?);
    }
    stats.threads += count;
    // Reason that each thread waits; `None` if it can run.
    let mut states: Vec<Option<ThreadState>> = vec![None; threads.len()];
    loop {
        let before = *fuel;
        for (n, t) in threads.iter_mut().enumerate() {
            if states[n].is_none() {
                let state = t.run(memory, fuel)?;
                arrive(&mut states, n, state).map_err(InterpError::Launch)?;
            }
        }
        stats.instructions += before - *fuel;
        if states.contains(&None) {
            continue;
        }
        let ended = Some(ThreadState::Ended);
        let ended = states.iter().filter(|s| **s == ended).count();
        if ended == threads.len() {
            return Ok(());
        }
        // Threads go on at an arrival that all have made.
        let all = threads.iter().map(Thread::arrivals).min().unwrap_or(0);
        for (state, t) in states.iter_mut().zip(&threads) {
            if *state == Some(ThreadState::Barrier) && t.arrivals() <= all {
                *state = None;
            }
        }
        if !states.contains(&None) {
            return Err(InterpError::Barrier {
                function: module.functions[kernel].name.clone(),
                group: group.id,
                waiting: threads.len() - ended,
                ended,
            });
        }
    }
}

/// Records that a thread stopped. The last thread to arrive at a named barrier releases the others.
fn arrive(
    states: &mut [Option<ThreadState>],
    thread: usize,
    state: ThreadState,
) -> Result<(), String> {
    if let Some(own) = states.get_mut(thread) {
        *own = Some(state);
    }
    let ThreadState::Named { number, threads } = state else {
        return Ok(());
    };
    let is_here = |s: &Option<ThreadState>| matches!(s, Some(ThreadState::Named { number: n, .. }) if *n == number);
    let here: Vec<ThreadState> = states
        .iter()
        .filter(|s| is_here(s))
        .flatten()
        .copied()
        .collect();
    if here.iter().any(|s| *s != state) || threads == 0 {
        return Err(format!(
            "barrier {number} of {threads} threads, where others wait for another number of them"
        ));
    }
    if here.len() == threads as usize {
        states
            .iter_mut()
            .filter(|s| is_here(s))
            .for_each(|s| *s = None);
    }
    Ok(())
}

/// Calls a function with these arguments and returns its results, outside of any launch: ids are 0,
/// sizes 1.
///
/// # Errors
/// As [`launch`].
pub fn call(
    module: &Module,
    func: FuncRef,
    args: &[Arg],
    memory: &mut dyn Memory,
    fuel: u64,
) -> Result<Vec<Lanes>, InterpError> {
    let grid = Grid::new([1; 3], [1; 3]);
    let group = Group {
        grid: &grid,
        id: [0; 3],
        size: [1; 3],
    };
    let mut fuel = fuel;
    let mut thread = Thread::new(module, func, &group, 0, 1, args)?;
    let tables = ImageTables::default();
    let mut contents = DataContents::new(module);
    let mut memory = Spaces::new(memory, &[], &tables, &module.data, &mut contents);
    while thread.run(&mut memory, &mut fuel)? != ThreadState::Ended {}
    Ok(thread.results())
}

/// Returns the float of a lane's bits. Integers and predicates are converted.
pub fn lane_float(scalar: Scalar, bits: u64) -> f64 {
    alu::float(scalar, bits)
}

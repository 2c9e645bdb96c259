//! How many work-items a thread is to have, where nothing says it.
//!
//! Needs a body with its script and its uniformity. A wide thread executes what is uniform once for more work-items, and there are fewer threads; but
//! it goes through its loops until the last of its channels has left, and has as many registers as a narrow one. So a kernel with a loop that
//! channels leave one after the other is of 16, as Intel's compiler has it mostly, but of 32 where registers have 64 bytes; any other is of 32; and one whose
//! values do not fit is narrower, and so is one with private arrays that a narrower thread holds in registers and this one in scratch,
//! if then nothing is in scratch.
//!
//! What lives at once is estimated here, in bytes that a thread takes and bytes that each of its channels takes: the leaves of values from where they are
//! defined to where they are used last, with something for what an instruction has besides. What it is exactly is the compiler's to say, which is asked where
//! the estimate leaves it open, if it is known what for.

use crate::Kernel;
use crate::body::{BInst, Block, Body};
use crate::cfg::structurize::{Step, StructuredCfg};
use crate::cfg::{Graph, Loop};
use crate::error::Errors;
use crate::library::intel_builtins;
use crate::module::types::Type;
use crate::module::{Entry, Module};
use crate::pipeline::PreparedFunction;
use crate::read::Id;
use crate::uniformity::Uniformity;
use cranelift_entity::SecondaryMap;
use gantry_codegen::maps::sized;
use gantry_codegen::{Begun, CompileOptions, Context, Demand, ir};
use smallvec::SmallVec;
use spirv::{Op, StorageClass};

/// Bytes of a thread's registers for values, on the platforms that there is code for.
const FILE: u32 = 4096;

/// How many times as much as was estimated never lived at once (1.6 times was the most, of the 283 kernels of the tests at three widths), and how many times less.
const MORE: u32 = 2;
const LESS: u32 = 5;

/// Bytes that a thread has besides its values: its header, arguments, what is computed once.
const THREAD: i64 = 384;

/// Bytes that each channel of a call of a function of OpenCL.std or GLSL.std.450 has besides its operands.
const CALL: i64 = 32;

/// Bytes that each channel of an access to memory has besides: an address, or a payload.
const ACCESS: i64 = 12;

/// Bytes that live at once: of the thread, and of each channel, where the sum of both is largest for a width.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimate {
    /// By widths of 8, 16 and 32.
    bytes: [u32; 3],
}

impl Estimate {
    /// Bytes of a thread of so many channels.
    pub fn at(&self, simd: u32) -> u32 {
        let [eight, sixteen, wide] = self.bytes;
        match simd {
            32 => wide,
            16 => sixteen,
            _ => eight,
        }
    }
}

/// How a kernel's values fit the registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fit {
    /// Something would have to be spilled.
    No,
    /// They do, but private memory is in scratch.
    Scratch,
    /// They do, and nothing is in scratch.
    Whole,
}

impl Fit {
    /// Whether it is what is wanted: to fit, or to have nothing in scratch besides.
    pub fn is_wanted(self, in_registers: bool) -> bool {
        self == Fit::Whole || self == Fit::Scratch && !in_registers
    }
}

/// Who says whether a kernel's values fit: the compiler, where the estimate leaves it open and it is known what for.
pub(crate) struct WidthOracle<'c, 'o> {
    target: Option<&'o CompileOptions>,
    context: &'c mut Context,
    /// Where kernels are compiled next: what was done of those that fit.
    begun: Option<Begun<'o>>,
}

impl<'c, 'o> WidthOracle<'c, 'o> {
    /// For kernels that may be compiled, or not.
    pub fn new(
        target: Option<&'o CompileOptions>,
        context: &'c mut Context,
    ) -> WidthOracle<'c, 'o> {
        WidthOracle {
            target,
            context,
            begun: None,
        }
    }

    /// For kernels that are compiled next, in the same memory.
    pub fn beginning(target: &'o CompileOptions, context: &'c mut Context) -> WidthOracle<'c, 'o> {
        WidthOracle {
            target: Some(target),
            context,
            begun: Some(Begun::new(target)),
        }
    }

    /// What was done of the kernels that fit, if they are compiled next.
    pub fn begun(self) -> Option<Begun<'o>> {
        self.begun
    }

    /// What the estimate says by itself of a width.
    pub fn by(&self, estimate: &Estimate, simd: u32) -> Option<bool> {
        let bytes = estimate.at(simd);
        let Some(target) = self.target else {
            return Some(bytes <= FILE / 4 * 3);
        };
        let grf = target.target.grf();
        let file = target.grfs.unwrap_or(grf.count).saturating_mul(grf.bytes);
        match bytes {
            _ if bytes <= file / MORE => Some(true),
            _ if bytes / LESS > file => Some(false),
            _ => None,
        }
    }

    /// What the compiler says of a kernel. If it has an error to tell, it will tell it of the narrowest. Only what is wanted goes on being compiled:
    /// what fits, and, if `in_registers`, leaves nothing of private memory in scratch.
    pub fn fit(&mut self, module: &ir::Module, function: ir::FuncRef, in_registers: bool) -> Fit {
        let Some(target) = self.target else {
            return Fit::Whole;
        };
        let fit = |d: Demand| match d.fits() {
            true if d.scratch > 0 => Fit::Scratch,
            true => Fit::Whole,
            false => Fit::No,
        };
        if let Some(begun) = &mut self.begun {
            let demand = begun.begin(self.context, module, function);
            let fit = demand.map_or(Fit::No, fit);
            if !fit.is_wanted(in_registers) {
                begun.forget(self.context, function);
            }
            return fit;
        }
        let function = module.functions.get(function);
        let demand = function.map(|f| self.context.demand(module, f, target));
        demand.map_or(Fit::Whole, |d| d.map_or(Fit::No, fit))
    }
}

/// Threads of a group that can wait for each other: 8 execution units of 7 threads each, on Gen8, Gen9 and Gen11.
const TOGETHER: u64 = 56;

/// The widths that are worth while for a kernel that requires none, the widest first.
///
/// `grf_bytes`: of a register of what is compiled for.
fn worthwhile(
    m: &Module<'_>,
    entry: &Entry,
    functions: &[PreparedFunction],
    grf_bytes: u32,
) -> SmallVec<[u32; 3]> {
    // The systolic array has as many channels as a register has doublewords.
    let product = |p: &PreparedFunction| {
        let mut insts = p.graph.order.iter().flat_map(|b| &p.body.blocks[*b].insts);
        insts.any(|i| i.op == Op::FunctionCall && intel_builtins::multiplies(m, p.body.operands(i)))
    };
    if functions.iter().any(product) {
        return SmallVec::from_slice(&[grf_bytes / 4]);
    }
    let items = entry.modes.group_size.map_or(u64::MAX, |g| {
        g.iter().fold(1u64, |n, d| n.saturating_mul(u64::from(*d)))
    });
    // No group that does not fit where its threads can wait for each other.
    let together = |w: u32| items == u64::MAX || items.div_ceil(u64::from(w)) <= TOGETHER;
    // Channels that wait for each other are those of an instruction: of so many doublewords as two registers have.
    let parted = functions.iter().any(PreparedFunction::has_divergent_loops);
    let waits = |w: u32| parted && w * 4 > 2 * grf_bytes;
    // No channels that no group fills.
    let useful = |w: u32| w == 8 || u64::from(w) < items.saturating_mul(2);
    let fits = |w: &u32| useful(*w) && together(*w) && !waits(*w);
    let widths: SmallVec<[u32; 3]> = [32, 16, 8].into_iter().filter(fits).collect();
    if widths.is_empty() {
        SmallVec::from_slice(&[32])
    } else {
        widths
    }
}

/// Emits a kernel at the widest worthwhile width that fits the registers.
///
/// Widths that the estimate leaves open are emitted, and the oracle computes their demand. A
/// narrower one is also tried where it holds private arrays in registers and a wide one does
/// not. `emit` appends the kernel to a module.
///
/// # Errors
/// Those of `emit` at the narrowest width.
pub(crate) fn emit_widest(
    m: &Module<'_>,
    entry: &Entry,
    functions: &[PreparedFunction],
    grf_bytes: u32,
    module: &mut ir::Module,
    oracle: &mut WidthOracle<'_, '_>,
    emit: impl Fn(u32, &mut ir::Module) -> Result<Kernel, Errors>,
) -> Result<Kernel, Errors> {
    let widths = worthwhile(m, entry, functions, grf_bytes);
    if let [only] = *widths {
        return emit(only, module);
    }
    let estimate = estimate(m, functions);
    // Widest that fits with arrays in scratch, while narrower ones are tried.
    let mut widest = None;
    for (n, &simd) in widths.iter().enumerate() {
        let narrower = &widths[n + 1..];
        if narrower.is_empty() && widest.is_none() {
            break;
        }
        let known = oracle.by(&estimate, simd);
        if known == Some(false) {
            continue;
        }
        let before = module.functions.len();
        // Errors at every width are reported for the last one.
        let Ok(kernel) = emit(simd, module) else {
            continue;
        };
        let mut arrays = functions.iter().map(|f| &f.arrays);
        let better = arrays.any(|a| narrower.iter().any(|&n| a.fit_better(n, simd)));
        let in_registers = better || widest.is_some();
        if known == Some(true) && !in_registers {
            return Ok(kernel);
        }
        let fit = oracle.fit(module, kernel.function, in_registers);
        if fit.is_wanted(in_registers) {
            return Ok(kernel);
        }
        if fit.is_wanted(false) {
            widest = widest.or(Some(simd));
        }
        let mut functions = Vec::from(std::mem::take(&mut module.functions));
        functions.truncate(before);
        module.functions = functions.into();
    }
    emit(widest.or(widths.last().copied()).unwrap_or(8), module)
}

/// What lives at once, roughly: in the kernel, or in what it calls, where that is more.
fn estimate(m: &Module<'_>, functions: &[PreparedFunction]) -> Estimate {
    let mut out = Estimate::default();
    for function in functions {
        let mut lives = Lives {
            m,
            body: &function.body,
            g: &function.graph,
            u: &function.uniformity,
            first: sized(function.body.bound()),
            last: sized(function.body.bound()),
            ends: SecondaryMap::new(),
            ids: Vec::new(),
            extra: Vec::new(),
        };
        lives.number(&function.structured);
        let of = lives.estimate();
        for ((most, bytes), simd) in out.bytes.iter_mut().zip(of.bytes).zip([8, 16, 32]) {
            // What is held in registers may live everywhere.
            let bytes = bytes.saturating_add(function.arrays.bytes(simd));
            *most = bytes.max(*most);
        }
    }
    out
}

struct Lives<'a, 'm> {
    m: &'a Module<'m>,
    body: &'a Body,
    g: &'a Graph,
    u: &'a Uniformity,
    /// Points at which values are defined and used last.
    first: SecondaryMap<Id, u32>,
    last: SecondaryMap<Id, u32>,
    /// The points behind loops.
    ends: SecondaryMap<Loop, u32>,
    ids: Vec<Id>,
    /// By point: bytes that each channel has there and nowhere else.
    extra: Vec<i64>,
}

impl Lives<'_, '_> {
    /// Points, in the script's order: one for each block's beginning, instruction and end.
    fn number(&mut self, structured: &StructuredCfg) {
        let mut blocks: Vec<(Block, u32)> = Vec::with_capacity(self.g.order.len());
        let insts = self
            .g
            .order
            .iter()
            .map(|b| self.body.blocks[*b].insts.len());
        let points = insts.sum::<usize>() + 2 * self.g.order.len();
        self.extra.reserve(points);
        self.ids.reserve(points);
        for step in &structured.steps {
            let point = self.extra.len() as u32;
            match *step {
                Step::Code(b) => {
                    blocks.push((b, point));
                    let data = &self.body.blocks[b];
                    self.extra.push(0);
                    let extra = data.insts.iter().map(extra);
                    self.extra.extend(extra);
                    self.extra.push(0);
                }
                Step::LoopEnd(l) => self.ends[l] = point,
                _ => {}
            }
        }
        for (id, _) in &self.body.params {
            self.define(*id, 0);
        }
        for &(b, point) in &blocks {
            let data = &self.body.blocks[b];
            data.phis.iter().for_each(|p| self.define(p.id, point));
            for (n, inst) in data.insts.iter().enumerate() {
                if let Some(id) = inst.id.expand() {
                    self.define(id, point + 1 + n as u32);
                }
            }
        }
        let end = |b: Block, point: u32| point + 1 + self.body.blocks[b].insts.len() as u32;
        let mut ended: SecondaryMap<Block, u32> = sized(self.body.blocks.len());
        for &(b, point) in &blocks {
            ended[b] = end(b, point);
        }
        let body = self.body;
        for &(b, point) in &blocks {
            let data = &body.blocks[b];
            for phi in &data.phis {
                for (from, arg) in &phi.args {
                    self.used(*arg, *from, ended[*from]);
                    // What goes round a loop has its place until the end of it.
                    if ended[*from] > point {
                        self.last[phi.id] = self.last[phi.id].max(ended[*from]);
                    }
                }
            }
            for (n, inst) in data.insts.iter().enumerate() {
                body.for_each_use(inst, |id| self.used(id, b, point + 1 + n as u32));
            }
            if let Some(id) = data.term.condition() {
                self.used(id, b, ended[b]);
            }
        }
    }

    fn define(&mut self, id: Id, point: u32) {
        self.first[id] = point;
        self.last[id] = point;
        self.ids.push(id);
    }

    /// A use at a point of a block: where it is in loops that the definition is not in, the value lives through them.
    fn used(&mut self, id: Id, by: Block, point: u32) {
        let Some(def) = self.u.block[id].expand() else {
            return;
        };
        let through = self.g.left(by, def).map_or(0, |l| self.ends[l]);
        self.last[id] = self.last[id].max(point).max(through);
    }

    fn estimate(&self) -> Estimate {
        let points = self.extra.len() + 2;
        // What begins and ends at each point, of the thread and of each channel.
        let mut change = vec![[0i64; 2]; points];
        for id in &self.ids {
            let bytes = i64::from(self.bytes(*id));
            let which = usize::from(self.u.divergent[*id]);
            let (first, last) = (self.first[*id] as usize, self.last[*id] as usize);
            change[first][which] += bytes;
            if let Some(c) = change.get_mut(last + 1) {
                c[which] -= bytes;
            }
        }
        let mut live = [THREAD, 0];
        let mut most = [0i64; 3];
        for (n, change) in change.iter().enumerate() {
            live = [live[0] + change[0], live[1] + change[1]];
            let extra = self.extra.get(n).copied().unwrap_or(0);
            for (most, simd) in most.iter_mut().zip([8, 16, 32]) {
                *most = (*most).max(live[0] + (live[1] + extra) * simd);
            }
        }
        Estimate {
            bytes: most.map(|b| u32::try_from(b).unwrap_or(u32::MAX)),
        }
    }

    /// Bytes of a value, or of a channel's part of it.
    fn bytes(&self, id: Id) -> u32 {
        let Some(ty) = self.body.type_of(self.m, id) else {
            return 0;
        };
        let types = &self.m.types;
        match types.kind(ty) {
            // Flags, mostly.
            Type::Bool => 0,
            // Variables of their own: a place in scratch.
            Type::Pointer(StorageClass::Function | StorageClass::Private, _) => 4,
            _ => u32::try_from(types.size(ty)).unwrap_or(u32::MAX),
        }
    }
}

/// Bytes that each channel has for an instruction besides its operands and its result.
fn extra(inst: &BInst) -> i64 {
    match inst.op {
        Op::ExtInst => CALL,
        Op::Load | Op::Store | Op::ImageRead | Op::ImageWrite | Op::ImageSampleExplicitLod => {
            ACCESS
        }
        op if crate::emit::is_lane_dependent(op) => ACCESS,
        _ => 0,
    }
}

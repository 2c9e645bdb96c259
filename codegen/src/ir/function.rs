//! Functions and modules.

use super::data::Data;
use super::dfg::DataFlowGraph;
use super::entities::{DataRef, FuncRef, Inst, SourceFile, Value};
use super::image::{ArgFact, ImageAccess, ImageShape, Sampler};
use super::instructions::InstData;
use super::layout::Layout;
use super::memory::Space;
use super::opcode::Opcode;
use super::reflection::Reflection;
use super::sourceloc::{SourceLine, SourceLoc, ValueLabels};
use super::types::{Scalar, Type};
use cranelift_entity::packed_option::{PackedOption, ReservedValue};
use cranelift_entity::{PrimaryMap, SecondaryMap};
use gantry_isa_gen::perf::WAYS;
use gantry_isa_gen::sem::{FpMode, Round};

/// What a kernel argument is to the host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgKind {
    /// A value passed by value.
    Value,
    /// A global buffer; the value is its 64-bit (A64) address, `i64`.
    Ptr,
    /// Local memory the host sizes; the value is its SLM offset in bytes, `i32`.
    Slm,
    /// A buffer bound as a surface, the n-th such argument surface n; the value is the offset in
    /// it, in bytes, at which the buffer begins, `i32`.
    Surface,
    /// An image; the value, an `i32`, is 0: operations say which image they mean by its number
    /// among those arguments.
    Image(ImageShape, ImageAccess),
    /// A sampler, in the same way.
    Sampler,
}

impl ArgKind {
    /// The word in text after the type; none for a value. Behind an image's stands what is done
    /// with it.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            ArgKind::Value => None,
            ArgKind::Ptr => Some("ptr"),
            ArgKind::Slm => Some("slm"),
            ArgKind::Surface => Some("surface"),
            ArgKind::Image(shape, _) => Some(shape.name()),
            ArgKind::Sampler => Some("sampler"),
        }
    }
}

/// A parameter of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// Type of the value.
    pub ty: Type,
    /// What it is to the host; always [`ArgKind::Value`] in subroutines.
    pub kind: ArgKind,
    /// Of a buffer: in what one work-item does between two barriers or fences, no byte that is
    /// written is reached by addresses that are computed from this argument, or in its surface, and
    /// by others: C's `restrict`, SPIR-V's `NoAlias`.
    pub noalias: bool,
}

impl Param {
    /// One of which nothing is promised.
    pub const fn new(ty: Type, kind: ArgKind) -> Param {
        Param {
            ty,
            kind,
            noalias: false,
        }
    }
}

/// Parameters and results. The entry block's parameters have the same types.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// Parameters.
    pub params: Vec<Param>,
    /// Results; none in kernels.
    pub results: Vec<Type>,
}

/// How a kernel's float operations round and treat denormals, and those of the subroutines that it
/// calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FloatControls {
    /// Denormals of halves are zero.
    pub flush_f16: bool,
    /// Denormals of singles are zero.
    pub flush_f32: bool,
    /// Denormals of doubles are zero.
    pub flush_f64: bool,
    /// Results are rounded toward zero, not to nearest even.
    pub toward_zero: bool,
    /// A product and the sum that it is a part of may be rounded once, as `fma` does: the
    /// optimizer's choice, of which the interpreter knows nothing.
    pub contract: bool,
}

impl FloatControls {
    /// The hardware's mode.
    pub const fn mode(self) -> FpMode {
        FpMode {
            round: if self.toward_zero {
                Round::Zero
            } else {
                Round::Nearest
            },
            keep_hf: !self.flush_f16,
            keep_f: !self.flush_f32,
            keep_df: !self.flush_f64,
        }
    }

    /// Whether denormals of a float type are zero.
    pub const fn flushes(self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::F16 => self.flush_f16,
            Scalar::F32 => self.flush_f32,
            Scalar::F64 => self.flush_f64,
            _ => false,
        }
    }
}

/// The most scratch that a hardware thread can have, in bytes.
pub const MAX_SCRATCH: u32 = 2 << 20;

/// Kernel or subroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FuncKind {
    /// An entry point for the host.
    Kernel {
        /// SIMD width of the dispatch: work-items in a hardware thread: 1, 8, 16 or 32.
        simd: u32,
        /// Static SLM in bytes.
        slm_bytes: u32,
        /// Scratch of each hardware thread in bytes, up to [`MAX_SCRATCH`].
        scratch_bytes: u32,
        /// Required work-group size, where there is one.
        group_size: Option<[u32; 3]>,
        /// How floats are rounded, and which denormals are kept.
        float: FloatControls,
    },
    /// Compiled as part of each kernel that calls it.
    Subroutine,
}

/// A function. Two are equal if their text is: numbers of values and blocks and source locations
/// included, storage order not.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name, without the `%`.
    pub name: String,
    /// Kernel or subroutine.
    pub kind: FuncKind,
    /// Parameters and results.
    pub sig: Signature,
    /// Values and instructions.
    pub dfg: DataFlowGraph,
    /// Their order.
    pub layout: Layout,
    /// Where instructions come from; empty where nobody said.
    pub srclocs: SecondaryMap<Inst, SourceLoc>,
    /// What a debugger would call values.
    pub labels: ValueLabels,
    /// A kernel's own samplers, behind its arguments' in number.
    pub samplers: Vec<Sampler>,
    /// Names of a kernel's parameters, and how a host finds them.
    pub reflection: Reflection,
}

impl Function {
    /// Call instructions of the function, in layout order.
    pub fn calls(&self) -> impl Iterator<Item = Inst> + '_ {
        let insts = self
            .layout
            .blocks()
            .iter()
            .flat_map(|&b| self.layout.insts(b));
        let insts = insts.copied().filter(|&i| self.dfg.has_inst(i));
        insts.filter(|&i| self.dfg.data(i).opcode() == Opcode::Call)
    }

    /// An empty function.
    pub fn new(name: impl Into<String>, kind: FuncKind, sig: Signature) -> Self {
        Function {
            name: name.into(),
            kind,
            sig,
            dfg: DataFlowGraph::default(),
            layout: Layout::default(),
            srclocs: SecondaryMap::new(),
            labels: ValueLabels::default(),
            samplers: Vec::new(),
            reflection: Reflection::default(),
        }
    }

    /// Says where an instruction comes from. A function without locations has no table of them.
    pub fn set_srcloc(&mut self, inst: Inst, loc: SourceLoc) {
        if self.srclocs[inst] != loc {
            self.srclocs[inst] = loc;
        }
    }

    /// A new instruction with one result, that comes from where another does; it is in no block
    /// yet.
    pub(crate) fn make_like(&mut self, like: Inst, data: InstData, ty: Type) -> (Inst, Value) {
        let inst = self.dfg.make_inst(data, &[ty]);
        let loc = self.srclocs[like];
        self.set_srcloc(inst, loc);
        let result = self.dfg.first_result(inst);
        (inst, result.unwrap_or_else(Value::reserved_value))
    }

    /// Puts what stands for values where they are used.
    pub(crate) fn rename(&mut self, mut of: impl FnMut(Value) -> Value) {
        for &block in self.layout.blocks() {
            for &inst in self.layout.insts(block) {
                self.dfg.map_args(inst, &mut of);
            }
        }
        self.labels.map_values(|v| Some(of(v)));
    }

    /// The same by a table: what stands for a value, and for that, and so on. The way to the last
    /// is made short for all on it, since it may be as long as the function.
    pub(crate) fn rename_by(&mut self, same: &mut SecondaryMap<Value, PackedOption<Value>>) {
        self.rename(|v| {
            let mut last = v;
            while let Some(next) = same[last].expand() {
                last = next;
            }
            let mut at = v;
            while let Some(next) = same[at].expand().filter(|&n| n != last) {
                same[at] = last.into();
                at = next;
            }
            last
        });
    }

    /// Whether any instruction may have a location.
    pub fn has_srclocs(&self) -> bool {
        self.srclocs.values().any(|loc| !loc.is_none())
    }

    /// The shape and the use of each image argument, in order.
    pub fn images(&self) -> impl Iterator<Item = (ImageShape, ImageAccess)> + '_ {
        self.sig.params.iter().filter_map(|p| match p.kind {
            ArgKind::Image(shape, access) => Some((shape, access)),
            _ => None,
        })
    }

    /// A bit for each of the first [`WAYS`] surfaces of a kernel, but the last, that is
    /// [`noalias`](Param::noalias).
    pub(crate) fn lone_surfaces(&self) -> u64 {
        let surfaces = self
            .sig
            .params
            .iter()
            .filter(|p| p.kind == ArgKind::Surface);
        let bits = surfaces.take(WAYS as usize - 1).enumerate();
        bits.fold(0, |all, (n, p)| all | u64::from(p.noalias) << n)
    }

    /// How many arguments are of a kind.
    pub fn count(&self, kind: ArgKind) -> usize {
        self.sig.params.iter().filter(|p| p.kind == kind).count()
    }

    /// What an instruction, of this kernel or of a subroutine that it calls, asks of the kernel in
    /// vain: an argument by its number, or scratch. Nothing is known of subroutines themselves.
    pub fn lacks(&self, data: &InstData) -> Option<String> {
        let FuncKind::Kernel { scratch_bytes, .. } = self.kind else {
            return None;
        };
        let few = |what: &str, n: u8, have: usize| {
            if usize::from(n) < have {
                None
            } else {
                Some(format!(
                    "{what} {n}: the kernel has {have} {what} arguments"
                ))
            }
        };
        let image = |n| few("image", n, self.images().count());
        let given = self.count(ArgKind::Sampler);
        let sampler = |n| few("sampler", n, given + self.samplers.len());
        match *data {
            InstData::Load { mem, .. }
            | InstData::Store { mem, .. }
            | InstData::Atomic { mem, .. } => match mem.space {
                Space::Surface(n) => few("surface", n, self.count(ArgKind::Surface)),
                Space::Scratch if scratch_bytes == 0 => Some("the kernel has no scratch".into()),
                _ => None,
            },
            InstData::Image { opcode, at, .. } => image(at.image).or_else(|| match opcode {
                Opcode::Sample => sampler(at.sampler),
                _ => None,
            }),
            InstData::Media { image: n, .. } => image(n),
            InstData::ArgQuery { fact, of, .. } => match fact {
                ArgFact::Image(_) => image(of),
                ArgFact::Sampler(_) => few("sampler", of, given),
            },
            _ => None,
        }
    }

    /// How the function's float operations round and treat denormals; a subroutine's are its
    /// kernel's.
    pub fn float_controls(&self) -> FloatControls {
        match self.kind {
            FuncKind::Kernel { float, .. } => float,
            FuncKind::Subroutine => FloatControls::default(),
        }
    }

    /// Sets how a kernel's float operations round and treat denormals; does nothing to a
    /// subroutine.
    pub fn set_float_controls(&mut self, controls: FloatControls) {
        if let FuncKind::Kernel { float, .. } = &mut self.kind {
            *float = controls;
        }
    }
}

/// The functions and the data of one text or one zebin.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// Names of the source files that instructions come from.
    pub files: PrimaryMap<SourceFile, String>,
    /// Constants, strings and variables, in text order.
    pub data: PrimaryMap<DataRef, Data>,
    /// In text order.
    pub functions: PrimaryMap<FuncRef, Function>,
}

impl Module {
    /// The data of this name.
    pub fn find_data(&self, name: &str) -> Option<DataRef> {
        let mut all = self.data.iter();
        all.find(|(_, d)| d.name == name).map(|(r, _)| r)
    }

    /// The source file of this name, which is added if it is not there.
    pub fn source_file(&mut self, name: &str) -> SourceFile {
        let there = self.files.iter().find(|(_, n)| *n == name).map(|(f, _)| f);
        there.unwrap_or_else(|| self.files.push(name.to_owned()))
    }

    /// A location with its file's name; the file's number where the module does not have it.
    pub fn source_line(&self, loc: SourceLoc) -> Option<SourceLine> {
        let file = self.files.get(loc.file());
        (!loc.is_none()).then(|| SourceLine {
            file: file.map_or_else(|| loc.file().to_string(), String::clone),
            line: loc.line(),
            column: loc.column(),
        })
    }

    /// The function of this name.
    pub fn find(&self, name: &str) -> Option<FuncRef> {
        self.functions
            .iter()
            .find(|(_, f)| f.name == name)
            .map(|(r, _)| r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::builder::FunctionBuilder;
    use crate::ir::scalars::I32;

    /// Flattened branches one behind the other make one long chain of masks: each asked for its
    /// begin all the way back.
    #[test]
    fn chains_of_names_become_short() {
        let mut func = Function::kernel("k", 16);
        let mut b = FunctionBuilder::new(&mut func);
        let first = b.param(I32);
        let mut chain = vec![first];
        for _ in 0..100 {
            let last = chain[chain.len() - 1];
            chain.push(b.ins().iadd(last, first));
        }
        b.ins().return_(&[]);
        b.finish().unwrap();
        let mut same = SecondaryMap::new();
        for pair in chain.windows(2) {
            same[pair[1]] = PackedOption::from(pair[0]);
        }
        func.rename_by(&mut same);
        for &v in &chain[1..100] {
            assert_eq!(same[v].expand(), Some(first), "{v}");
        }
        for &v in &chain[1..] {
            let inst = func.dfg.def_inst(v).unwrap();
            let data = func.dfg.data(inst);
            data.for_each_arg(&func.dfg, |a| assert_eq!(a, first, "of {v}"));
        }
    }
}

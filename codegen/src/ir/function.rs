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
use gantry_isa_gen::effects::GLOBAL_UNITS;
use gantry_isa_gen::sem::{FpMode, Round};

/// Kind of a kernel argument, as a host sees it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgKind {
    /// A value passed by value.
    Value,
    /// Global buffer. The value is its 64-bit (A64) address, `i64`.
    Ptr,
    /// SLM whose size the host sets. The value is its SLM offset in bytes, `i32`.
    Slm,
    /// Buffer bound as a surface: the n-th such argument is surface n. The value, `i32`, is the
    /// offset in bytes at which the buffer begins in the surface.
    Surface,
    /// Image. The value, an `i32`, is 0, since operations name an image by its index among the
    /// image arguments.
    Image(ImageShape, ImageAccess),
    /// Sampler, named by its index as images are.
    Sampler,
}

impl ArgKind {
    /// Returns the keyword after the type in the text format; `None` for a value. The access
    /// follows the keyword of an image.
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

/// Parameter of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// Type of the value.
    pub ty: Type,
    /// Kind of the argument; always [`ArgKind::Value`] in subroutines.
    pub kind: ArgKind,
    /// Promise about a buffer, as of C's `restrict` or SPIR-V's `NoAlias`. It holds for what one
    /// work-item does between two barriers or fences. No byte that is written there is accessed
    /// both through this argument, or its surface, and through others.
    pub noalias: bool,
}

impl Param {
    /// Makes a parameter without promises.
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

/// Rounding and denormal modes of the float operations of a kernel and of its subroutines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FloatControls {
    /// Flush denormals of halves to zero.
    pub flush_f16: bool,
    /// Flush denormals of singles to zero.
    pub flush_f32: bool,
    /// Flush denormals of doubles to zero.
    pub flush_f64: bool,
    /// Round results toward zero rather than to nearest even.
    pub toward_zero: bool,
    /// Allow contraction of a product and a sum into an `fma`, which rounds once. This is up to the
    /// optimizer: the interpreter never contracts.
    pub contract: bool,
    /// Allow products with a reciprocal in place of quotients of halves and singles. This is up to
    /// the optimizer: the interpreter divides.
    pub reciprocal: bool,
}

impl FloatControls {
    /// Returns the mode of the hardware.
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

    /// Returns true if denormals of a float type are flushed to zero.
    pub const fn flushes(self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::F16 => self.flush_f16,
            Scalar::F32 => self.flush_f32,
            Scalar::F64 => self.flush_f64,
            _ => false,
        }
    }
}

/// Maximum scratch of a hardware thread, in bytes.
pub const MAX_SCRATCH: u32 = 2 << 20;

/// Kind of a function: kernel or subroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FuncKind {
    /// Entry point for the host.
    Kernel {
        /// SIMD width of the dispatch, in work-items per hardware thread: 1, 8, 16 or 32.
        simd: u32,
        /// Static SLM in bytes.
        slm_bytes: u32,
        /// Scratch of each hardware thread in bytes, up to [`MAX_SCRATCH`].
        scratch_bytes: u32,
        /// Required work-group size, if there is one.
        group_size: Option<[u32; 3]>,
        /// Rounding and denormal modes.
        float: FloatControls,
    },
    /// Function that is compiled as part of each kernel that calls it.
    Subroutine,
}

/// Linkage of a subroutine: where it is defined, and what may call it. Kernels are
/// [`Linkage::Local`], though hosts find them by their names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Linkage {
    /// Defined here, and called by functions of its module alone.
    #[default]
    Local,
    /// Defined here, and called by functions of any module that is linked with its own.
    Public,
    /// Declaration of a public function of another module, without blocks.
    Import,
}

/// Function of the IR. Two are equal if their texts are. Numbers of values and blocks and source
/// locations count, storage order does not.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name, without the `%`.
    pub name: String,
    /// Kernel or subroutine.
    pub kind: FuncKind,
    /// Linkage of a subroutine.
    pub linkage: Linkage,
    /// Parameters and results.
    pub sig: Signature,
    /// Values and instructions.
    pub dfg: DataFlowGraph,
    /// Order of blocks and instructions.
    pub layout: Layout,
    /// Source locations of instructions; empty if there are none.
    pub srclocs: SecondaryMap<Inst, SourceLoc>,
    /// Names of values for a debugger.
    pub labels: ValueLabels,
    /// Samplers that a kernel declares, numbered after its sampler arguments.
    pub samplers: Vec<Sampler>,
    /// Names and bindings of a kernel's parameters.
    pub reflection: Reflection,
}

impl Function {
    /// Iterates over the call instructions of the function, in layout order.
    pub fn calls(&self) -> impl Iterator<Item = Inst> + '_ {
        let insts = self
            .layout
            .blocks()
            .iter()
            .flat_map(|&b| self.layout.insts(b));
        let insts = insts.copied().filter(|&i| self.dfg.has_inst(i));
        insts.filter(|&i| self.dfg.data(i).opcode() == Opcode::Call)
    }

    /// Makes an empty function.
    pub fn new(name: impl Into<String>, kind: FuncKind, sig: Signature) -> Self {
        Function {
            name: name.into(),
            kind,
            linkage: Linkage::Local,
            sig,
            dfg: DataFlowGraph::default(),
            layout: Layout::default(),
            srclocs: SecondaryMap::new(),
            labels: ValueLabels::default(),
            samplers: Vec::new(),
            reflection: Reflection::default(),
        }
    }

    /// Sets the source location of an instruction. A function without locations has no table of
    /// them.
    pub fn set_srcloc(&mut self, inst: Inst, loc: SourceLoc) {
        if self.srclocs[inst] != loc {
            self.srclocs[inst] = loc;
        }
    }

    /// Makes an instruction with one result and the source location of another. It is not yet in
    /// the layout.
    pub(crate) fn make_like(&mut self, like: Inst, data: InstData, ty: Type) -> (Inst, Value) {
        let inst = self.dfg.make_inst(data, &[ty]);
        let loc = self.srclocs[like];
        self.set_srcloc(inst, loc);
        let result = self.dfg.first_result(inst);
        (inst, result.unwrap_or_else(Value::reserved_value))
    }

    /// Replaces every use of a value `v`, and its name, by `of(v)`.
    pub(crate) fn rename(&mut self, mut of: impl FnMut(Value) -> Value) {
        for &block in self.layout.blocks() {
            for &inst in self.layout.insts(block) {
                self.dfg.map_args(inst, &mut of);
            }
        }
        self.labels.map_values(|v| Some(of(v)));
    }

    /// Replaces every use of a value by the end of its chain in `same`. Chains are compressed on
    /// the way, as in union-find, since one may be as long as the function.
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

    /// Returns true if any instruction has a source location.
    pub fn has_srclocs(&self) -> bool {
        self.srclocs.values().any(|loc| !loc.is_none())
    }

    /// Iterates over the shape and the access of each image argument, in order.
    pub fn images(&self) -> impl Iterator<Item = (ImageShape, ImageAccess)> + '_ {
        self.sig.params.iter().filter_map(|p| match p.kind {
            ArgKind::Image(shape, access) => Some((shape, access)),
            _ => None,
        })
    }

    /// Returns a bit set of the surfaces that are [`noalias`](Param::noalias), among the first
    /// `GLOBAL_UNITS - 1` of a kernel (see [`GLOBAL_UNITS`]).
    pub(crate) fn lone_surfaces(&self) -> u64 {
        let surfaces = self
            .sig
            .params
            .iter()
            .filter(|p| p.kind == ArgKind::Surface);
        let bits = surfaces.take(GLOBAL_UNITS as usize - 1).enumerate();
        bits.fold(0, |all, (n, p)| all | u64::from(p.noalias) << n)
    }

    /// Number of arguments of a kind.
    pub fn count(&self, kind: ArgKind) -> usize {
        self.sig.params.iter().filter(|p| p.kind == kind).count()
    }

    /// Returns a message if the kernel lacks something that an instruction needs: an argument of
    /// that index, or scratch.
    ///
    /// The instruction may be in a subroutine that the kernel calls. Subroutines themselves are not
    /// checked.
    pub fn missing_resource(&self, data: &InstData) -> Option<String> {
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
        let given = || self.count(ArgKind::Sampler);
        let sampler = |n| few("sampler", n, given() + self.samplers.len());
        match data.mem().map(|mem| mem.space) {
            Some(Space::Surface(n)) => return few("surface", n, self.count(ArgKind::Surface)),
            Some(Space::Scratch) if scratch_bytes == 0 => {
                return Some("the kernel has no scratch".into());
            }
            _ => {}
        }
        match *data {
            InstData::Image { opcode, at, .. } => image(at.image).or_else(|| match opcode {
                Opcode::Sample => sampler(at.sampler),
                _ => None,
            }),
            InstData::Media { image: n, .. } | InstData::ImageAtomic { image: n, .. } => image(n),
            InstData::ArgQuery { fact, of, .. } => match fact {
                ArgFact::Image(_) => image(of),
                ArgFact::Sampler(_) => few("sampler", of, given()),
            },
            _ => None,
        }
    }

    /// Returns the rounding and denormal modes. A subroutine has those of its kernel.
    pub fn float_controls(&self) -> FloatControls {
        match self.kind {
            FuncKind::Kernel { float, .. } => float,
            FuncKind::Subroutine => FloatControls::default(),
        }
    }

    /// Sets the rounding and denormal modes of a kernel. Does nothing to a subroutine.
    pub fn set_float_controls(&mut self, controls: FloatControls) {
        if let FuncKind::Kernel { float, .. } = &mut self.kind {
            *float = controls;
        }
    }
}

/// Functions and data of one text or one zebin.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Module {
    /// Names of the source files that instructions come from.
    pub files: PrimaryMap<SourceFile, String>,
    /// Constants, strings and variables, in text order.
    pub data: PrimaryMap<DataRef, Data>,
    /// Functions, in text order.
    pub functions: PrimaryMap<FuncRef, Function>,
}

impl Module {
    /// Returns the data of this name.
    pub fn find_data(&self, name: &str) -> Option<DataRef> {
        let mut all = self.data.iter();
        all.find(|(_, d)| d.name == name).map(|(r, _)| r)
    }

    /// Returns the source file of this name, adding it if needed.
    pub fn source_file(&mut self, name: &str) -> SourceFile {
        let there = self.files.iter().find(|(_, n)| *n == name).map(|(f, _)| f);
        there.unwrap_or_else(|| self.files.push(name.to_owned()))
    }

    /// Returns a location with the name of its file, or the file's number if the module lacks it.
    pub fn source_line(&self, loc: SourceLoc) -> Option<SourceLine> {
        let file = self.files.get(loc.file());
        (!loc.is_none()).then(|| SourceLine {
            file: file.map_or_else(|| loc.file().to_string(), String::clone),
            line: loc.line(),
            column: loc.column(),
        })
    }

    /// Links modules into one; see [`link`](super::link::link).
    ///
    /// # Errors
    /// Returns every import without a function, and every name that two modules have.
    pub fn link(modules: &[&Module]) -> Result<Module, super::link::LinkErrors> {
        super::link::link(modules)
    }

    /// Returns the function of this name.
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

    /// If-conversion of consecutive branches makes one long chain of masks. Each lookup used to
    /// follow its chain back to the start.
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

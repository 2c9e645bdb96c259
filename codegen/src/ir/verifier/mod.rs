//! Verifier: the rules of valid IR, grouped into files.
//!
//! Errors are collected with their locations. The compiler does not panic on IR that passes.
//!
//! - `structure`: blocks, terminators, entities that exist, signatures.
//! - `ssa`: definitions dominate uses.
//! - `types`: operand classes, equal operand types, result types, conversions.
//! - `immediates`: constants fit their types, and launch parameters have the types that the kernel
//!   implies.
//! - `regions`: bounds, alignment, indices.
//! - `predicates`: lanes of masks and of slices of predicates.
//! - `memory`: addresses, masks of loads and stores.
//! - `images`: image arguments, coordinates, texels.
//! - `systolic`: shapes of matrix products.
//! - `block2d`: shapes of 2D blocks.
//! - `control`: branch arguments, returns, calls.
//! - `data`: constant data of a module.
//! - `sources`: source files, locations, names of values.
//! - `calls`: rules on all functions of a module: names, recursion.

mod block2d;
mod calls;
mod control;
mod data;
mod images;
mod immediates;
mod memory;
mod predicates;
mod printf;
mod regions;
mod sources;
mod ssa;
mod structure;
mod systolic;
mod types;

use crate::ir::text::{Parsed, SourceMap};
use crate::ir::{
    Block, ControlFlow, FuncRef, Function, Inst, InstData, Linkage, Module, Opcode, SourceLine,
    Type, Value,
};
use calls::CallGraph;
use cranelift_entity::{EntityRef, SecondaryMap};
use gantry_isa_gen::diag::{Diagnostic, Diagnostics, Span};
use std::fmt;

/// Location of an error in a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorLocation {
    /// Function: its signature or kind.
    Function,
    /// Block.
    Block(Block),
    /// Instruction.
    Inst(Inst),
    /// N-th value operand of an instruction, in the order of `InstData::for_each_arg`.
    Operand(Inst, usize),
}

/// Violated rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifierError {
    /// Name of the function.
    pub function: String,
    /// Location in the function.
    pub place: ErrorLocation,
    /// Block that contains it.
    pub block: Option<Block>,
    /// Instruction as text, if it is about one.
    pub at: String,
    /// Location in the source text, if known.
    pub source: Option<SourceLine>,
    /// Error message.
    pub message: String,
}

impl fmt::Display for VerifierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in %{}", self.function)?;
        if let Some(b) = self.block {
            write!(f, ", {b}")?;
        }
        if !self.at.is_empty() {
            write!(f, ", at `{}`", self.at)?;
        }
        if let Some(line) = &self.source {
            write!(f, " ({line})")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl VerifierError {
    /// Converts it to a diagnostic, located in the text that the function was parsed from.
    pub fn locate(&self, map: &SourceMap) -> Diagnostic {
        let span = match self.place {
            ErrorLocation::Function => map.header,
            ErrorLocation::Block(b) => map.blocks[b],
            ErrorLocation::Inst(i) => map.insts[i],
            ErrorLocation::Operand(i, n) => map.operand(i, n).unwrap_or(map.insts[i]),
        };
        let span = if span == Span::default() {
            map.header
        } else {
            span
        };
        match &self.source {
            Some(line) => Diagnostic::new(span, format!("{} ({line})", self.message)),
            None => Diagnostic::new(span, self.message.clone()),
        }
    }
}

/// Verifier of a module's functions. Checks that concern all of them are done once.
pub struct ModuleVerifier<'m> {
    module: &'m Module,
    calls: CallGraph<'m>,
    /// True if the module may have imports, as before it is linked.
    imports: bool,
}

impl<'m> ModuleVerifier<'m> {
    /// Makes a verifier of a module.
    pub fn new(module: &'m Module) -> Self {
        ModuleVerifier {
            module,
            calls: CallGraph::new(module),
            imports: false,
        }
    }

    /// Returns the violated rules of a function, in no particular order. Empty if the module lacks
    /// the function.
    pub fn function(&self, func: FuncRef) -> Vec<VerifierError> {
        let found = self.module.functions.get(func);
        found.map_or(Vec::new(), |f| self.errors(f, Some(func)))
    }

    /// Returns the violated rules of a function that need not be in the module.
    pub(crate) fn errors_of(&self, func: &Function) -> Vec<VerifierError> {
        self.errors(func, self.module.find(&func.name))
    }

    fn errors(&self, func: &Function, name: Option<FuncRef>) -> Vec<VerifierError> {
        let mut v = Verifier {
            module: self.module,
            func,
            errors: Vec::new(),
            blocks: None,
        };
        v.signature();
        v.unique(&self.calls);
        if func.linkage == Linkage::Import {
            if !self.imports {
                let what = "an import, which no module has that is linked with this one";
                v.error(ErrorLocation::Function, what);
            }
            return v.errors;
        }
        v.calls_end(&self.calls, name);
        v.labels();
        if v.structure() {
            v.locations();
            let cfg = ControlFlow::new(func);
            v.ssa(&cfg);
            for &block in func.layout.blocks() {
                for &inst in func.layout.insts(block) {
                    v.inst(inst);
                }
            }
        }
        v.errors
    }
}

/// Returns the rules that single instructions violate, regardless of the rest of the function and
/// of its module.
pub(crate) fn broken_alone(func: &Function) -> Vec<VerifierError> {
    let mut v = Verifier {
        module: &Module::default(),
        func,
        errors: Vec::new(),
        blocks: None,
    };
    for &block in func.layout.blocks() {
        for &inst in func.layout.insts(block) {
            match func.dfg.data(inst) {
                // These refer to entities of the module.
                InstData::Symbol { .. } | InstData::Printf { .. } | InstData::Call { .. } => {}
                _ => v.inst(inst),
            }
        }
    }
    v.errors
}

/// Verifies one function of a module.
///
/// # Errors
/// Returns every violated rule. The diagnostics have no line, but name function and instruction.
pub fn verify(module: &Module, func: &Function) -> Result<(), Diagnostics> {
    diagnostics(errors(module, func))
}

/// Converts errors to diagnostics without lines.
pub(crate) fn diagnostics(errors: Vec<VerifierError>) -> Result<(), Diagnostics> {
    if errors.is_empty() {
        return Ok(());
    }
    Err(Diagnostics(
        errors
            .iter()
            .map(|e| Diagnostic::new(Span::default(), e.to_string()))
            .collect(),
    ))
}

/// Verifies a parsed text, which may import functions of other modules.
///
/// # Errors
/// Returns every violated rule, located in the text.
pub fn verify_parsed(parsed: &Parsed) -> Result<(), Diagnostics> {
    let mut out = Vec::new();
    let verifier = ModuleVerifier {
        imports: true,
        ..ModuleVerifier::new(&parsed.module)
    };
    for (r, message) in data::errors(&parsed.module) {
        let span = parsed.data.get(r.index()).copied().unwrap_or_default();
        out.push(Diagnostic::new(span, message));
    }
    for (file, message) in sources::errors(&parsed.module) {
        let span = parsed.files.get(file.index()).copied().unwrap_or_default();
        out.push(Diagnostic::new(span, message));
    }
    for (func, map) in parsed.module.functions.keys().zip(&parsed.maps) {
        out.extend(verifier.function(func).iter().map(|e| e.locate(map)));
    }
    out.sort_by_key(|d| (d.span.line, d.span.col));
    if out.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics(out))
    }
}

/// Verifies every function of a module, that names are unique, and that there are no imports.
///
/// # Errors
/// Returns every violated rule, as [`verify`] does.
pub fn verify_module(module: &Module) -> Result<(), Diagnostics> {
    verify_rest(module, |_| false)
}

/// Verifies a module except for functions that were verified before, together with their callees
/// and data.
pub(crate) fn verify_rest(
    module: &Module,
    verified: impl Fn(FuncRef) -> bool,
) -> Result<(), Diagnostics> {
    let rest: Vec<FuncRef> = module.functions.keys().filter(|f| !verified(*f)).collect();
    let mut found = Vec::new();
    if !rest.is_empty() {
        let verifier = ModuleVerifier::new(module);
        found.extend(rest.into_iter().flat_map(|f| verifier.function(f)));
    }
    let mut all = match diagnostics(found) {
        Ok(()) => Vec::new(),
        Err(Diagnostics(list)) => list,
    };
    for (r, message) in data::errors(module) {
        let name = module.data.get(r).map_or("", |d| d.name.as_str());
        let what = format!("in %{name}: {message}");
        all.push(Diagnostic::new(Span::default(), what));
    }
    for (file, message) in sources::errors(module) {
        let what = format!("{file}: {message}");
        all.push(Diagnostic::new(Span::default(), what));
    }
    if all.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics(all))
    }
}

/// Returns the violated rules of a function, in no particular order. [`ModuleVerifier`] is faster
/// for many functions of a module.
pub fn errors(module: &Module, func: &Function) -> Vec<VerifierError> {
    ModuleVerifier::new(module).errors_of(func)
}

/// State of verifying one function.
struct Verifier<'a> {
    module: &'a Module,
    func: &'a Function,
    errors: Vec<VerifierError>,
    /// Blocks of instructions, computed on demand.
    blocks: Option<SecondaryMap<Inst, Option<Block>>>,
}

impl<'a> Verifier<'a> {
    fn error(&mut self, place: ErrorLocation, message: impl Into<String>) {
        let (block, at, source) = match place {
            ErrorLocation::Function => (None, String::new(), None),
            ErrorLocation::Block(b) => (Some(b), String::new(), None),
            ErrorLocation::Inst(i) | ErrorLocation::Operand(i, _) => {
                let source = self.module.source_line(self.func.srclocs[i]);
                (self.block_of(i), self.inst_text(i), source)
            }
        };
        self.errors.push(VerifierError {
            function: self.func.name.clone(),
            place,
            block,
            at,
            source,
            message: message.into(),
        });
    }

    /// Returns the block of an instruction. The first call computes all.
    fn block_of(&mut self, inst: Inst) -> Option<Block> {
        let func = self.func;
        let blocks = self.blocks.get_or_insert_with(|| {
            let mut out = SecondaryMap::new();
            for &block in func.layout.blocks() {
                for &i in func.layout.insts(block) {
                    if func.dfg.has_inst(i) {
                        out[i] = Some(block);
                    }
                }
            }
            out
        });
        blocks[inst]
    }

    /// Returns the text of an instruction, or its number if its operands do not exist.
    fn inst_text(&self, inst: Inst) -> String {
        let dfg = &self.func.dfg;
        let data = dfg.data(inst);
        let whole = match *data {
            InstData::ImmVec { constant, .. } => dfg.has_constant(constant),
            _ => true,
        };
        if whole {
            crate::ir::text::inst_text(self.func, Some(self.module), inst)
        } else {
            inst.to_string()
        }
    }

    /// Checks all rules on one instruction whose entities exist.
    fn inst(&mut self, inst: Inst) {
        let before = self.errors.len();
        let data = self.data(inst);
        self.types(inst, data);
        self.immediates(inst, data);
        // Lane counts and bounds are meaningless for operands of wrong types.
        if self.errors.len() == before && !has_common_rules_only(data) {
            self.of_format(inst);
        }
    }

    /// Checks the rules on instructions of one format. Each function ignores others' formats.
    fn of_format(&mut self, inst: Inst) {
        self.regions(inst);
        self.predicates(inst);
        self.memory(inst);
        self.images(inst);
        self.resources(inst);
        self.products(inst);
        self.blocks(inst);
        self.control(inst);
        self.printf(inst);
    }

    /// Reports an image, sampler, surface or scratch that the kernel does not have.
    fn resources(&mut self, inst: Inst) {
        if let Some(what) = self.func.missing_resource(self.data(inst)) {
            self.error(ErrorLocation::Inst(inst), what);
        }
    }

    fn data(&self, inst: Inst) -> &'a InstData {
        self.func.dfg.data(inst)
    }

    fn ty(&self, v: Value) -> Type {
        self.func.dfg.ty(v)
    }

    /// Returns the type of the first result.
    fn result(&self, inst: Inst) -> Option<Type> {
        self.func.dfg.first_result(inst).map(|v| self.ty(v))
    }

    fn callee(&self, func: FuncRef) -> Option<&'a Function> {
        self.module.functions.get(func)
    }
}

/// Returns true for frequent instructions that have no rules but those on types and immediates.
fn has_common_rules_only(data: &InstData) -> bool {
    use InstData::*;
    match data {
        Imm { .. } | ImmVec { .. } | Unary { .. } | IntCompare { .. } | FloatCompare { .. } => true,
        Binary { opcode, .. } => *opcode != Opcode::Join,
        _ => false,
    }
}

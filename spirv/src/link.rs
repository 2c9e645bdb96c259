//! Linker of several modules into one, by imported and exported names.
//!
//! Ids are renumbered. Equal types and constants become one, if their decorations are equal too. An
//! imported function or variable becomes the one that another module exports. Imports without
//! export stay: the library may know a declared function, and built-ins are such variables. Each
//! section has the instructions of all modules in order. Debug information of imported sets is
//! dropped.

use crate::error::{Error, Errors};
use crate::read::{self, Id, Inst, MAX_IDS, OpClass, Stream};
use spirv::{Decoration, LinkageType, Op};
use std::collections::{BTreeMap, BTreeSet};

/// Number of sections of a module: capabilities, extensions, imported sets, the memory model, entry
/// points, modes, names, decorations, declarations, functions.
const SECTIONS: usize = 10;
/// Index of the section of functions.
const FUNCTIONS: usize = 9;

/// Section of an instruction outside of functions.
fn section(op: Op) -> usize {
    match op {
        Op::Capability => 0,
        Op::Extension => 1,
        Op::ExtInstImport => 2,
        Op::MemoryModel => 3,
        Op::EntryPoint => 4,
        Op::ExecutionMode | Op::ExecutionModeId => 5,
        Op::String
        | Op::Source
        | Op::SourceContinued
        | Op::SourceExtension
        | Op::Name
        | Op::MemberName
        | Op::ModuleProcessed => 6,
        op if is_annotation(op) => 7,
        Op::Function => FUNCTIONS,
        _ => 8,
    }
}

fn is_annotation(op: Op) -> bool {
    matches!(
        op,
        Op::Decorate
            | Op::DecorateId
            | Op::DecorateString
            | Op::MemberDecorate
            | Op::MemberDecorateString
            | Op::DecorationGroup
            | Op::GroupDecorate
            | Op::GroupMemberDecorate
    )
}

/// Instruction with ids of the linked module.
#[derive(Clone, Debug)]
struct Linked {
    op: Op,
    ty: Option<u32>,
    id: Option<u32>,
    operands: Vec<u32>,
    /// Indices of the operands that are ids.
    ids: Vec<usize>,
}

impl Linked {
    fn write(&self, out: &mut Vec<u32>) {
        let count = 1 + self.operands.len() + usize::from(self.ty.is_some());
        let count = count + usize::from(self.id.is_some());
        out.push((count as u32) << 16 | self.op as u32);
        out.extend(self.ty);
        out.extend(self.id);
        out.extend(&self.operands);
    }

    /// Target of a decoration, and the words after it.
    fn decorated(&self) -> Option<(u32, &[u32])> {
        let is = matches!(
            self.op,
            Op::Decorate
                | Op::DecorateId
                | Op::DecorateString
                | Op::MemberDecorate
                | Op::MemberDecorateString
        );
        let (first, rest) = self.operands.split_first()?;
        is.then_some((*first, rest))
    }

    /// Target, name and linkage type of a `LinkageAttributes` decoration.
    fn linkage(&self) -> Option<(u32, String, u32)> {
        let (id, words) = self.decorated()?;
        let (decoration, rest) = words.split_first()?;
        let (kind, _) = rest.split_last()?;
        let linked = self.op == Op::Decorate && *decoration == Decoration::LinkageAttributes as u32;
        linked.then(|| (id, read::string(rest), *kind))
    }
}

/// Function or variable with a name for other modules.
#[derive(Clone, Debug)]
struct Symbol {
    id: u32,
    kind: u32,
    module: usize,
}

/// Links modules into one, which is translated like any other. Words in errors are those of the
/// linked module.
///
/// # Errors
/// Invalid modules, a name that two of them export, an import of another type, or different memory
/// models.
pub fn link(modules: &[&[u32]]) -> Result<Vec<u32>, Errors> {
    if let [one] = modules {
        read::read(one)?;
        return Ok(one.to_vec());
    }
    let mut linker = Linker::default();
    for (n, words) in modules.iter().enumerate() {
        let of = |e: Errors| Errors(e.0.into_iter().map(|e| in_module(e, n)).collect());
        let stream = read::read(words).map_err(of)?;
        linker.add(&stream, n).map_err(|e| in_module(e, n))?;
    }
    linker.resolve()?;
    linker.finish()
}

fn in_module(mut e: Error, n: usize) -> Error {
    e.what = format!("module {}: {}", n + 1, e.what);
    e
}

#[derive(Default)]
struct Linker {
    sections: [Vec<Linked>; SECTIONS],
    version: u32,
    bound: u32,
    /// Declarations by their words and decorations, to merge equal ones.
    declared: BTreeMap<Vec<u32>, u32>,
    /// Replacement of an id by an equal declaration or an export.
    same: BTreeMap<u32, u32>,
    /// Type of each function and variable.
    types: BTreeMap<u32, u32>,
    /// Functions and variables by linkage name.
    symbols: BTreeMap<String, Vec<Symbol>>,
}

impl Linker {
    /// Adds the instructions of a module, with ids after the existing ones.
    fn add(&mut self, stream: &Stream<'_>, module: usize) -> Result<(), Error> {
        let first = self.bound;
        self.bound = first.saturating_add(stream.bound);
        if self.bound > MAX_IDS {
            let what = format!("more than {MAX_IDS} ids together");
            return Err(Error::limit(what));
        }
        self.version = self.version.max(stream.words.get(1).copied().unwrap_or(0));
        let insts = renumbered(stream, first)?;
        // Decorations come before their targets.
        let mut decorations: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
        let mut linked: BTreeMap<u32, (String, u32)> = BTreeMap::new();
        let mut forward: BTreeSet<u32> = BTreeSet::new();
        for inst in &insts {
            if let Some((id, words)) = inst.decorated() {
                let mut all = vec![inst.op as u32];
                all.extend(words);
                decorations.entry(id).or_default().push(all);
            }
            if let Some((id, name, kind)) = inst.linkage() {
                linked.insert(id, (name, kind));
            }
            if inst.op == Op::TypeForwardPointer {
                forward.extend(inst.operands.first());
            }
        }
        let mut in_function = false;
        for mut inst in insts {
            self.replace(&mut inst);
            if in_function || inst.op == Op::Function {
                in_function = inst.op != Op::FunctionEnd;
                if inst.op == Op::Function
                    && let (Some(id), Some(ty)) = (inst.id, inst.operands.get(1))
                {
                    self.types.insert(id, *ty);
                    self.symbol(id, &linked, module);
                }
                self.put(FUNCTIONS, inst);
                continue;
            }
            let at = section(inst.op);
            match at {
                0 | 1 | 3 => {
                    // These are emitted once.
                    let there = self.sections.get(at).into_iter().flatten();
                    let mut there = there.filter(|i| i.op == inst.op);
                    let known = there.clone().any(|i| i.operands == inst.operands);
                    if at == 3 && there.next().is_some() && !known {
                        let what = "a memory model other than that of the modules before";
                        return Err(Error::unsupported(what));
                    }
                    if !known {
                        self.put(at, inst);
                    }
                }
                2 | 8 => {
                    let unique = inst.op == Op::ExtInstImport || is_equal_by_words(inst.op);
                    let id = inst.id.filter(|id| unique && !forward.contains(id));
                    let Some(id) = id else {
                        if let (Op::Variable, Some(id), Some(ty)) = (inst.op, inst.id, inst.ty) {
                            self.types.insert(id, ty);
                            self.symbol(id, &linked, module);
                        }
                        self.put(at, inst);
                        continue;
                    };
                    let mut key = vec![inst.op as u32, inst.ty.unwrap_or(0)];
                    key.extend(&inst.operands);
                    let mut of = decorations.get(&id).cloned().unwrap_or_default();
                    of.sort();
                    key.extend(of.into_iter().flatten());
                    match self.declared.get(&key) {
                        Some(there) => {
                            self.same.insert(id, *there);
                        }
                        None => {
                            self.declared.insert(key, id);
                            self.put(at, inst);
                        }
                    }
                }
                _ => self.put(at, inst),
            }
        }
        Ok(())
    }

    fn put(&mut self, section: usize, inst: Linked) {
        if let Some(all) = self.sections.get_mut(section) {
            all.push(inst);
        }
    }

    /// Replaces ids by those that they were merged with.
    fn replace(&self, inst: &mut Linked) {
        let same = |id: u32| self.same.get(&id).copied().unwrap_or(id);
        inst.ty = inst.ty.map(same);
        for n in &inst.ids {
            if let Some(word) = inst.operands.get_mut(*n) {
                *word = same(*word);
            }
        }
    }

    fn symbol(&mut self, id: u32, linked: &BTreeMap<u32, (String, u32)>, module: usize) {
        if let Some((name, kind)) = linked.get(&id) {
            let symbol = Symbol {
                id,
                kind: *kind,
                module,
            };
            self.symbols.entry(name.clone()).or_default().push(symbol);
        }
    }

    /// Resolves imports to exports.
    fn resolve(&mut self) -> Result<(), Errors> {
        let is_import = |s: &&Symbol| s.kind == LinkageType::Import as u32;
        let once = LinkageType::LinkOnceODR as u32;
        let mut removed: BTreeSet<u32> = BTreeSet::new();
        let mut errors = Errors(Vec::new());
        for (name, all) in &self.symbols {
            let mut exports = all.iter().filter(|s| !is_import(s));
            let Some(export) = exports.next() else {
                continue;
            };
            let others: Vec<&Symbol> = exports.collect();
            if let Some(other) = others
                .iter()
                .find(|o| o.kind != once || export.kind != once)
            {
                let what = format!(
                    "\"{name}\" is exported by the modules {} and {}",
                    export.module + 1,
                    other.module + 1
                );
                errors.push(Error::malformed(what));
                continue;
            }
            for s in all.iter().filter(is_import).chain(others) {
                if self.types.get(&s.id) != self.types.get(&export.id) {
                    let what = format!(
                        "\"{name}\" is of another type in the module {} than in {}, which exports it",
                        s.module + 1,
                        export.module + 1
                    );
                    errors.push(Error::malformed(what));
                    continue;
                }
                removed.insert(s.id);
                self.same.insert(s.id, export.id);
            }
        }
        if !errors.0.is_empty() {
            return Err(errors);
        }
        self.remove(&removed);
        Ok(())
    }

    /// Removes functions with their bodies, and variables.
    fn remove(&mut self, removed: &BTreeSet<u32>) {
        let mut inside = false;
        if let Some(functions) = self.sections.get_mut(FUNCTIONS) {
            functions.retain(|i| {
                if i.op == Op::Function {
                    inside = i.id.is_some_and(|id| removed.contains(&id));
                }
                !inside
            });
        }
        if let Some(declared) = self.sections.get_mut(8) {
            declared.retain(|i| !i.id.is_some_and(|id| removed.contains(&id)));
        }
    }

    fn finish(mut self) -> Result<Vec<u32>, Errors> {
        let mut out = vec![spirv::MAGIC_NUMBER, self.version, 0, self.bound, 0];
        for section in [6, 7] {
            // Drops names and decorations of merged ids, which would apply to their replacements.
            let gone = |i: &Linked| {
                i.id.is_none()
                    && i.operands
                        .first()
                        .is_some_and(|id| self.same.contains_key(id))
            };
            if let Some(all) = self.sections.get_mut(section) {
                all.retain(|i| {
                    !gone(i)
                        || !matches!(i.op, Op::Name | Op::MemberName) && i.decorated().is_none()
                });
            }
        }
        let mut sections = std::mem::take(&mut self.sections);
        // The initializer of a variable may be an import.
        for inst in sections.iter_mut().flatten() {
            self.replace(inst);
            inst.write(&mut out);
        }
        Ok(out)
    }
}

/// Returns true for declarations that are merged if all words but the result are equal.
fn is_equal_by_words(op: Op) -> bool {
    let spec = matches!(
        op,
        Op::SpecConstant
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
    );
    !spec && matches!(read::kind(op), OpClass::Type | OpClass::Constant)
}

/// Instructions with all ids increased by `first`.
fn renumbered(stream: &Stream<'_>, first: u32) -> Result<Vec<Linked>, Error> {
    let mut widths: BTreeMap<u32, u32> = BTreeMap::new();
    let mut types: BTreeMap<u32, u32> = BTreeMap::new();
    let mut silent: BTreeSet<u32> = BTreeSet::new();
    let mut out = Vec::with_capacity(stream.insts.len());
    for inst in &stream.insts {
        let words = stream.operands(inst);
        let number = |id: Option<Id>| id.map(|id| id.as_u32());
        let (ty, id) = (number(inst.ty.expand()), number(inst.id.expand()));
        if let (Some(ty), Some(id)) = (ty, id) {
            types.insert(id, ty);
        }
        match (inst.op, id, words.first()) {
            (Op::TypeInt, Some(id), Some(width)) => {
                widths.insert(id, *width);
            }
            (Op::ExtInstImport, Some(id), _) if read::is_silent(&read::string(words)) => {
                silent.insert(id);
                continue;
            }
            (Op::ExtInst, _, Some(set)) if silent.contains(set) => continue,
            _ => {}
        }
        let width = |id: &u32| types.get(id).and_then(|ty| widths.get(ty)).copied();
        let wide = inst.op == Op::Switch && words.first().and_then(width) == Some(64);
        let ids = ids(stream, inst, words, wide)
            .map_err(|e| Error::malformed(format!("{}: {e}", read::name(inst.op))).at(inst.at))?;
        let mut operands = words.to_vec();
        for n in &ids {
            if let Some(word) = operands.get_mut(*n) {
                *word = word.saturating_add(first);
            }
        }
        out.push(Linked {
            op: inst.op,
            ty: ty.map(|ty| ty + first),
            id: id.map(|id| id + first),
            operands,
            ids,
        });
    }
    Ok(out)
}

/// Indices of the ids among the operands of an instruction.
fn ids(
    stream: &Stream<'_>,
    inst: &Inst,
    words: &[u32],
    wide: bool,
) -> Result<Vec<usize>, &'static str> {
    let mut out = Vec::new();
    match inst.op {
        // The ids follow the decoration or mode.
        Op::DecorateId | Op::ExecutionModeId => {
            out.push(0);
            out.extend(2..words.len());
        }
        Op::ExtInst => {
            out.push(0);
            if stream.is_opencl(words) {
                read::for_each_id(inst.op, words, wide, |n| out.push(n))?;
                out.dedup();
            } else {
                out.extend(2..words.len());
            }
        }
        _ => read::for_each_id(inst.op, words, wide, |n| out.push(n))?,
    }
    Ok(out)
}

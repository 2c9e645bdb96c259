//! Several modules as one, by the names that they import and export.
//!
//! Ids are numbered anew. Types and constants that are equal in the modules, decorations included, become one; a function or a variable that one module
//! imports is that of another which exports the name. What nobody exports stays imported: functions that are only declared may be known, and built-ins are
//! such variables. The instructions of each section follow on those of the module before. Debug information of imported sets is left out.

use crate::error::{Error, Errors};
use crate::read::{self, Id, Inst, Kind, MAX_IDS, Stream};
use spirv::{Decoration, LinkageType, Op};
use std::collections::{BTreeMap, BTreeSet};

/// Sections of a module: capabilities, extensions, imported sets, the memory model, entry points, modes, names, decorations, declarations, functions.
const SECTIONS: usize = 10;
/// The last of them.
const FUNCTIONS: usize = 9;

/// The section that an instruction outside of functions is in.
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

/// An instruction with the ids of the whole.
#[derive(Clone, Debug)]
struct Linked {
    op: Op,
    ty: Option<u32>,
    id: Option<u32>,
    operands: Vec<u32>,
    /// The places of ids among the operands.
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

    /// What it decorates, if it does, and the words behind that.
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

    /// What `LinkageAttributes` says: whose, the name, and of which kind.
    fn linkage(&self) -> Option<(u32, String, u32)> {
        let (id, words) = self.decorated()?;
        let (decoration, rest) = words.split_first()?;
        let (kind, _) = rest.split_last()?;
        let linked = self.op == Op::Decorate && *decoration == Decoration::LinkageAttributes as u32;
        linked.then(|| (id, read::string(rest), *kind))
    }
}

/// A function or a variable that has a name for other modules.
#[derive(Clone, Debug)]
struct Symbol {
    id: u32,
    kind: u32,
    module: usize,
}

/// Links modules into one, which is translated like any other. Where an error says a word, it is one of the whole.
///
/// # Errors
/// A module is none, two of them export one name or disagree about an import's type, or their memory models differ.
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
    /// Declarations by all that they say, for those that are equal.
    declared: BTreeMap<Vec<u32>, u32>,
    /// What is another instruction's result in the whole.
    same: BTreeMap<u32, u32>,
    /// The type of each function and variable.
    types: BTreeMap<u32, u32>,
    /// Functions and variables by the names that other modules know.
    symbols: BTreeMap<String, Vec<Symbol>>,
}

impl Linker {
    /// Adds a module's instructions, with ids behind those that are there.
    fn add(&mut self, stream: &Stream<'_>, module: usize) -> Result<(), Error> {
        let first = self.bound;
        self.bound = first.saturating_add(stream.bound);
        if self.bound > MAX_IDS {
            let what = format!("more than {MAX_IDS} ids together");
            return Err(Error::limit(what));
        }
        self.version = self.version.max(stream.words.get(1).copied().unwrap_or(0));
        let insts = renumbered(stream, first)?;
        // Decorations come before what they are of.
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
                    // Each is said once.
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

    /// Puts what is the same in the places of ids.
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

    /// Finds what is exported for what is imported.
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

    /// Takes functions and variables out, with what their bodies define.
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
            // Names and decorations of what is no more would be of what took its place.
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
        // A variable's first value may be a function's or another variable's.
        for inst in sections.iter_mut().flatten() {
            self.replace(inst);
            inst.write(&mut out);
        }
        Ok(out)
    }
}

/// Whether two such declarations are one where all words are equal, but for their ids.
fn is_equal_by_words(op: Op) -> bool {
    let spec = matches!(
        op,
        Op::SpecConstant
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
    );
    !spec && matches!(read::kind(op), Kind::Type | Kind::Constant)
}

/// The instructions with ids behind so many others.
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

/// The places of ids among an instruction's operands.
fn ids(
    stream: &Stream<'_>,
    inst: &Inst,
    words: &[u32],
    wide: bool,
) -> Result<Vec<usize>, &'static str> {
    let mut out = Vec::new();
    match inst.op {
        // Those behind the decoration or the mode.
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

//! Linker of modules: one module of several, whose imports are the public functions of others.
//!
//! A function is local to its module unless it is public. Local functions and constants whose name
//! another module has get a name of their own. Kernels, public functions and variables, which hosts
//! and other modules find by their names, have to be the only ones of their names.
//!
//! Input: modules that are verified by themselves. Output: a module without imports. It has to be
//! verified, since functions of two modules may call each other. The work is linear in the text,
//! but for the order of names.

use super::entities::{DataRef, FuncRef, Inst, SourceFile};
use super::function::{FuncKind, Function, Linkage, Module, Signature};
use super::instructions::InstData;
use super::sourceloc::SourceLoc;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Reason why modules cannot be linked. Modules are numbered from 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkError {
    /// Imported function that no module makes public.
    Missing {
        /// Name of the function.
        name: String,
        /// Module that imports it.
        module: usize,
        /// True if a module has a function of this name that is not public.
        local: bool,
    },
    /// Import of another signature than the function has.
    Signature {
        /// Name of the function.
        name: String,
        /// Module that imports it.
        module: usize,
        /// Signature of the import.
        import: String,
        /// Module that has the function.
        of: usize,
        /// Signature of the function.
        function: String,
    },
    /// Import of a kernel.
    Kernel {
        /// Name of the kernel.
        name: String,
        /// Module that imports it.
        module: usize,
    },
    /// Name of two public functions, kernels or variables.
    Duplicate {
        /// The name.
        name: String,
        /// Modules that have it.
        modules: [usize; 2],
    },
    /// More source files than a module has.
    Files,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinkError::Missing {
                name,
                module,
                local,
            } => {
                write!(
                    f,
                    "%{name}, which module {module} imports, is public in no module"
                )?;
                if *local {
                    f.write_str(": there is a function of this name that is local")?;
                }
                Ok(())
            }
            LinkError::Signature {
                name,
                module,
                import,
                of,
                function,
            } => write!(
                f,
                "%{name}: module {module} imports {import}, and module {of} has {function}"
            ),
            LinkError::Kernel { name, module } => write!(
                f,
                "%{name}, which module {module} imports, is a kernel, and kernels are not called"
            ),
            LinkError::Duplicate {
                name,
                modules: [a, b],
            } => write!(f, "%{name} is in module {a} and in module {b}"),
            LinkError::Files => write!(
                f,
                "the modules have more than {} source files",
                SourceLoc::MOST_FILES
            ),
        }
    }
}

impl std::error::Error for LinkError {}

/// Errors of linking, at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkErrors(pub Vec<LinkError>);

impl fmt::Display for LinkErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(LinkError::to_string).collect();
        f.write_str(&all.join("\n"))
    }
}

impl std::error::Error for LinkErrors {}

/// Entities of the linked module that those of one module become.
#[derive(Default)]
struct Renames {
    files: PrimaryMap<SourceFile, SourceFile>,
    data: PrimaryMap<DataRef, DataRef>,
    /// None for an import that is not found.
    functions: PrimaryMap<FuncRef, PackedOption<FuncRef>>,
}

impl Renames {
    fn function(&self, func: FuncRef) -> Option<FuncRef> {
        self.functions.get(func).and_then(|f| f.expand())
    }

    fn data(&self, data: DataRef) -> DataRef {
        self.data.get(data).copied().unwrap_or(data)
    }

    /// Renames what the instructions of a function refer to.
    fn apply(&self, func: &mut Function) {
        let located = func.has_srclocs();
        for n in 0..func.dfg.num_insts() {
            let inst = Inst::new(n);
            match func.dfg.data_mut(inst) {
                InstData::Call { func, .. } => *func = self.function(*func).unwrap_or(*func),
                InstData::Symbol { data, .. } => *data = self.data(*data),
                InstData::Printf { format, .. } => *format = self.data(*format),
                _ => {}
            }
            let loc = func.srclocs[inst];
            if located
                && !loc.is_none()
                && let Some(&file) = self.files.get(loc.file())
            {
                func.set_srcloc(inst, SourceLoc::new(file, loc.line(), loc.column()));
            }
        }
    }
}

/// Returns parameters and results as text: `(i32, f32x8) -> f32x8`.
fn signature(sig: &Signature) -> String {
    let params: Vec<String> = sig.params.iter().map(|p| p.ty.to_string()).collect();
    let results: Vec<String> = sig.results.iter().map(|t| t.to_string()).collect();
    let arrow = if results.is_empty() { "" } else { " -> " };
    format!("({}){arrow}{}", params.join(", "), results.join(", "))
}

/// Names of the linked module.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    /// Last number that a name was given.
    numbers: HashMap<String, u32>,
}

impl Names {
    /// Returns a name that nothing has: this one, or it with a number.
    fn own(&mut self, name: &str) -> String {
        if self.taken.insert(name.to_owned()) {
            return name.to_owned();
        }
        let number = self.numbers.entry(name.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name}.{number}");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

/// Returns true if the name of a function is known outside of its module.
fn is_public(func: &Function) -> bool {
    func.linkage == Linkage::Public || matches!(func.kind, FuncKind::Kernel { .. })
}

/// Links modules into one.
///
/// ```
/// use gantry_codegen::{ir::link::link, text};
///
/// let twice = "function %twice(i32) -> i32 public {
/// block0(v0: i32):
///     v1 = iadd v0, v0
///     return v1
/// }
/// ";
/// let kernel = "function %twice(i32) -> i32 import
///
/// kernel %k(i64 ptr, i32) simd1 {
/// block0(v0: i64, v1: i32):
///     v2 = call %twice(v1)
///     bstore v2, v0
///     return
/// }
/// ";
/// let (a, b) = (text::parse(twice)?.module, text::parse(kernel)?.module);
/// assert_eq!(link(&[&a, &b])?.functions.len(), 2);
/// let alone = link(&[&b]).unwrap_err().to_string();
/// assert_eq!(alone, "%twice, which module 0 imports, is public in no module");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns every import without a function of its signature, and every name that two modules have.
pub fn link(modules: &[&Module]) -> Result<Module, LinkErrors> {
    let mut errors = Vec::new();
    let mut out = Module::default();
    let mut renames: Vec<Renames> = modules.iter().map(|_| Renames::default()).collect();
    // Names that cannot be changed come first.
    let mut public: HashMap<&str, (usize, FuncRef)> = HashMap::new();
    let mut variables: HashMap<&str, usize> = HashMap::new();
    let mut names = Names::default();
    let mut twice = |name: &str, modules| {
        errors.push(LinkError::Duplicate {
            name: name.to_owned(),
            modules,
        });
    };
    for (n, module) in modules.iter().enumerate() {
        for (r, func) in module.functions.iter().filter(|(_, f)| is_public(f)) {
            names.taken.insert(func.name.clone());
            if let Some((first, _)) = public.insert(&func.name, (n, r)) {
                twice(&func.name, [first, n]);
            }
        }
        for data in module.data.values().filter(|d| d.written) {
            names.taken.insert(data.name.clone());
            if let Some(first) = variables.insert(&data.name, n) {
                twice(&data.name, [first, n]);
            }
        }
    }
    for (module, to) in modules.iter().zip(&mut renames) {
        add_files(module, to, &mut out, &mut errors);
        add_data(module, to, &mut names, &mut out);
        for func in module.functions.values() {
            if func.linkage == Linkage::Import {
                to.functions.push(None.into());
                continue;
            }
            let name = if is_public(func) {
                func.name.clone()
            } else {
                names.own(&func.name)
            };
            let linked = out.functions.push(Function {
                name,
                ..func.clone()
            });
            to.functions.push(linked.into());
        }
    }
    for n in 0..modules.len() {
        resolve(modules, n, &public, &mut renames, &mut errors);
    }
    if !errors.is_empty() {
        return Err(LinkErrors(errors));
    }
    for (module, to) in modules.iter().zip(&renames) {
        let own = module.functions.iter();
        for (r, _) in own.filter(|(_, f)| f.linkage != Linkage::Import) {
            if let Some(func) = to.function(r).and_then(|r| out.functions.get_mut(r)) {
                to.apply(func);
            }
        }
    }
    Ok(out)
}

/// Adds the source files of a module, each name once.
fn add_files(module: &Module, to: &mut Renames, out: &mut Module, errors: &mut Vec<LinkError>) {
    let mut there: HashMap<String, SourceFile> =
        out.files.iter().map(|(f, n)| (n.clone(), f)).collect();
    for name in module.files.values() {
        let new = *there
            .entry(name.clone())
            .or_insert_with(|| out.files.push(name.clone()));
        to.files.push(new);
    }
    if out.files.len() > SourceLoc::MOST_FILES && !errors.contains(&LinkError::Files) {
        errors.push(LinkError::Files);
    }
}

/// Adds the data of a module.
fn add_data(module: &Module, to: &mut Renames, names: &mut Names, out: &mut Module) {
    for data in module.data.values() {
        let mut data = data.clone();
        if !data.written {
            data.name = names.own(&data.name);
        }
        to.data.push(out.data.push(data));
    }
    for r in module.data.keys() {
        if let Some(data) = out.data.get_mut(to.data(r)) {
            for reloc in &mut data.relocs {
                reloc.data = to.data(reloc.data);
            }
        }
    }
}

/// Finds the functions that a module imports.
fn resolve(
    modules: &[&Module],
    n: usize,
    public: &HashMap<&str, (usize, FuncRef)>,
    renames: &mut [Renames],
    errors: &mut Vec<LinkError>,
) {
    let Some(module) = modules.get(n) else {
        return;
    };
    let imports = module.functions.iter();
    for (r, import) in imports.filter(|(_, f)| f.linkage == Linkage::Import) {
        let name = import.name.clone();
        let Some(&(of, found)) = public.get(name.as_str()) else {
            let is_local = |f: &Function| f.linkage == Linkage::Local && f.name == name;
            let local = modules.iter().any(|m| m.functions.values().any(is_local));
            errors.push(LinkError::Missing {
                name,
                module: n,
                local,
            });
            continue;
        };
        let Some(func) = modules.get(of).and_then(|m| m.functions.get(found)) else {
            continue;
        };
        if func.linkage != Linkage::Public {
            errors.push(LinkError::Kernel { name, module: n });
        } else if func.sig != import.sig {
            errors.push(LinkError::Signature {
                name,
                module: n,
                import: signature(&import.sig),
                of,
                function: signature(&func.sig),
            });
        }
        let linked = renames.get(of).and_then(|of| of.function(found));
        if let Some(to) = renames.get_mut(n).and_then(|to| to.functions.get_mut(r)) {
            *to = linked.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::text;

    fn linked(texts: &[&str]) -> Result<Module, String> {
        let modules = texts.iter().map(|t| text::parse(t).unwrap().module);
        let modules: Vec<Module> = modules.collect();
        let all: Vec<&Module> = modules.iter().collect();
        link(&all).map_err(|e| e.to_string())
    }

    #[test]
    fn errors_name_the_modules() {
        let import = "function %f(i32) -> i32 import\n";
        let with = |facts: &str| {
            let block = "{\nblock0(v0: i32):\n    return v0\n}\n";
            format!("function %f(i32) -> i32 {facts}{block}")
        };
        let (public, local) = (with("public "), with(""));
        let missing = "%f, which module 0 imports, is public in no module";
        assert_eq!(linked(&[import]).unwrap_err(), missing);
        let hint = ": there is a function of this name that is local";
        assert_eq!(
            linked(&[import, &local]).unwrap_err(),
            format!("{missing}{hint}")
        );
        let twice = linked(&[import, &public, &public]).unwrap_err();
        assert_eq!(twice, "%f is in module 1 and in module 2");
        let other = "function %f(i64, b1x8) import\n";
        let clash = linked(&[&public, other]).unwrap_err();
        let what = "%f: module 1 imports (i64, b1x8), and module 0 has (i32) -> i32";
        assert_eq!(clash, what);
        let kernel = "kernel %f(i32) simd1 {\nblock0(v0: i32):\n    return\n}\n";
        let called = linked(&[kernel, import]).unwrap_err();
        assert!(
            called.contains("is a kernel, and kernels are not called"),
            "{called}"
        );
        let variable = "global %x = i32 [1]\n";
        let twice = linked(&[variable, variable]).unwrap_err();
        assert_eq!(twice, "%x is in module 0 and in module 1");
        // Local functions stay apart, and an import of one module is resolved in all.
        let all = linked(&[&local, &public, import, &local, import]).unwrap();
        let names: Vec<&str> = all.functions.values().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["f.2", "f", "f.3"]);
    }
}

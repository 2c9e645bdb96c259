//! Input files of subcommands.

use crate::Failure;
use gantry::Zebin;
use gantry::codegen::verifier::{verify_module, verify_parsed};
use gantry::codegen::{CompileOptions, Compiled, Context, GrfMode, OptLevel, compile, ir, text};
use gantry::filetests::file::without_header;
use gantry::isa::{Platform, Product};
use gantry::runtime::zebin::container::{self, Wanted};
use gantry::runtime::{CodeCache, Device};
use gantry::spirv::{self, Simd};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the bytes of a file, or of standard input where the path is `-`. Standard input is read
/// once, however often it is asked for.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    static STDIN: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    if path.as_os_str() != "-" {
        return std::fs::read(path).map_err(|e| Failure::file(path, e));
    }
    let read = STDIN.get_or_init(|| {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|e| e.to_string())
    });
    read.clone()
        .map_err(|e| Failure::new(format!("standard input: {e}")))
}

/// Languages and containers that files hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// IR text.
    Gir,
    /// SPIR-V words.
    Spirv,
    /// WGSL text.
    Wgsl,
    /// Assembly in IGA syntax.
    Asm,
    /// A zebin or bare instructions.
    Binary,
}

/// Returns the language of a file: by its extension, or by its contents where the extension says
/// nothing, as on standard input.
///
/// # Errors
/// The contents are needed for that, and cannot be read.
pub(crate) fn language(path: &Path) -> Result<Language, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("gir") => return Ok(Language::Gir),
        Some("spv" | "spvasm") => return Ok(Language::Spirv),
        Some("wgsl") => return Ok(Language::Wgsl),
        Some("asm") => return Ok(Language::Asm),
        Some("zebin" | "krn" | "bin") => return Ok(Language::Binary),
        _ => {}
    }
    Ok(of_contents(&read(path)?))
}

/// Returns the language that contents are in.
pub(crate) fn of_contents(bytes: &[u8]) -> Language {
    const SPIRV: [[u8; 4]; 2] = [[3, 2, 0x23, 7], [7, 0x23, 2, 3]];
    if SPIRV.iter().any(|magic| bytes.starts_with(magic)) {
        return Language::Spirv;
    }
    if container::is_container(bytes) {
        return Language::Binary;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Language::Binary;
    };
    let starts = |words: &[&str]| {
        let line = |l: &str| words.iter().any(|w| l.starts_with(w));
        text.lines().any(|l| line(l.trim_start()))
    };
    if starts(&["kernel %", "function %"]) {
        Language::Gir
    } else if is_assembly(bytes) {
        Language::Spirv
    } else if text.contains("@compute") {
        Language::Wgsl
    } else if is_elf(bytes) || bytes.contains(&0) {
        Language::Binary
    } else {
        Language::Asm
    }
}

/// Reads a file as text.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(read(path)?).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        Failure::file(
            path,
            format!("not a text file: the byte at {at} is not UTF-8"),
        )
    })
}

/// Writes a file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|e| Failure::file(path, e))
}

/// Returns the name of an output in the current directory after an input's.
pub(crate) fn beside(input: &Path, extension: &str) -> PathBuf {
    let stem = input.file_stem().unwrap_or_else(|| "out".as_ref());
    Path::new(stem).with_extension(extension)
}

/// Returns true if bytes are an ELF file.
pub(crate) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x7fELF")
}

/// Parses the value of `--robust`.
pub(crate) fn on_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("`{text}` is neither on nor off")),
    }
}

/// Parses the value of `--binding-array`.
pub(crate) fn binding_array(text: &str) -> Result<((u32, u32), u32), String> {
    let parts = text.split_once('=').and_then(|(place, length)| {
        let (set, binding) = place.split_once(',')?;
        let number = |t: &str| t.trim().parse::<u32>().ok();
        Some(((number(set)?, number(binding)?), number(length)?))
    });
    parts.ok_or_else(|| format!("`{text}` is no SET,BINDING=LENGTH"))
}

/// Parses the value of `--spec`.
pub(crate) fn spec(text: &str) -> Result<(String, spirv::SpecValue), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("`{text}` is no NAME=VALUE"))?;
    let value = value
        .parse()
        .map_err(|e: spirv::NoSpecValue| e.to_string())?;
    Ok((name.to_owned(), value))
}

/// Checks that there are no further files, which only SPIR-V and IR may have.
///
/// # Errors
/// There are further files.
pub(crate) fn only_one(more: &[PathBuf]) -> Result<(), Failure> {
    match more.first() {
        Some(other) => Err(Failure::usage(format!(
            "{}: only SPIR-V and IR are linked",
            other.display()
        ))),
        None => Ok(()),
    }
}

/// Returns the name that is most similar to another one, if any is.
pub(crate) fn nearest<'n>(name: &str, names: &[&'n str]) -> Option<&'n str> {
    const ALIKE: f64 = 0.7;
    let likeness = |n: &&str| strsim::jaro_winkler(name, n);
    let best = names
        .iter()
        .copied()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) >= ALIKE).then_some(best)
}

/// Returns true if SPIR-V is text.
fn is_assembly(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|b| *b == b'\n').map(<[u8]>::trim_ascii_start);
    !bytes.contains(&0) && lines.any(|l| l.starts_with(b"OpCapability "))
}

/// Returns the words of a file of SPIR-V, or of several, linked.
fn words(path: &Path, more: &[PathBuf]) -> Result<Vec<u32>, Failure> {
    let words = |path: &Path| {
        let bytes = read(path)?;
        if is_assembly(&bytes) {
            let text = without_header(&read_text(path)?);
            return spirv::assemble(&text).map_err(|e| Failure::file(path, e));
        }
        let words = gantry::spirv_words(&bytes);
        words.ok_or_else(|| Failure::file(path, "SPIR-V consists of whole words"))
    };
    let first = words(path)?;
    if more.is_empty() {
        return Ok(first);
    }
    let mut all = vec![first];
    for path in more {
        all.push(words(path)?);
    }
    let modules: Vec<&[u32]> = all.iter().map(Vec::as_slice).collect();
    spirv::link(&modules).map_err(Failure::new)
}

/// Translates the kernels of a file of SPIR-V or WGSL.
fn translated(
    path: &Path,
    more: &[PathBuf],
    options: &spirv::Options,
) -> Result<spirv::Translated, Failure> {
    if language(path)? == Language::Wgsl {
        only_one(more)?;
        #[cfg(feature = "wgsl")]
        return gantry::translate_wgsl(&without_header(&read_text(path)?), options)
            .map_err(|e| Failure::file(path, e));
        #[cfg(not(feature = "wgsl"))]
        return Err(Failure::file(path, "WGSL needs the feature `wgsl`"));
    }
    let words = words(path, more)?;
    spirv::translate(&words, options).map_err(|e| Failure::file(path, e))
}

/// Translates the kernels of a file of SPIR-V or WGSL and compiles them in one step: stages that
/// find the SIMD width are not run again. Returns `None` for other files.
pub(crate) fn translated_and_compiled(
    path: &Path,
    more: &[PathBuf],
    spirv: &spirv::Options,
    options: &CompileOptions,
) -> Result<Option<(ir::Module, Compiled)>, Failure> {
    let context = &mut Context::new();
    // An error about the IR says where in the source it is.
    let done = match language(path)? {
        Language::Spirv => {
            spirv::compile(&words(path, more)?, spirv, options, context).map_err(|e| match e {
                spirv::CompileError::Codegen(e) => Failure::new(e),
                e => Failure::file(path, e),
            })
        }
        #[cfg(feature = "wgsl")]
        Language::Wgsl => {
            only_one(more)?;
            let text = without_header(&read_text(path)?);
            spirv::wgsl::compile_wgsl(&text, spirv, options, context).map_err(|e| match e {
                spirv::wgsl::CompileWgslError::Codegen(e) => Failure::new(e),
                e => Failure::file(path, e),
            })
        }
        _ => return Ok(None),
    };
    done.map(|(translated, compiled)| Some((translated.module, compiled)))
}

/// Parses a SIMD width.
pub(crate) fn simd(text: &str) -> Result<Simd, String> {
    match text {
        "auto" => Ok(Simd::Auto),
        "8" => Ok(Simd::Width(8)),
        "16" => Ok(Simd::Width(16)),
        "32" => Ok(Simd::Width(32)),
        _ => Err(format!(
            "`{text}` is no SIMD width; there are 8, 16, 32 and auto"
        )),
    }
}

/// Platform of assembly text by default.
pub(crate) const TEXT_PLATFORM: &str = "skl";

/// Returns the platform of a name.
pub(crate) fn platform(name: &str) -> Result<Platform, Failure> {
    Platform::from_name(name).ok_or_else(|| {
        Failure::usage(format!(
            "unknown platform `{name}`; there are {}, product names as ocloc has them, PCI ids",
            Platform::ALL.map(Platform::name).join(", ")
        ))
    })
}

/// Returns the zebin of a container: the one for a product or platform of a name, or the only one.
///
/// # Errors
/// There is none. The error lists what there is.
pub(crate) fn part<'b>(
    path: &Path,
    bytes: &'b [u8],
    name: Option<&str>,
) -> Result<&'b [u8], Failure> {
    let wanted = match name {
        None => Wanted::Only,
        Some(name) => match Product::from_name(name) {
            Some(product) => Wanted::Product(product),
            None => Wanted::Platform(platform(name)?),
        },
    };
    let picked = container::pick(bytes, wanted, &container::Limits::default());
    picked.map_err(|e| {
        let advice = match wanted {
            Wanted::Only if bytes.starts_with(b"!<arch>") => "\n`--target` chooses",
            _ => "",
        };
        Failure::file(path, format!("{e}{advice}"))
    })
}

/// Checks that a zebin is of the platform that the command line names.
///
/// # Errors
/// It is of another one.
pub(crate) fn same_platform(path: &Path, zebin: Platform, named: Platform) -> Result<(), Failure> {
    if zebin == named {
        return Ok(());
    }
    let (zebin, named) = (zebin.name(), named.name());
    Err(Failure::usage(format!(
        "{}: the zebin is compiled for {zebin}, not for {named}",
        path.display()
    )))
}

/// Returns the verified IR of a `.gir` file, or of the kernels of a `.spv` or `.wgsl` file. A
/// filetest's header counts as blank. With a source name, instructions have locations of its lines.
pub(crate) fn module(
    path: &Path,
    more: &[PathBuf],
    options: &spirv::Options,
) -> Result<ir::Module, Failure> {
    match language(path)? {
        Language::Spirv | Language::Wgsl => return Ok(translated(path, more, options)?.module),
        Language::Binary => return Err(not_source(path, &read(path)?)),
        Language::Asm if path.extension().is_some_and(|e| e == "asm") => {
            return Err(not_source(path, &read(path)?));
        }
        Language::Gir | Language::Asm => {}
    }
    let module = parsed(path, options.source_name.clone())?;
    if module.functions.is_empty() {
        return Err(no_kernel(path));
    }
    let has_imports = |m: &ir::Module| {
        let mut all = m.functions.values();
        all.any(|f| f.linkage == ir::Linkage::Import)
    };
    if more.is_empty() && !has_imports(&module) {
        return Ok(module);
    }
    let mut modules = vec![module];
    for other in more {
        if language(other)? != Language::Gir {
            let what = "IR is linked with IR alone";
            return Err(Failure::usage(format!("{}: {what}", other.display())));
        }
        let name = options.source_name.as_ref();
        modules.push(parsed(other, name.map(|_| other.display().to_string()))?);
    }
    let all: Vec<&ir::Module> = modules.iter().collect();
    let linked = ir::Module::link(&all).map_err(|e| Failure::file(path, e))?;
    verify_module(&linked).map_err(|e| Failure::file(path, e))?;
    Ok(linked)
}

/// Returns the verified IR of a `.gir` file. With a name, instructions have locations of its lines.
fn parsed(path: &Path, name: Option<String>) -> Result<ir::Module, Failure> {
    let source = read_text(path)?;
    text::parse(&without_header(&source))
        .and_then(|mut p| {
            verify_parsed(&p)?;
            if let Some(name) = name {
                p.locate(&name);
            }
            Ok(p.module)
        })
        .map_err(|d| Failure::Rendered(d.render(&path.display().to_string(), &source)))
}

/// Describes a file that is compiled already, or that another command takes.
fn not_source(path: &Path, bytes: &[u8]) -> Failure {
    let what = if container::is_container(bytes) {
        "a container of zebins, which are compiled already"
    } else if is_elf(bytes) {
        "a zebin, which is compiled already"
    } else if std::str::from_utf8(bytes).is_ok_and(|_| !bytes.contains(&0)) {
        "assembly, for `gantry asm`"
    } else {
        "binary"
    };
    let takes = "IR (`.gir`), SPIR-V (`.spv`, `.spvasm`) or WGSL (`.wgsl`)";
    Failure::file(
        path,
        format!("this is {what}; `gantry compile` takes {takes}"),
    )
}

/// Returns the error about a module without kernels.
pub(crate) fn no_kernel(path: &Path) -> Failure {
    Failure::file(path, "there is no kernel")
}

/// Checks that a module has a kernel.
///
/// # Errors
/// It has none, so that nothing could be launched.
pub(crate) fn has_kernel(path: &Path, module: &ir::Module) -> Result<(), Failure> {
    let is_kernel = |f: &ir::Function| matches!(f.kind, ir::FuncKind::Kernel { .. });
    if module.functions.values().any(is_kernel) {
        Ok(())
    } else {
        Err(no_kernel(path))
    }
}

/// Returns compile options for a product by name, or for a device's own product.
///
/// # Errors
/// The product is unknown, or there is no code generator for the device.
pub(crate) fn options(target: Option<&str>, device: &Device) -> Result<CompileOptions, Failure> {
    match target {
        Some(name) => CompileOptions::for_target(name).map_err(Failure::usage),
        None => CompileOptions::for_device(&device.info()).map_err(Failure::new),
    }
}

/// Parses an optimization level.
pub(crate) fn opt_level(name: &str) -> Result<OptLevel, Failure> {
    OptLevel::from_name(name).ok_or_else(|| Failure::usage(format!("no level `{name}`: 0, 1 or 2")))
}

/// Parses the number of GRFs of threads.
pub(crate) fn grf_mode(name: &str) -> Result<GrfMode, Failure> {
    let names = GrfMode::ALL.map(GrfMode::name).join(", ");
    GrfMode::from_name(name).ok_or_else(|| Failure::usage(format!("no `--grf {name}`: {names}")))
}

/// Compiles a module that came from a file.
pub(crate) fn compiled(module: &ir::Module, options: &CompileOptions) -> Result<Compiled, Failure> {
    compile(module, options).map_err(Failure::new)
}

/// Opens the cache in a directory.
pub(crate) fn cache(dir: &Path) -> Result<CodeCache, Failure> {
    CodeCache::open(dir).map_err(|e| Failure::file(dir, e))
}

/// Returns the zebin of a module from a cache, or compiles it.
pub(crate) fn cached(
    cache: &CodeCache,
    module: &ir::Module,
    options: &CompileOptions,
) -> Result<Zebin, Failure> {
    let zebin = gantry::compile_cached(cache, &mut Context::new(), module, options);
    kept(cache, zebin.map_err(Failure::new)?)
}

/// Returns the zebin of a file from a cache, or compiles it. SPIR-V and WGSL are translated only
/// after a miss.
pub(crate) fn cached_file(
    cache: &CodeCache,
    path: &Path,
    more: &[PathBuf],
    spirv: &spirv::Options,
    options: &CompileOptions,
) -> Result<Zebin, Failure> {
    let context = &mut Context::new();
    let zebin = match language(path)? {
        Language::Spirv => {
            let words = words(path, more)?;
            gantry::compile_spirv_cached(cache, context, &words, spirv, options)
        }
        #[cfg(feature = "wgsl")]
        Language::Wgsl => {
            only_one(more)?;
            let text = without_header(&read_text(path)?);
            gantry::compile_wgsl_cached(cache, context, &text, spirv, options)
        }
        _ => return cached(cache, &module(path, more, spirv)?, options),
    };
    kept(cache, zebin.map_err(|e| Failure::file(path, e))?)
}

/// Warns if the zebin could not be stored.
fn kept(cache: &CodeCache, zebin: Zebin) -> Result<Zebin, Failure> {
    if let Zebin::Compiled { stored: Err(e), .. } = &zebin {
        eprintln!("warning: {}: not stored: {e}", cache.dir().display());
    }
    Ok(zebin)
}

/// Names a hit or a miss in statistics.
pub(crate) fn hit_or_miss(hit: bool) -> &'static str {
    if hit { "hit" } else { "miss" }
}

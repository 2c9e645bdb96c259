//! Kernel of a function with one work-item for each argument, by Gantry or by Intel's compiler, on
//! the simulator.

use crate::ulp::functions::{Function, Kind};
use crate::ulp::number::Type;
use gantry_codegen::CompileOptions;
use gantry_runtime::zebin::Zebin;
use gantry_runtime::{Arg, Device, Grid, Module, SimOptions};
use gantry_spirv::{Options, Simd, translate};
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, Operand};
use spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionModel, FunctionControl,
    MemoryAccess, MemoryModel, OpenclStd100Op as Std, SourceLanguage, StorageClass,
};
use std::path::Path;
use std::process::Command;

/// Options of compiling a kernel.
#[derive(Clone, Copy)]
pub struct Form {
    pub target: &'static str,
    /// SIMD width.
    pub simd: u32,
    /// Set if all work-items take the first arguments, so that the function is uniform.
    pub uniform: bool,
}

impl Form {
    /// Default options.
    pub fn of(target: &'static str) -> Form {
        Form {
            target,
            simd: 16,
            uniform: false,
        }
    }
}

/// Builds `kernel void k(global A *a, global B *b, ..., global R *r)` with `r[i] = f(a[i], b[i],
/// ...)`. A pointer argument of the function points to an element of its own buffer. Without a
/// function, the result is the first argument.
fn words(kinds: &[Kind], result: Kind, ty: Type, function: Option<Std>, uniform: bool) -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 0);
    b.capability(Capability::Addresses);
    b.capability(Capability::Linkage);
    b.capability(Capability::Kernel);
    b.capability(Capability::Int64);
    match ty {
        Type::Half => b.capability(Capability::Float16),
        Type::Single => {}
        Type::Double => b.capability(Capability::Float64),
    }
    b.capability(Capability::Int16);
    let set = b.ext_inst_import("OpenCL.std");
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    b.source(SourceLanguage::OpenCL_C, 200_000, None, None::<String>);
    let (void, long) = (b.type_void(), b.type_int(64, 0));
    let v3 = b.type_vector(long, 3);
    let place = b.type_pointer(None, StorageClass::Input, v3);
    let ids = b.variable(place, None, StorageClass::Input, None);
    b.decorate(
        ids,
        Decoration::BuiltIn,
        [Operand::BuiltIn(BuiltIn::GlobalInvocationId)],
    );
    b.decorate(ids, Decoration::Constant, []);
    let mut scalar = |kind: Kind| {
        let id = match kind.of(ty) {
            (true, bits) => b.type_float(bits, None),
            (false, bits) => b.type_int(bits, 0),
        };
        let pointer = b.type_pointer(None, StorageClass::CrossWorkgroup, id);
        (kind, id, pointer, kind.of(ty).1 / 8)
    };
    let args: Vec<_> = kinds.iter().map(|k| scalar(*k)).collect();
    let r = scalar(result);
    let params: Vec<u32> = args.iter().chain([&r]).map(|a| a.2).collect();
    let signature = b.type_function(void, params.clone());
    let zero = b.constant_bit64(long, 0);
    let main = b
        .begin_function(void, None, FunctionControl::NONE, signature)
        .unwrap();
    let params: Vec<u32> = params
        .iter()
        .map(|p| b.function_parameter(*p).unwrap())
        .collect();
    b.begin_block(None).unwrap();
    let all = b.load(v3, None, ids, None, []).unwrap();
    let i = b.composite_extract(long, None, all, [0]).unwrap();
    let aligned = |size: u32| {
        (
            Some(MemoryAccess::ALIGNED),
            [Operand::LiteralBit32(size)].into_iter(),
        )
    };
    let mut values = Vec::new();
    for (a, p) in args.iter().zip(&params) {
        let own = !uniform || matches!(a.0, Kind::OutFloat | Kind::OutInt);
        let i = if own { i } else { zero };
        let at = b.in_bounds_ptr_access_chain(a.2, None, *p, i, []).unwrap();
        let (how, size) = aligned(a.3);
        values.push(match a.0 {
            Kind::OutFloat | Kind::OutInt => at,
            _ => b.load(a.1, None, at, how, size).unwrap(),
        });
    }
    // Geometric functions take the arguments as components, and return the first component.
    let vector = match function {
        Some(f @ (Std::length | Std::normalize)) => Some((b.type_vector(r.1, 3), f)),
        _ => None,
    };
    let call = |b: &mut Builder, ty: u32, f: Std, args: Vec<u32>| {
        let args = args.into_iter().map(Operand::IdRef);
        b.ext_inst(ty, None, set, f as u32, args).unwrap()
    };
    let v = match (function, vector) {
        (None, _) => values[0],
        (Some(f), None) => call(&mut b, r.1, f, values),
        (_, Some((v3, f))) => {
            let v = b.composite_construct(v3, None, values).unwrap();
            match f {
                Std::length => call(&mut b, r.1, f, vec![v]),
                _ => {
                    let v = call(&mut b, v3, f, vec![v]);
                    b.composite_extract(r.1, None, v, [0]).unwrap()
                }
            }
        }
    };
    let at = b
        .in_bounds_ptr_access_chain(r.2, None, params[args.len()], i, [])
        .unwrap();
    let (how, size) = aligned(r.3);
    b.store(at, v, how, size).unwrap();
    b.ret().unwrap();
    b.end_function().unwrap();
    b.entry_point(ExecutionModel::Kernel, main, "k", [ids]);
    b.module().assemble()
}

/// Loaded kernel.
pub struct Loaded {
    module: Module,
    kinds: Vec<Kind>,
    result: Kind,
    ty: Type,
}

/// Result of a launch: results, values stored through pointers, and average instructions of a
/// thread.
pub struct Launched {
    pub results: Vec<u64>,
    pub besides: Vec<u64>,
    pub instructions: f64,
}

/// Compiles the kernel of a function with Gantry.
///
/// # Errors
/// The reason for the rejection.
pub fn gantry(f: &Function, ty: Type, form: Form, threads: usize) -> Result<Loaded, String> {
    let words = words(f.arguments, f.result, ty, Some(f.op), form.uniform);
    compile(&words, form)
        .and_then(|z| load(&z, threads))
        .map(|module| loaded(f, ty, module))
}

fn compile(words: &[u32], form: Form) -> Result<Vec<u8>, String> {
    let options = Options {
        simd: Simd::Width(form.simd),
        ..Options::default()
    };
    let translated = translate(words, &options).map_err(|e| e.to_string())?;
    let mut options = CompileOptions::for_target(form.target).map_err(|e| e.to_string())?;
    options.check = true;
    let compiled = gantry_codegen::compile(&translated.module, &options);
    Ok(compiled.map_err(|e| e.to_string())?.zebin)
}

fn load(zebin: &[u8], threads: usize) -> Result<Module, String> {
    let platform = Zebin::parse(zebin).map_err(|e| e.to_string())?.platform;
    let options = SimOptions {
        platform,
        threads,
        ..SimOptions::default()
    };
    let device = Device::simulator(options);
    device.load(zebin).map_err(|e| e.to_string())
}

fn loaded(f: &Function, ty: Type, module: Module) -> Loaded {
    Loaded {
        module,
        kinds: f.arguments.to_vec(),
        result: f.result,
        ty,
    }
}

/// Compiles the kernel of a function with Intel's compiler, from the same words.
///
/// # Errors
/// The message of the compiler.
pub fn intel(f: &Function, ty: Type) -> Result<Loaded, String> {
    let words = words(f.arguments, f.result, ty, Some(f.op), false);
    ocloc(&words, &format!("{}-{}", f.name, ty.name()))
        .and_then(|z| load(&z, 1))
        .map(|module| loaded(f, ty, module))
}

/// Counts the instructions of a kernel without the function, by Gantry or by Intel's compiler.
///
/// # Errors
/// The reason for the rejection.
pub fn around(f: &Function, ty: Type, intel: bool) -> Result<f64, String> {
    // The result is the first argument, or zero if that has another type.
    let mut kinds: Vec<Kind> = f.arguments.to_vec();
    kinds[0] = f.result;
    let words = words(&kinds, f.result, ty, None, false);
    let zebin = if intel {
        ocloc(&words, &format!("{}-{}-around", f.name, ty.name()))
    } else {
        compile(&words, Form::of("skl"))
    }?;
    let l = Loaded {
        module: load(&zebin, 1)?,
        kinds: kinds.clone(),
        result: f.result,
        ty,
    };
    let args: Vec<Vec<u64>> = kinds.iter().map(|_| vec![0; 64]).collect();
    Ok(l.run(&args)?.instructions)
}

fn ocloc(words: &[u32], name: &str) -> Result<Vec<u8>, String> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ulp-{name}"));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("k.spv");
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    std::fs::write(&file, bytes).unwrap();
    let width = "-cl-intel-reqd-sub-group-size=16";
    let internal = format!("-cl-allow-zebin -ze-allow-zebin -cl-enable-zebin {width}");
    let out = Command::new("ocloc")
        .args(["compile", "-spirv_input", "-device", "skl", "-file"])
        .arg(&file)
        .arg("-out_dir")
        .arg(&dir)
        .args(["-options", width])
        .args(["-internal_options", &internal])
        .current_dir(&dir)
        .output()
        .map_err(|e| e.to_string())?;
    let written = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path());
    let bin = written
        .into_iter()
        .find(|p| p.extension().is_some_and(|e| e == "bin"));
    let bin = bin.ok_or_else(|| String::from_utf8_lossy(&out.stdout).into_owned())?;
    let bytes = std::fs::read(bin).map_err(|e| e.to_string())?;
    std::fs::remove_dir_all(&dir).map_err(|e| e.to_string())?;
    Ok(bytes)
}

impl Loaded {
    /// Computes the results for arguments, all as bits.
    ///
    /// # Errors
    /// The message of the simulator.
    pub fn run(&self, args: &[Vec<u64>]) -> Result<Launched, String> {
        let count = args[0].len();
        let width = |k: Kind| k.of(self.ty).1 as usize / 8;
        let device = self.module.device();
        let mut buffers = Vec::new();
        let mut inputs = args.iter();
        for kind in &self.kinds {
            let bytes = match kind {
                Kind::OutFloat | Kind::OutInt => vec![0; count * width(*kind)],
                _ => {
                    let values = inputs.next().ok_or("an argument is missing")?;
                    let n = width(*kind);
                    let mut bytes = Vec::with_capacity(count * n);
                    for v in values {
                        bytes.extend_from_slice(&v.to_le_bytes()[..n]);
                    }
                    bytes
                }
            };
            buffers.push(device.buffer_from(&bytes).map_err(|e| e.to_string())?);
        }
        let out = vec![0u8; count * width(self.result)];
        buffers.push(device.buffer_from(&out).map_err(|e| e.to_string())?);
        let args: Vec<Arg> = buffers.iter().map(Arg::from).collect();
        // The work-items of an incomplete thread would be a group of their own.
        let group = if count.is_multiple_of(256) { 256 } else { 1 };
        let grid = Grid::new([count as u32, 1, 1]).group([group, 1, 1]);
        let kernel = self.module.kernel("k").map_err(|e| e.to_string())?;
        let stats = kernel
            .launch(grid)
            .args(args)
            .run()
            .map_err(|e| e.to_string())?;
        let read = |n: usize, kind: Kind| -> Result<Vec<u64>, String> {
            let bytes: Vec<u8> = buffers[n].read().map_err(|e| e.to_string())?;
            let w = width(kind);
            let values = bytes.chunks_exact(w).map(|c| {
                let mut b = [0; 8];
                b[..w].copy_from_slice(c);
                u64::from_le_bytes(b)
            });
            Ok(values.collect())
        };
        let pointer = |k: &Kind| matches!(k, Kind::OutFloat | Kind::OutInt);
        let besides = match self.kinds.iter().position(pointer) {
            Some(n) => read(n, self.kinds[n])?,
            None => Vec::new(),
        };
        Ok(Launched {
            results: read(self.kinds.len(), self.result)?,
            besides,
            instructions: stats.instructions as f64 / stats.threads.max(1) as f64,
        })
    }
}

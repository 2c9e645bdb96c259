//! Kernels that the user gives, as SPIR-V or WGSL. They are compiled, launched on ascending
//! numbers, and compared with the IR's interpreter.

use crate::DemoError;
use crate::demo::Demo;
use crate::report::Line;
use gantry_codegen::interp::{self, Buffers};
use gantry_codegen::ir::{ArgKind, Module, ParamRole};
use gantry_runtime::{Arg, Buffer, Grid};
use gantry_spirv::wgsl::translate_wgsl;
use gantry_spirv::{Kernel, Options, Translated, translate};
use std::path::Path;

/// Bytes of a buffer for each work-item.
const BYTES: usize = 64;
/// Bytes of local memory for each argument of it.
const LOCAL: u32 = 4096;
/// Instruction limit of the interpreter.
const FUEL: u64 = 1 << 30;

/// Reads a file of WGSL (`.wgsl`) or SPIR-V and translates the kernel asked for, or the only one.
///
/// # Errors
/// The file cannot be read, is wrong or not supported in part, or has several kernels.
pub fn read(path: &Path, wgsl: bool, kernel: Option<&str>) -> Result<Translated, DemoError> {
    let wrong = |what: String| DemoError::Given {
        path: path.to_path_buf(),
        what,
    };
    let bytes = std::fs::read(path).map_err(|source| DemoError::File {
        path: path.to_path_buf(),
        source,
    })?;
    let options = Options {
        kernel: kernel.map(str::to_owned),
        ..Options::default()
    };
    let translated = if wgsl {
        let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
        translate_wgsl(&text, &options).map_err(|e| wrong(e.to_string()))?
    } else {
        let (words, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(wrong("SPIR-V consists of whole words".to_owned()));
        }
        let words: Vec<u32> = words.iter().map(|w| u32::from_le_bytes(*w)).collect();
        translate(&words, &options).map_err(|e| wrong(e.to_string()))?
    };
    match translated.kernels.as_slice() {
        [_] => Ok(translated),
        many => {
            let names: Vec<&str> = many.iter().map(|k| k.name.as_str()).collect();
            let names = names.join(", ");
            Err(wrong(format!("--kernel must choose one of: {names}")))
        }
    }
}

/// Argument for the device and for the interpreter.
enum GivenArg {
    Buffer(Buffer, u64),
    Bytes(Vec<u8>),
    Size(Vec<u8>),
    Local,
}

impl Demo {
    /// Launches a kernel over a number of work-items. Its buffers hold ascending 32-bit numbers,
    /// values of 4 bytes are the number of work-items, and other values are zeros.
    ///
    /// # Errors
    /// Any step fails, or the kernel takes images or samplers.
    pub fn given(&self, translated: &Translated, items: u32) -> Result<Line, DemoError> {
        let Some(kernel) = translated.kernels.first() else {
            return Err(DemoError::Wrong {
                kernel: "given",
                what: "there is no kernel".to_owned(),
            });
        };
        let ready = self.compiled(&translated.module, &kernel.name)?;
        let mut memory = Buffers::default();
        let mut given: Vec<GivenArg> = Vec::new();
        let numbers: Vec<u32> = (0..items.max(1) * (BYTES / 4) as u32).collect();
        let Some(function) = translated.module.functions.get(kernel.function) else {
            return Err(DemoError::Wrong {
                kernel: "given",
                what: "the module lacks its kernel".to_owned(),
            });
        };
        for (n, param) in function.sig.params.iter().enumerate() {
            let info = function.reflection.get(n);
            let role = info.map_or(ParamRole::Argument, |i| i.role);
            given.push(match (param.kind, role) {
                (ArgKind::Ptr | ArgKind::Surface, _) => {
                    let bytes = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
                    GivenArg::Buffer(self.device.buffer_from(&numbers)?, memory.add(bytes))
                }
                (ArgKind::Value, ParamRole::SizeOf(_)) => {
                    GivenArg::Size((4 * numbers.len() as u32).to_le_bytes().to_vec())
                }
                (ArgKind::Value, _) if param.ty.bytes() == 4 => {
                    GivenArg::Bytes(items.to_le_bytes().to_vec())
                }
                (ArgKind::Value, _) => GivenArg::Bytes(vec![0; param.ty.bytes() as usize]),
                (ArgKind::Slm, _) => GivenArg::Local,
                (ArgKind::Image(..) | ArgKind::Sampler, _) => {
                    return Err(DemoError::Unsuited {
                        kernel: kernel.name.clone(),
                        what: "images and samplers: `gantry run` takes them".to_owned(),
                    });
                }
            });
        }
        let group = kernel.group_size.unwrap_or([kernel.simd, 1, 1]);
        let global = [items.next_multiple_of(group[0].max(1)), group[1], group[2]];
        let args = given.iter().filter_map(|g| match g {
            GivenArg::Buffer(b, _) => Some(Arg::from(b)),
            GivenArg::Bytes(b) => Some(Arg::bytes(b)),
            // A launch fills it in.
            GivenArg::Size(_) => None,
            GivenArg::Local => Some(Arg::Local(LOCAL)),
        });
        let grid = Grid::new(global).group(group);
        let stats = self.launch(&ready, &kernel.name, grid, args.collect())?;
        let check = match interpreted(
            &translated.module,
            kernel,
            &given,
            (global, group),
            &mut memory,
        ) {
            Err(e) => format!("the interpreter stops: {e}"),
            Ok(()) => {
                let (mut all, mut equal) = (0, 0);
                for g in &given {
                    if let GivenArg::Buffer(b, address) = g {
                        all += 1;
                        equal += usize::from(b.read::<u8>()? == memory.bytes(*address));
                    }
                }
                format!("{equal} of {all} buffers as the interpreter has them")
            }
        };
        Ok(self.line(&kernel.name, ready, stats, check))
    }
}

/// Runs a kernel in the IR's interpreter.
fn interpreted(
    module: &Module,
    kernel: &Kernel,
    given: &[GivenArg],
    (global, group): ([u32; 3], [u32; 3]),
    memory: &mut Buffers,
) -> Result<(), String> {
    let function = module.functions.get(kernel.function);
    let function = function.ok_or("the module lacks its kernel")?;
    let types = function.sig.params.iter().map(|p| p.ty);
    let mut local = 0;
    let mut args = Vec::new();
    for (g, ty) in given.iter().zip(types) {
        args.push(match g {
            GivenArg::Buffer(_, address) => interp::Arg::ptr(*address),
            GivenArg::Bytes(b) | GivenArg::Size(b) => {
                interp::Arg::from_bytes(ty, b).ok_or("a value of another size")?
            }
            GivenArg::Local => {
                local += LOCAL;
                interp::Arg::i32((local - LOCAL) as i32)
            }
        });
    }
    let grid = interp::Grid::new(global, group);
    let launched = interp::launch(module, kernel.function, &grid, &args, memory, FUEL);
    launched.map(|_| ()).map_err(|e| e.to_string())
}

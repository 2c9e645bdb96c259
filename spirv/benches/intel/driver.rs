//! Intel's compiler through its driver, in a process of its own.
//!
//! The driver reads its environment when it is loaded. So this program runs itself again with the
//! variables that give a device without a GPU.
#![allow(unsafe_code, reason = "the driver is a C library, found at run time")]

use crate::{Kernel, driven};
use libloading::Library;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::path::Path;
use std::process::Command;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

const CHILD: &str = "GANTRY_INTEL_CHILD";
const ROUNDS: &str = "GANTRY_INTEL_ROUNDS";

pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Fastest compile of the module of each kernel, by index. A kernel that the driver rejects has
/// none. Without a driver, or one that knows the product, none has.
pub fn times(
    device: &str,
    kernels: &[Kernel],
    rounds: u32,
    dir: &Path,
) -> BTreeMap<usize, Duration> {
    let folder = dir.join("driver");
    std::fs::create_dir_all(&folder).unwrap();
    for (n, k) in kernels.iter().enumerate() {
        let bytes: Vec<u8> = k.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        std::fs::write(folder.join(format!("{n}.spv")), bytes).unwrap();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .current_dir(&folder)
        .env(CHILD, "1")
        .env(ROUNDS, rounds.to_string());
    driven::as_if(&mut command, device);
    let out = command.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    if !out.status.success() {
        println!(
            "the driver's process ended with {}: {}",
            out.status,
            String::from_utf8_lossy(&out.stderr)
        );
    }
    let times = text.lines().filter_map(|l| {
        let (n, nanos) = l.split_once(' ')?;
        Some((n.parse().ok()?, Duration::from_nanos(nanos.parse().ok()?)))
    });
    times.collect()
}

type Handle = *mut c_void;

#[repr(C)]
struct ContextDesc {
    stype: u32,
    next: *const c_void,
    flags: u32,
}

#[repr(C)]
struct ModuleDesc {
    stype: u32,
    next: *const c_void,
    format: u32,
    size: usize,
    input: *const u8,
    flags: *const c_char,
    constants: *const c_void,
}

/// `ZE_STRUCTURE_TYPE_CONTEXT_DESC`, `ZE_STRUCTURE_TYPE_MODULE_DESC`, `ZE_MODULE_FORMAT_IL_SPIRV`
/// of `ze_api.h`.
const CONTEXT_DESC: u32 = 0xd;
const MODULE_DESC: u32 = 0x1b;
const SPIRV: u32 = 0;

struct Driver {
    library: Library,
    context: Handle,
    device: Handle,
}

impl Driver {
    /// Opens the first device of the first driver.
    fn open() -> Result<Driver, String> {
        // SAFETY: loading the Level Zero loader runs its initializers, which may run in any
        // process.
        let library = unsafe { Library::new("libze_loader.so.1") }.map_err(|e| e.to_string())?;
        let (mut driver, mut device, mut context): (Handle, Handle, Handle) =
            (null_mut(), null_mut(), null_mut());
        let mut one = 1u32;
        let desc = ContextDesc {
            stype: CONTEXT_DESC,
            next: null(),
            flags: 0,
        };
        // SAFETY: the types are those of ze_api.h for these names. All pointers are to live memory
        // of one element.
        unsafe {
            let init: unsafe extern "C" fn(u32) -> u32 = *symbol(&library, b"zeInit")?;
            ok("zeInit", init(0))?;
            type Get = unsafe extern "C" fn(Handle, *mut u32, *mut Handle) -> u32;
            let drivers: unsafe extern "C" fn(*mut u32, *mut Handle) -> u32 =
                *symbol(&library, b"zeDriverGet")?;
            ok("zeDriverGet", drivers(&mut one, &mut driver))?;
            one = 1;
            let devices: Get = *symbol(&library, b"zeDeviceGet")?;
            ok("zeDeviceGet", devices(driver, &mut one, &mut device))?;
            type Create = unsafe extern "C" fn(Handle, *const ContextDesc, *mut Handle) -> u32;
            let create: Create = *symbol(&library, b"zeContextCreate")?;
            ok("zeContextCreate", create(driver, &desc, &mut context))?;
        }
        Ok(Driver {
            library,
            context,
            device,
        })
    }

    /// Compiles a module and discards it.
    fn compile(&self, spirv: &[u8]) -> Result<Duration, String> {
        type Create = unsafe extern "C" fn(
            Handle,
            Handle,
            *const ModuleDesc,
            *mut Handle,
            *mut Handle,
        ) -> u32;
        let desc = ModuleDesc {
            stype: MODULE_DESC,
            next: null(),
            format: SPIRV,
            size: spirv.len(),
            input: spirv.as_ptr(),
            flags: c"".as_ptr(),
            constants: null(),
        };
        let mut module: Handle = null_mut();
        // SAFETY: as above. The description and its pointees live until the calls return.
        unsafe {
            let create: Create = *symbol(&self.library, b"zeModuleCreate")?;
            let destroy: unsafe extern "C" fn(Handle) -> u32 =
                *symbol(&self.library, b"zeModuleDestroy")?;
            let start = Instant::now();
            let code = create(self.context, self.device, &desc, &mut module, null_mut());
            let time = start.elapsed();
            ok("zeModuleCreate", code)?;
            ok("zeModuleDestroy", destroy(module))?;
            Ok(time)
        }
    }
}

/// Looks up a function of a library.
///
/// # Safety
/// `T` must be its type.
unsafe fn symbol<'l, T>(
    library: &'l Library,
    name: &[u8],
) -> Result<libloading::Symbol<'l, T>, String> {
    // SAFETY: the caller's.
    unsafe { library.get(name) }.map_err(|e| e.to_string())
}

fn ok(what: &str, code: u32) -> Result<(), String> {
    match code {
        0 => Ok(()),
        n => Err(format!("{what}: {n:#x}")),
    }
}

/// Compiles every module in the working directory, round after round, and prints the index and
/// fastest time of each in nanoseconds. A slow minute of the machine then affects one round of many
/// kernels, not all rounds of a few.
pub fn child() {
    let rounds: u32 = std::env::var(ROUNDS).map_or(1, |r| r.parse().unwrap_or(1));
    let driver = match Driver::open() {
        Ok(d) => d,
        Err(e) => return eprintln!("{e}"),
    };
    let modules: Vec<Vec<u8>> = (0..)
        .map_while(|n| std::fs::read(format!("{n}.spv")).ok())
        .collect();
    let mut best: Vec<Result<Duration, String>> = vec![Ok(Duration::MAX); modules.len()];
    // The first compile of a process loads the compiler and is not timed.
    if let Some(first) = modules.first() {
        let _ = driver.compile(first);
    }
    for _ in 0..rounds.max(1) {
        for (best, module) in best.iter_mut().zip(&modules) {
            if let Ok(least) = *best {
                *best = driver.compile(module).map(|time| time.min(least));
            }
        }
    }
    for (n, best) in best.into_iter().enumerate() {
        match best {
            Ok(best) => println!("{n} {}", best.as_nanos()),
            Err(e) => eprintln!("{n}: {e}"),
        }
    }
}

//! Loaded module: data at its addresses, relocated code, and kernels that are decoded when they
//! first run.

use super::memory::{SimBuffer, Space};
use super::program::Program;
use super::relocate::Addresses;
use super::{SimOptions, launch, strict};
use crate::backend::{LaunchRequest, ModuleBackend};
use crate::buffer::BufferBackend;
use crate::control::{LaunchStats, Span};
use crate::error::Error;
use crate::limits::within;
use crate::pool::Pool;
use crate::zebin::{ModulePart, SourceLine, Zebin, ZebinError};
use gantry_zebin::names::{CROSS_THREAD_OFFSET, DataKind};
use std::sync::{Arc, OnceLock};

/// Module on the simulator.
pub(super) struct SimModule {
    options: SimOptions,
    pool: Arc<dyn Pool>,
    space: Arc<Space>,
    zebin: Arc<Zebin>,
    data: DataBuffers,
    /// Code of functions: the offset of each part in the code space, and its bytes.
    functions: Vec<(u32, Vec<u8>)>,
    kernels: Vec<KernelCode>,
}

/// Constants and globals of a module, which live as long as the module.
pub(super) struct DataBuffers {
    /// Address of the constants, or 0.
    pub(super) constant: u64,
    /// Address of the globals, or 0.
    pub(super) global: u64,
    _buffers: Vec<Arc<SimBuffer>>,
}

/// Code of a kernel.
struct KernelCode {
    bytes: Vec<u8>,
    /// Reason why it cannot run.
    failed: Option<Error>,
    /// True if it looks for implicit arguments at the address in `r0.0`, before the cross-thread
    /// data.
    implicit_args: bool,
    program: OnceLock<Program>,
}

impl SimModule {
    pub(super) fn load(
        options: SimOptions,
        pool: Arc<dyn Pool>,
        space: Arc<Space>,
        zebin: Arc<Zebin>,
        bytes: &[u8],
        device: &str,
    ) -> Result<SimModule, Error> {
        let unsupported = |kernel: &str, what: String| Error::Unsupported {
            kernel: kernel.to_owned(),
            what,
            device: device.to_owned(),
        };
        let (data, addresses) = place_data(&space, &zebin)?;
        let addresses = Addresses::new(&zebin, addresses).map_err(|e| unsupported("", e))?;
        // Data is shared by all kernels: if it fails, none can run.
        let mut shared = fill_data(&data, &zebin, &addresses).err();
        let mut functions = Vec::new();
        for (f, at) in zebin.functions.iter().zip(&addresses.functions) {
            let code = bytes.get(f.range.clone());
            let mut code = code.ok_or_else(|| no_code(&f.name))?.to_vec();
            if let Err(e) = addresses.patch_code(&mut code, &f.relocations, None) {
                shared.get_or_insert(e);
            }
            functions.push((*at, code));
        }
        let mut kernels = Vec::new();
        for (i, k) in zebin.kernels.iter().enumerate() {
            let code = zebin.code(bytes, i);
            let mut code = code.ok_or_else(|| no_code(&k.name))?.to_vec();
            let list = zebin.relocations.get(i);
            let list = list.ok_or_else(|| no_code(&k.name))?;
            let own = addresses.patch_code(&mut code, list, Some((i, k))).err();
            kernels.push(KernelCode {
                bytes: code,
                failed: own
                    .or_else(|| shared.clone())
                    .map(|what| unsupported(&k.name, what)),
                implicit_args: list.iter().any(|r| r.symbol == CROSS_THREAD_OFFSET),
                program: OnceLock::new(),
            });
        }
        Ok(SimModule {
            options,
            pool,
            space,
            zebin,
            data: data.buffers,
            functions,
            kernels,
        })
    }
}

/// Returns the error of a zebin that was read from other bytes than those given.
fn no_code(name: &str) -> ZebinError {
    ZebinError::new(format!("there is no code of `{name}` in the file"))
}

/// Data sections with their buffers.
struct PlacedData {
    buffers: DataBuffers,
    /// Buffer of each section, and the section's offset in it.
    places: Vec<(Arc<SimBuffer>, u64)>,
}

/// Allocates buffers for data sections. A zero-initialised tail follows its section's data, as base
/// addresses in the payload expect. Also returns the sections' addresses.
fn place_data(space: &Arc<Space>, zebin: &Zebin) -> Result<(PlacedData, Vec<u64>), Error> {
    let kinds: Vec<Option<DataKind>> = zebin
        .data
        .iter()
        .map(|d| DataKind::from_name(&d.name))
        .collect();
    let tail = |n: usize| {
        let tail = kinds.get(n).copied().flatten()?.tail()?;
        kinds.iter().position(|k| *k == Some(tail))
    };
    let head = |n: usize| (0..kinds.len()).find(|h| tail(*h) == Some(n));
    let length = |n: usize| zebin.data.get(n).map_or(0, |d| d.size());
    let mut buffers: Vec<Option<Arc<SimBuffer>>> = vec![None; zebin.data.len()];
    for (n, b) in buffers.iter_mut().enumerate() {
        if head(n).is_none() {
            let tail = tail(n).map_or(0, length);
            *b = Some(space.alloc(length(n).saturating_add(tail))?);
        }
    }
    let mut places = Vec::new();
    for (i, d) in zebin.data.iter().enumerate() {
        let (owner, at) = match head(i) {
            Some(h) => (h, length(h)),
            None => (i, 0),
        };
        let buffer = buffers.get(owner).cloned().flatten();
        let Some(buffer) = buffer else {
            return Err(Error::Buffer(format!("section {} has no place", d.name)));
        };
        places.push((buffer, at as u64));
    }
    let addresses: Vec<u64> = places.iter().map(|(b, at)| b.address() + at).collect();
    let base = |constant: bool| {
        let mut sections = zebin.data.iter().zip(&addresses);
        sections
            .find(|(d, _)| d.constant == constant)
            .map_or(0, |(_, a)| *a)
    };
    let buffers = DataBuffers {
        constant: base(true),
        global: base(false),
        _buffers: places.iter().map(|(b, _)| b.clone()).collect(),
    };
    Ok((PlacedData { buffers, places }, addresses))
}

/// Writes initial contents, relocated.
fn fill_data(data: &PlacedData, zebin: &Zebin, addresses: &Addresses) -> Result<(), String> {
    for (d, (buffer, at)) in zebin.data.iter().zip(&data.places) {
        // Buffers are zeroed, so only zeros that a relocation changes are written.
        let last = d
            .relocations
            .iter()
            .map(|r| r.offset.saturating_add(8))
            .max();
        let patched = usize::try_from(last.unwrap_or(0)).unwrap_or(usize::MAX);
        let mut bytes = d.bytes.clone();
        bytes.resize(patched.min(d.size()).max(bytes.len()), 0);
        addresses.patch_data(&mut bytes, &d.relocations)?;
        buffer.block.write(*at, &bytes);
    }
    Ok(())
}

impl ModuleBackend for SimModule {
    fn launch(&self, request: &LaunchRequest<'_>) -> Result<(LaunchStats, Option<Span>), Error> {
        let code = self
            .kernels
            .get(request.index)
            .ok_or_else(|| Error::NoKernel {
                name: request.kernel.name.clone(),
                have: Vec::new(),
            })?;
        if let Some(e) = &code.failed {
            return Err(e.clone());
        }
        if self.options.strict {
            strict::check_group(&self.options, self.zebin.platform, request)?;
        }
        let functions = self.functions.iter().map(|(_, c)| c.len()).sum::<usize>();
        within(
            "bytes of code, its functions among them",
            code.bytes.len() + functions,
            self.options.limits.kernel_code_bytes,
        )
        .map_err(|excess| Error::Limit {
            kernel: request.kernel.name.clone(),
            excess,
        })?;
        let program = code.program.get_or_init(|| {
            let mut parts = vec![(0, code.bytes.as_slice())];
            parts.extend(self.functions.iter().map(|(at, c)| (*at, c.as_slice())));
            Program::decode(self.zebin.platform, request.kernel.grf_count, &parts)
        });
        let plan = launch::LaunchPlan::new(
            request,
            launch::KernelProgram {
                program,
                implicit_args: code.implicit_args,
                module: self,
            },
            &self.space,
            &self.data,
            &self.options,
        )?;
        let stats = launch::run(&plan, request, &*self.pool)?;
        Ok((stats, None))
    }
}

#[cfg(test)]
impl SimModule {
    /// Replaces the program of a kernel that has not run.
    pub(super) fn run_instead(&self, kernel: usize, program: Program) {
        assert!(self.kernels[kernel].program.set(program).is_ok());
    }
}

/// Location of an instruction.
pub(super) struct CodeLocation {
    /// Function that it is in, where that is not the kernel itself.
    pub(super) function: Option<String>,
    /// Byte offset in its section.
    pub(super) offset: u32,
}

impl SimModule {
    /// Returns the part that an offset of a kernel's code space is in, and the offset there.
    fn part(&self, kernel: usize, ip: u32) -> (ModulePart, u32) {
        // Functions are sorted by where they begin.
        let after = self.functions.partition_point(|(at, _)| *at <= ip);
        let function = after.checked_sub(1).and_then(|i| {
            let (at, code) = self.functions.get(i)?;
            let offset = ip - at;
            ((offset as usize) < code.len()).then_some((ModulePart::Function(i), offset))
        });
        function.unwrap_or((ModulePart::Kernel(kernel), ip))
    }

    /// Returns the source line of the instruction at an offset of a kernel's code space.
    pub(super) fn source_line(&self, kernel: usize, ip: u32) -> Option<SourceLine> {
        let (part, offset) = self.part(kernel, ip);
        self.zebin.lines.find(self.zebin.code_index(part)?, offset)
    }

    /// Returns the location of the instruction at an offset of a kernel's code space.
    pub(super) fn location(&self, kernel: usize, ip: u32) -> CodeLocation {
        let (part, offset) = self.part(kernel, ip);
        let own = self.zebin.kernels.get(kernel).map(|k| k.name.as_str());
        let function = self
            .zebin
            .symbols
            .iter()
            .filter(|s| s.part == part && Some(s.name.as_str()) != own)
            .find(|s| {
                u64::from(offset)
                    .checked_sub(s.offset)
                    .is_some_and(|o| o < s.size)
            })
            .map(|s| s.name.clone());
        CodeLocation { function, offset }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::super::Simulator;
    use super::*;
    use crate::pool::OwnPool;
    use crate::zebin::Relocation;
    use gantry_zebin::elf::Section;
    use gantry_zebin::write;

    #[test]
    fn zeros_follow_their_data_and_take_addresses() {
        let info = "kernels:\n  - {name: k, execution_env: {simd_size: 8}}\n";
        let bytes = write(
            18,
            info,
            vec![
                Section::new(".text.k", vec![0; 16]),
                Section::new(".data.global", vec![7; 24]),
                Section::zeros(".bss.global", 64),
            ],
        )
        .unwrap();
        let mut zebin = Zebin::parse(&bytes).unwrap();
        zebin.data[1].relocations.push(Relocation {
            offset: 56,
            ty: 1,
            addend: 3,
            symbol: "s".to_owned(),
            target: Some((ModulePart::Data(0), 8)),
        });
        let d = Simulator::new(SimOptions::default(), OwnPool::of(1));
        let m = d.load_module(Arc::new(zebin.clone()), &bytes).unwrap();
        let all = d.space.snapshot();
        assert_eq!(all.iter().count(), 1);
        let data = all.iter().next().unwrap();
        let mut got = vec![0; 88];
        data.block.read(0, &mut got);
        let address = (m.data.global + 8 + 3).to_le_bytes();
        assert_eq!(got, [&[7; 24][..], &[0; 56], &address].concat());
        assert!(m.kernels[0].failed.is_none());
        // A relocation that is partly outside.
        zebin.data[1].relocations[0].offset = 57;
        let m = d.load_module(Arc::new(zebin), &bytes).unwrap();
        let e = m.kernels[0].failed.as_ref().unwrap().to_string();
        assert!(e.contains("outside its section"), "{e}");
    }
}

//! Runners of `; run:` lines. All of them must give the same results.

use crate::check::compile_checked;
use crate::launch::{Arg, ImageArg, Run, Slot};
use gantry_codegen::interp::{self, Addressing, Buffers, Component};
use gantry_codegen::ir::{FuncKind, FuncRef, ImageShape, Module, Opcode, ParamRole, Resource};
use gantry_codegen::{
    Allocator, CompileOptions, GrfMode, Inline, OptLevel, PassSet, SimdCf, Target,
};
use gantry_isa_gen::diag::Count;
use gantry_runtime::{
    AddressMode, Arg as RtArg, Buffer, ChannelOrder, ChannelType, Compare, Device, FilterMode,
    Grid, Hazard, ImageDesc, ImageFormat, LaunchStats, MipFilter, Sampler, SimOptions, Watch,
};
use std::cell::RefCell;
use std::fmt;

/// Returns the targets of `GANTRY_TARGETS`, if that is set. They may include targets that the
/// compiler supports only in part.
pub fn named_targets() -> Option<Vec<Target>> {
    let names = std::env::var("GANTRY_TARGETS").ok()?;
    Some(names.split(',').filter_map(Target::unfinished).collect())
}

/// Returns the targets of differential tests: those of `GANTRY_TARGETS` (`skl,icllp`), or one of
/// every platform. Products of one platform get the same code.
pub fn platforms() -> Vec<Target> {
    if let Some(named) = named_targets() {
        return named;
    }
    let mut out: Vec<Target> = Target::all().collect();
    out.dedup_by_key(|t| t.platform());
    out
}

/// Compile options that a test varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CompileVariant {
    /// Lowering of SIMD control flow.
    pub simd_cf: SimdCf,
    /// Inlining of calls.
    pub inline: Inline,
    /// Optimization level.
    pub opt: OptLevel,
    /// Number of registers that values may be in, if not all.
    pub grfs: Option<u32>,
    /// Number of GRFs of threads.
    pub grf_mode: GrfMode,
    /// Register allocator.
    pub allocator: Allocator,
    /// Passes that are left out.
    pub without: PassSet,
}

impl CompileVariant {
    /// Returns every variant that makes a difference to a module.
    pub fn all(module: &Module) -> Vec<CompileVariant> {
        let has = |opcodes: &[Opcode]| {
            module.functions.values().any(|f| {
                let mut insts = f.layout.blocks().iter().flat_map(|&b| f.layout.insts(b));
                insts.any(|&i| opcodes.contains(&f.dfg.data(i).opcode()))
            })
        };
        let at = |opt| CompileVariant {
            opt,
            ..CompileVariant::default()
        };
        let mut out: Vec<CompileVariant> = OptLevel::ALL.map(at).into();
        if has(&[Opcode::DispatchMask, Opcode::Goto, Opcode::Join]) {
            out.push(CompileVariant {
                simd_cf: SimdCf::Flags,
                ..CompileVariant::default()
            });
        }
        if has(&[Opcode::Call]) {
            out.push(CompileVariant {
                inline: Inline::Never,
                ..CompileVariant::default()
            });
        }
        out
    }
}

impl fmt::Display for CompileVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cf, inline) = (self.simd_cf.name(), self.inline.name());
        write!(f, "masks {cf}, inline {inline}, -O{}", self.opt.name())?;
        if let Some(n) = self.grfs {
            write!(f, ", {n} registers")?;
        }
        match self.allocator {
            Allocator::Bytes => Ok(()),
            other => write!(f, ", places by {}", other.name()),
        }
    }
}

/// Instruction limit of one simulated thread, or of one interpreted launch, which then ends as an
/// endless loop. Tests are small.
pub(crate) const INSTRUCTION_LIMIT: u64 = 1_000_000;

/// Executor of a module's launches.
pub trait Runner: Sync {
    /// Returns its name, which is also the option of `test run` that selects only this runner.
    fn name(&self) -> &'static str;

    /// Returns true if it compiles, and so has a target.
    fn compiles(&self) -> bool;

    /// Compiles or loads a module.
    ///
    /// # Errors
    /// The module cannot be compiled or loaded.
    fn prepare<'m>(
        &self,
        module: &'m Module,
        target: &str,
        variant: CompileVariant,
    ) -> Result<Box<dyn Prepared + 'm>, String>;
}

/// Module ready to launch.
pub trait Prepared {
    /// Launches a kernel.
    ///
    /// # Errors
    /// The launch is refused or faults.
    fn run(&self, run: &Run) -> Result<LaunchResults, String>;
}

/// Results of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaunchResults {
    /// Contents of each buffer, `None` for the other arguments.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// Printed text.
    pub printed: String,
}

/// All runners.
pub const RUNNERS: [&dyn Runner; 2] = [&Simulator, &Interpreter];

/// Runner that compiles, and executes the bytes on the runtime's simulator.
struct Simulator;

impl Runner for Simulator {
    fn name(&self) -> &'static str {
        "simulator"
    }

    fn compiles(&self) -> bool {
        true
    }

    fn prepare<'m>(
        &self,
        module: &'m Module,
        target: &str,
        variant: CompileVariant,
    ) -> Result<Box<dyn Prepared + 'm>, String> {
        let target = Target::unfinished(target).ok_or(format!("no product `{target}`"))?;
        let mut options = CompileOptions::new(target);
        options.check = true;
        options.simd_cf = variant.simd_cf;
        options.inline = variant.inline;
        options.grf_mode = variant.grf_mode;
        options.without = variant.without;
        options.opt = variant.opt;
        options.grfs = variant.grfs;
        options.debug.allocator = variant.allocator;
        let compiled = compile_checked(module, &options)?;
        let device = simulator();
        let module = device.load(&compiled.zebin).map_err(|e| e.to_string())?;
        let annotated = options.target.platform().features().swsb;
        Ok(Box::new(Loaded {
            device,
            module,
            annotated,
        }))
    }
}

/// Runs a zebin on the simulator. Returns the launch's results, its statistics, and the scratch
/// bytes that the zebin asks for.
///
/// # Errors
/// The zebin cannot be loaded, or the launch is refused or faults.
pub fn simulate(zebin: &[u8], run: &Run) -> Result<(LaunchResults, LaunchStats, u32), String> {
    let device = simulator();
    let module = device.load(zebin).map_err(|e| e.to_string())?;
    let kernel = module.kernel(&run.kernel).map_err(|e| e.to_string())?;
    let scratch = kernel.info().map_or(0, |i| i.scratch_bytes());
    let loaded = Loaded {
        device,
        module,
        annotated: false,
    };
    let (ran, stats) = loaded.launch(run, None).map_err(|e| e.to_string())?;
    Ok((ran, stats, scratch))
}

/// Returns the hazards of a launch of a zebin whose code has software scoreboard annotations.
///
/// # Errors
/// The zebin cannot be loaded, or the launch is refused or faults.
pub fn hazards(zebin: &[u8], run: &Run) -> Result<Vec<Hazard>, String> {
    let device = simulator();
    let module = device.load(zebin).map_err(|e| e.to_string())?;
    let loaded = Loaded {
        device,
        module,
        annotated: true,
    };
    let watch = Watch::new().hazards();
    loaded
        .launch(run, Some(&watch))
        .map_err(|e| e.to_string())?;
    Ok(watch.report().hazards)
}

fn simulator() -> Device {
    Device::simulator(SimOptions {
        instruction_limit: INSTRUCTION_LIMIT,
        // Launches are small, and files run in parallel.
        threads: 1,
        ..SimOptions::default()
    })
}

struct Loaded {
    device: Device,
    module: gantry_runtime::Module,
    /// True if its code has software scoreboard annotations, which must cover every read and write.
    annotated: bool,
}

impl Loaded {
    fn launch(
        &self,
        run: &Run,
        watch: Option<&Watch>,
    ) -> Result<(LaunchResults, LaunchStats), gantry_runtime::Error> {
        let kernel = self.module.kernel(&run.kernel)?;
        let mut args = Vec::new();
        let mut buffers: Vec<Option<Buffer>> = Vec::new();
        for arg in &run.args {
            let (arg, buffer) = match arg {
                Arg::Buffer(data) => {
                    let b = self.device.buffer_from(&data.to_bytes())?;
                    (RtArg::from(&b), Some(b))
                }
                Arg::Image(image, data) => {
                    let b = self.device.buffer_from(&data.to_bytes())?;
                    let (format, desc) = described(image)?;
                    let i = self.device.image_of(&b, format, desc)?;
                    (RtArg::from(&i), Some(b))
                }
                Arg::Sampler(s) => (RtArg::from(sampler(s)), None),
                Arg::Value(data) => (RtArg::bytes(&data.to_bytes()), None),
                Arg::Slm(bytes) => (RtArg::Local(*bytes), None),
                Arg::Null => (RtArg::Null, None),
            };
            args.push(arg);
            buffers.push(buffer);
        }
        let size = run.groups.map_or(Grid::new(run.global), Grid::groups);
        let mut grid = size.offset(run.offset);
        if let Some(local) = run.local {
            grid = grid.group(local);
        }
        let mut printed = String::new();
        let mut launch = kernel.launch(grid).printf(|text| printed += text);
        if run.places.is_empty() {
            launch = launch.args(args);
        } else {
            for (slot, arg) in run.places.iter().zip(args) {
                launch = match slot {
                    Slot::At(at) => launch.bind_element(at.set, at.binding, at.element, arg),
                    Slot::Pushed => launch.push_constants(arg),
                };
            }
        }
        if let Some(w) = watch {
            launch = launch.watch(w);
        }
        let stats = launch.run()?;
        let buffers = buffers
            .iter()
            .map(|b| b.as_ref().map(Buffer::read).transpose());
        let ran = LaunchResults {
            buffers: buffers.collect::<Result<_, _>>()?,
            printed,
        };
        Ok((ran, stats))
    }
}

impl Prepared for Loaded {
    fn run(&self, run: &Run) -> Result<LaunchResults, String> {
        if !self.annotated {
            let got = self.launch(run, None);
            return got.map(|g| g.0).map_err(|e| e.to_string());
        }
        let watch = Watch::new().hazards();
        let (got, _) = self.launch(run, Some(&watch)).map_err(|e| e.to_string())?;
        let hazards = watch.report().hazards;
        if hazards.is_empty() {
            Ok(got)
        } else {
            Err(hazards.iter().map(|h| format!("{h}\n")).collect())
        }
    }
}

/// Converts an image to the runtime's description.
fn described(image: &ImageArg) -> Result<(ImageFormat, ImageDesc), gantry_runtime::Error> {
    let [x, y, z] = image.extent;
    let desc = match image.shape {
        ImageShape::D1 => ImageDesc::d1(x),
        ImageShape::D1Array => ImageDesc::d1_array(x, y),
        ImageShape::D2 | ImageShape::Block => ImageDesc::d2(x, y),
        ImageShape::Buffer => ImageDesc::d1_buffer(x),
        ImageShape::D2Array => ImageDesc::d2_array(x, y, z),
        ImageShape::D3 => ImageDesc::d3(x, y, z),
        ImageShape::D2Msaa => ImageDesc::d2_msaa(x, y, image.samples),
        ImageShape::D2ArrayMsaa => ImageDesc::d2_array_msaa(x, y, z, image.samples),
        ImageShape::Cube => ImageDesc::cube(x),
        ImageShape::CubeArray => ImageDesc::cube_array(x, z / 6),
    };
    let desc = desc.with_levels(image.levels.max(1));
    let order = match image.components {
        1 => ChannelOrder::R,
        2 => ChannelOrder::Rg,
        _ => ChannelOrder::Rgba,
    };
    let channel = match image.component {
        Component::Unorm8 => ChannelType::UnormInt8,
        Component::Sint8 => ChannelType::SignedInt8,
        Component::Sint16 => ChannelType::SignedInt16,
        Component::Sint32 => ChannelType::SignedInt32,
        Component::Uint8 => ChannelType::UnsignedInt8,
        Component::Uint16 => ChannelType::UnsignedInt16,
        Component::Uint32 => ChannelType::UnsignedInt32,
        Component::F16 => ChannelType::HalfFloat,
        Component::F32 => ChannelType::Float,
    };
    Ok((ImageFormat::new(order, channel)?, desc))
}

/// Converts a sampler to the runtime's.
pub(crate) fn sampler(s: &interp::Sampler) -> Sampler {
    let address = s.addressing.map(|mode| match mode {
        Addressing::Border => AddressMode::Clamp,
        Addressing::Edge => AddressMode::ClampToEdge,
        Addressing::Repeat => AddressMode::Repeat,
        Addressing::Mirror => AddressMode::Mirror,
    });
    let filter = |linear| {
        if linear {
            FilterMode::Linear
        } else {
            FilterMode::Nearest
        }
    };
    let [least, most] = s.lod.map(|n| f32::from(n) / 256.0);
    let out = Sampler::new(address[0], filter(s.mag))
        .addressing(address)
        .minifying(filter(s.min))
        .between_levels(match s.mip {
            interp::MipFilter::None => MipFilter::None,
            interp::MipFilter::Nearest => MipFilter::Nearest,
            interp::MipFilter::Linear => MipFilter::Linear,
        })
        .lod_clamp(least, most)
        .comparing(match s.compare {
            interp::Compare::Never => Compare::Never,
            interp::Compare::Less => Compare::Less,
            interp::Compare::Equal => Compare::Equal,
            interp::Compare::LessOrEqual => Compare::LessOrEqual,
            interp::Compare::Greater => Compare::Greater,
            interp::Compare::NotEqual => Compare::NotEqual,
            interp::Compare::GreaterOrEqual => Compare::GreaterOrEqual,
            interp::Compare::Always => Compare::Always,
        });
    if s.normalized { out.normalized() } else { out }
}

/// Runner that executes the IR itself, by its reference semantics.
struct Interpreter;

impl Runner for Interpreter {
    fn name(&self) -> &'static str {
        "interpreter"
    }

    fn compiles(&self) -> bool {
        false
    }

    fn prepare<'m>(
        &self,
        module: &'m Module,
        _: &str,
        _: CompileVariant,
    ) -> Result<Box<dyn Prepared + 'm>, String> {
        let loaded = RefCell::new(interp::Loaded::new(module));
        Ok(Box::new(Interpreted { module, loaded }))
    }
}

struct Interpreted<'m> {
    module: &'m Module,
    /// Loaded module, whose variables keep their values between runs, as those of a loaded binary
    /// do.
    loaded: RefCell<interp::Loaded<'m>>,
}

impl Interpreted<'_> {
    fn arg(&self, kernel: FuncRef, n: usize, bytes: &[u8]) -> Result<interp::Arg, String> {
        let params = self.module.functions.get(kernel).map(|f| &f.sig.params);
        let ty = params.and_then(|p| p.get(n)).map(|p| p.ty);
        ty.and_then(|ty| interp::Arg::from_bytes(ty, bytes))
            .ok_or_else(|| {
                format!(
                    "argument {n} is not {} by value",
                    Count(bytes.len(), "byte")
                )
            })
    }

    /// Returns the index of a run's argument for each parameter. It is `None` for one that is not
    /// given, as are sizes that launches fill in.
    fn given(&self, kernel: FuncRef, run: &Run) -> Result<Vec<Option<usize>>, String> {
        let Some(func) = self.module.functions.get(kernel) else {
            return Ok(Vec::new());
        };
        let role = |n| {
            func.reflection
                .get(n)
                .map_or(ParamRole::Argument, |i| i.role)
        };
        let roles: Vec<ParamRole> = (0..func.sig.params.len()).map(role).collect();
        let is_sampler = |n: usize| matches!(run.args.get(n), Some(Arg::Sampler(_)));
        if run.places.is_empty() {
            let mut next = 0..run.args.len();
            let one = |r: &ParamRole| match r {
                ParamRole::SizeOf(_) => None,
                _ => next.next(),
            };
            let given: Vec<Option<usize>> = roles.iter().map(one).collect();
            return match next.next() {
                None => Ok(given),
                Some(_) => Err(format!(
                    "{} given: too many",
                    Count(run.args.len(), "argument")
                )),
            };
        }
        let one = |r: &ParamRole| {
            let here = |n: &usize| {
                let wants = matches!(r, ParamRole::Resource(_, Resource::Sampler));
                run.places.get(*n).is_some_and(|s| s.is(*r)) && wants == is_sampler(*n)
            };
            (0..run.places.len()).find(here)
        };
        let given: Vec<Option<usize>> = roles.iter().map(one).collect();
        for (n, slot) in run.places.iter().enumerate() {
            if !given.contains(&Some(n)) {
                return Err(format!("%{} has nothing at {slot}", run.kernel));
            }
        }
        Ok(given)
    }

    /// Returns the group size if the launch leaves it to the kernel.
    fn local(&self, kernel: FuncRef) -> [u32; 3] {
        match self.module.functions.get(kernel).map(|f| f.kind) {
            Some(FuncKind::Kernel {
                group_size: Some(g),
                ..
            }) => g,
            Some(FuncKind::Kernel { simd, .. }) => [simd, 1, 1],
            _ => [1; 3],
        }
    }
}

impl Prepared for Interpreted<'_> {
    fn run(&self, run: &Run) -> Result<LaunchResults, String> {
        let kernel = self
            .module
            .find(&run.kernel)
            .ok_or_else(|| format!("no kernel named `{}`", run.kernel))?;
        let mut memory = Buffers::default();
        let mut args = Vec::new();
        let mut buffers = vec![None; run.args.len()];
        let mut slm = 0;
        let given = self.given(kernel, run)?;
        let size = |n: usize| match run.args.get(n) {
            Some(Arg::Buffer(data)) => data.to_bytes().len() as i32,
            _ => 0,
        };
        let reflection = self.module.functions.get(kernel).map(|f| &f.reflection);
        let role = |n| reflection.and_then(|r| r.get(n)).map(|i| i.role);
        for (n, given_as) in given.iter().enumerate() {
            if let Some(ParamRole::SizeOf(of)) = role(n) {
                let of = given.get(of as usize).copied().flatten();
                args.push(interp::Arg::i32(of.map_or(0, size)));
                continue;
            }
            let arg = given_as.and_then(|g| run.args.get(g));
            let Some((arg, given_as)) = arg.zip(*given_as) else {
                return Err(format!("argument {n} is not given"));
            };
            let mut buffer = None;
            args.push(match arg {
                Arg::Buffer(data) => {
                    let address = memory.add(data.to_bytes());
                    buffer = Some(address);
                    interp::Arg::ptr(address)
                }
                Arg::Image(image, data) => {
                    let address = memory.add(data.to_bytes());
                    buffer = Some(address);
                    interp::Arg(vec![memory.add_image(image.at(address))])
                }
                Arg::Sampler(s) => interp::Arg(vec![memory.add_sampler(*s)]),
                Arg::Value(data) => self.arg(kernel, n, &data.to_bytes())?,
                Arg::Slm(bytes) => {
                    let at = slm;
                    slm += bytes.next_multiple_of(16);
                    interp::Arg::i32(at as i32)
                }
                Arg::Null => interp::Arg::ptr(0),
            });
            if let Some(place) = buffers.get_mut(given_as) {
                *place = buffer;
            }
        }
        let local = run.local.unwrap_or_else(|| self.local(kernel));
        let groups = |groups: [u32; 3]| [0, 1, 2].map(|d| groups[d].saturating_mul(local[d]));
        let grid = interp::Grid {
            global: run.groups.map_or(run.global, groups),
            local,
            offset: run.offset,
        };
        let mut loaded = self.loaded.borrow_mut();
        loaded
            .launch(kernel, &grid, &args, &mut memory, INSTRUCTION_LIMIT)
            .map_err(|e| e.to_string())?;
        let buffers = buffers
            .into_iter()
            .map(|b| b.map(|b| memory.bytes(b).to_vec()));
        Ok(LaunchResults {
            buffers: buffers.collect(),
            printed: String::from_utf8_lossy(memory.printed()).into_owned(),
        })
    }
}

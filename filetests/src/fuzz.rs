//! Bodies of the fuzzers, as functions of bytes or a seed. The targets in `fuzz/` are a line each
//! over them, and `filetests/tests/suite/fuzz.rs` runs each briefly in `cargo test`. A panic in any
//! of them is a bug, and so is a returned error.

use crate::runner::platforms;
use gantry_codegen::text::parse;
use gantry_codegen::verifier::verify_parsed;
use gantry_codegen::{CompileOptions, compile};
use gantry_isa_gen::decode::decode;
use gantry_isa_gen::encode::encode;
use gantry_isa_gen::text::{assemble, disassemble};
use gantry_isa_gen::{InstOpts, Platform};
use gantry_runtime::zebin::{ArgKind, Zebin};
use gantry_runtime::{Arg, Device, Grid, SimOptions};
use gantry_zebin::ZeInfo;
use gantry_zebin::elf::File;

/// Instruction limit of a simulated thread.
const LIMIT: u64 = 2000;

/// Fuzzes IR text. Text that parses and verifies is printed and read back the same. The compiler
/// accepts it or says why not.
///
/// # Errors
/// The printed text differs or does not parse.
pub fn gir(data: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(data) else {
        return Ok(());
    };
    let Ok(parsed) = parse(text) else {
        return Ok(());
    };
    if verify_parsed(&parsed).is_err() {
        return Ok(());
    }
    let printed = parsed.module.to_string();
    match parse(&printed) {
        Ok(again) if again.module == parsed.module => {}
        Ok(_) => return Err(format!("another module comes back from\n{printed}")),
        Err(e) => return Err(e.render("printed", &printed)),
    }
    for target in platforms() {
        let _ = compile(&parsed.module, &CompileOptions::new(target));
    }
    Ok(())
}

/// Fuzzes the compiler with a random kernel of a seed, on one of the platforms. Interpreter and
/// simulator must agree.
///
/// # Errors
/// They disagree.
#[cfg(feature = "fuzzing")]
pub fn differential(seed: u64) -> Result<(), String> {
    use crate::differential::{CaseChecks, case, for_target};
    use gantry_codegen::fuzzing::Options;
    let targets = platforms();
    let n = targets.len().max(1);
    let Some(target) = targets.get(seed as usize % n) else {
        return Ok(());
    };
    let options = Options {
        floats: false,
        ..Options::runnable()
    };
    let how = CaseChecks {
        grfs: None,
        stages: true,
    };
    case(seed, &for_target(&options, target), target, how)
        .map(drop)
        .map_err(|e| format!("seed {seed}, {}: {e}", target.name()))
}

/// Fuzzes zebins: loads and disassembles one, and launches each kernel with arguments of its kinds,
/// as far as possible. It may not panic, hang or take much memory.
///
/// # Errors
/// The description of the module is another one when it is written and read back.
pub fn zebin(data: &[u8]) -> Result<(), String> {
    let limits = gantry_zebin::Limits::default();
    let file = File::read(data, &limits);
    if let Ok(text) = file.and_then(|f| f.ze_info())
        && let Ok(info) = ZeInfo::read(text, &limits)
    {
        let written = info.write();
        if ZeInfo::read(&written, &limits).as_ref() != Ok(&info) {
            return Err(format!("another description comes back from\n{written}"));
        }
    }
    if let Ok(z) = Zebin::parse(data) {
        for i in 0..z.kernels.len() {
            disassemble(z.platform, z.code(data, i).unwrap_or_default());
        }
    }
    let device = Device::simulator(SimOptions {
        instruction_limit: LIMIT,
        ..SimOptions::default()
    });
    let Ok(module) = device.load(data) else {
        return Ok(());
    };
    let names: Vec<String> = module.kernels().map(str::to_owned).collect();
    for name in names {
        let Ok(kernel) = module.kernel(&name) else {
            continue;
        };
        let args = kernel.args().iter().map(|a| match a.kind {
            ArgKind::Value { size } => Arg::bytes(&vec![1; (size as usize).min(4096)]),
            ArgKind::Local => Arg::Local(256),
            _ => device.buffer(256).map_or(Arg::Null, Arg::from),
        });
        let grid = Grid::new([64, 1, 1]).group([32, 1, 1]);
        let _ = kernel.launch(grid).args(args).run();
    }
    Ok(())
}

/// Fuzzes assembly text. Text that assembles is printed as text that assembles to the same bytes.
///
/// # Errors
/// The bytes differ.
pub fn asm(platform: Platform, data: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(data) else {
        return Ok(());
    };
    let Ok(program) = assemble(platform, text) else {
        return Ok(());
    };
    let printed = disassemble(platform, &program.bytes);
    match assemble(platform, &printed) {
        Ok(again) if again.bytes == program.bytes => Ok(()),
        Ok(_) => Err(format!("{platform}: other bytes come back from\n{printed}")),
        Err(e) => Err(format!("{platform}: {}", e.render("printed", &printed))),
    }
}

/// Fuzzes the bytes of one instruction, native or compact. An instruction that decodes, and is
/// encoded again, decodes to the same instruction.
///
/// # Errors
/// The instructions differ.
pub fn instruction(platform: Platform, data: &[u8]) -> Result<(), String> {
    let Ok(decoded) = decode(platform, data) else {
        return Ok(());
    };
    // The encoder writes the native form.
    let mut inst = decoded.inst;
    inst.opts.remove(InstOpts::COMPACTED);
    // Bytes may describe no valid instruction.
    let Ok(bytes) = encode(platform, &inst) else {
        return Ok(());
    };
    match decode(platform, &bytes) {
        Ok(again) if again.inst == inst => Ok(()),
        Ok(again) => Err(format!(
            "{platform}: {inst:?} comes back as {:?}",
            again.inst
        )),
        Err(e) => Err(format!("{platform}, {inst:?}: {e}")),
    }
}

/// Selects a platform by the first of a fuzzer's bytes. Returns it and the remaining bytes.
pub fn platform(data: &[u8]) -> (Platform, &[u8]) {
    let (first, rest) = data.split_first().map_or((0, data), |(f, r)| (*f, r));
    let all = Platform::ALL;
    let at = usize::from(first) % all.len();
    (all.get(at).copied().unwrap_or(Platform::Gen9), rest)
}

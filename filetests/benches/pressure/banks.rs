//! Register bank conflicts of three-source instructions, and moves between flags and GRFs.
//!
//! The model is what Mesa found on Gen7 to Gen9 (`src/intel/compiler/brw_fs_bank_conflicts.cpp`).
//! There are four banks: the even and the odd registers below r64, and those from r64 on. If the
//! second and third source are different registers of one bank, that costs a cycle more per eight
//! channels. Moves to and from GRFs are counted since flags are spilled there.

use crate::{Arguments, Res};
use gantry_codegen::ir::Module;
use gantry_codegen::{compile, text};
use gantry_filetests::pressure::ir;
use gantry_filetests::{TestFile, files};
use gantry_isa_gen::{Arf, Dst, Inst, Op, Reg, Region, Src};
use std::path::Path;

/// Channels that are read at once.
const CHANNELS: u32 = 8;

/// Returns the GRF of a source in a group of channels, if it is one.
fn register(src: &Src<Reg>, group: u32) -> Option<u32> {
    let Src::Direct { at, region, ty, .. } = src else {
        return None;
    };
    let Reg::Grf(first) = at.reg else {
        return None;
    };
    let one = match *region {
        Region::Rect { vs, hs, .. } => vs == 0 && hs == 0,
        Region::Scalar3 { .. } => true,
        _ => false,
    };
    let bytes = if one {
        0
    } else {
        group * CHANNELS * ty.bytes()
    };
    Some(u32::from(first) + (u32::from(at.sub) + bytes) / 32)
}

fn bank(register: u32) -> u32 {
    register / 64 * 2 + register % 2
}

/// Returns true if an instruction moves between a flag and a GRF.
fn moves_flag(inst: &Inst<Reg>) -> bool {
    let (Dst::Direct { at: to, .. }, Src::Direct { at: from, .. }) = (inst.dst, inst.srcs[0])
    else {
        return false;
    };
    let flag = |r: Reg| matches!(r, Reg::Arf(Arf::Flag, _));
    let file = |r: Reg| matches!(r, Reg::Grf(_));
    inst.op == Op::Mov && (flag(to.reg) && file(from.reg) || file(to.reg) && flag(from.reg))
}

/// Counts groups of channels of three-source instructions, and those of them with a conflict.
fn count(insts: &[Inst<Reg>]) -> [u32; 2] {
    let mut out = [0; 2];
    for inst in insts.iter().filter(|i| !i.op.is_send()) {
        let [_, second, third] = &inst.srcs;
        for group in 0..inst.exec.channels().div_ceil(CHANNELS) {
            let both = (register(second, group), register(third, group));
            if let (Some(a), Some(b)) = both {
                out[0] += 1;
                out[1] += u32::from(a != b && bank(a) == bank(b));
            }
        }
    }
    out
}

fn line(asked: &Arguments, name: &str, m: &Module, sum: &mut [u32; 4]) -> Res<()> {
    let out = compile(m, &asked.options()?).map_err(|e| e.to_string())?;
    let [mut all, mut groups, mut conflicts, mut flags] = [0; 4];
    for k in &out.kernels {
        let [g, c] = count(&k.code.insts);
        all += k.code.insts.len() as u32;
        groups += g;
        conflicts += c;
        flags += k.code.insts.iter().filter(|i| moves_flag(i)).count() as u32;
    }
    if groups + flags > 0 {
        println!("{name:<14} {all:>12} {groups:>8} {conflicts:>9} {flags:>10}");
    }
    let counts = [all, groups, conflicts, flags];
    sum.iter_mut().zip(counts).for_each(|(s, n)| *s += n);
    Ok(())
}

/// Prints the table.
pub fn table(asked: &Arguments) -> Res<()> {
    println!(
        "Instructions in the code; eight channels of three-source ones, and those that read two registers of one bank; moves between flags and the file"
    );
    println!(
        "{:<14} {:>12} {:>8} {:>9} {:>10}",
        "kernel", "instructions", "groups", "conflicts", "flag moves"
    );
    let mut sum = [0; 4];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("filetests/run/classics");
    for path in files(&root).map_err(|e| e.to_string())? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let source = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let file = TestFile::parse(&name, &source).map_err(|e| e.to_string())?;
        let module = text::parse(&file.body).map_err(|e| e.to_string())?.module;
        line(asked, &name, &module, &mut sum)?;
    }
    for k in &asked.kernels {
        let m = ir::module(&k.name, &k.program, !asked.wide).map_err(|e| e.to_string())?;
        line(asked, &k.name, &m, &mut sum)?;
    }
    let [all, groups, conflicts, flags] = sum;
    println!(
        "{:<14} {all:>12} {groups:>8} {conflicts:>9} {flags:>10}",
        "all"
    );
    Ok(())
}

//! Verifier of machine code between stages. It runs on the output of each stage, in tests and with
//! [`CompileOptions::check`](crate::CompileOptions::check).

use super::bale::{Bale, BaleSrc, View};
use super::lowered::{Lowered, LoweredFunction};
use super::{
    Access, MInst, RegConstraint, RegKind, Routine, RoutineData, VBlock, VCode, VFlag, VReg,
    VRegData, VirtReg,
};
use crate::target::GrfFile;
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap};
use gantry_isa_gen::sem::dpas::Dpas;
use gantry_isa_gen::{Dst, Inst, RegRef, Region, Src, Type};
use std::fmt::Display;

/// Entities that instructions may refer to.
struct Verifier<'a> {
    grf: GrfFile,
    vregs: &'a PrimaryMap<VReg, VRegData>,
    flags: &'a PrimaryMap<VFlag, u8>,
    routines: &'a PrimaryMap<Routine, RoutineData>,
    /// True while flags may be virtual.
    virtual_flags: bool,
}

/// Checks a function between lowering and legalization.
///
/// # Errors
/// Violated rule and its position.
pub(crate) fn lowered(f: &LoweredFunction) -> Result<(), String> {
    let v = Verifier {
        grf: f.grf,
        vregs: &f.vregs,
        flags: &f.flags,
        routines: &f.routines,
        virtual_flags: true,
    };
    v.registers()?;
    v.blocks(f.blocks.len())?;
    for (n, block) in f.blocks.iter().enumerate() {
        let name = VBlock::new(n);
        let ends = |l: &Lowered| matches!(l, Lowered::Inst(m) if m.is_terminator());
        let code = f.code(block.code);
        let Some((Lowered::Inst(last), before)) = code.split_last() else {
            return Err(format!("{name} has no terminator"));
        };
        let first = code.iter().position(ends);
        v.terminator(name, last, first == Some(before.len()), block.succs.len())?;
        for (n, to) in block.succs.iter().enumerate() {
            let params = f.blocks.get(to.index()).map(|b| b.flags.params());
            v.edge(name, *to, params, block.flags.args(n))?;
        }
        for (i, item) in f.items(block) {
            match item {
                Lowered::Bale(b) => v.bale(b).map_err(|e| at(name, i, b, &e))?,
                Lowered::Send(_) | Lowered::Sent(_) => {}
                Lowered::Inst(m) => v.inst(m).map_err(|e| at(name, i, m, &e))?,
            }
        }
    }
    Ok(())
}

/// Checks machine code before allocation. `virtual_flags` is set before flags are allocated.
///
/// # Errors
/// Violated rule and its position.
pub(crate) fn code(c: &VCode, virtual_flags: bool) -> Result<(), String> {
    let v = Verifier {
        grf: c.grf,
        vregs: &c.vregs,
        flags: &c.flags,
        routines: &c.routines,
        virtual_flags,
    };
    v.registers()?;
    v.blocks(c.blocks.len())?;
    let mut begun: EntitySet<VReg> = EntitySet::new();
    let mut at_inst = 0;
    for (name, block) in &c.blocks {
        if (block.start, block.end) != (at_inst, block.end.max(at_inst)) {
            return Err(format!(
                "{name} does not begin where the block before it ends"
            ));
        }
        at_inst = block.end;
        let Some((last, before)) = c.block_insts(name).split_last() else {
            return Err(format!("{name} has no terminator"));
        };
        let only = !before.iter().any(MInst::is_terminator);
        v.terminator(name, last, only, block.succs.len())?;
        // Allocated flags are not passed along edges.
        if let Some(along) = &block.flags.0
            && (!virtual_flags || along.args.len() != block.succs.len())
        {
            let count = along.args.len();
            return Err(format!("{name} gives flags to {count} successors"));
        }
        for (n, to) in block.succs.iter().enumerate() {
            let params = c.blocks.get(*to).map(|b| b.flags.params());
            v.edge(name, *to, params, block.flags.args(n))?;
        }
        for (i, m) in c.block_insts(name).iter().enumerate() {
            v.inst(m).map_err(|e| at(name, i, m, &e))?;
            m.for_each_vreg(|r, a| {
                if a == Access::Def {
                    begun.insert(r);
                }
            });
        }
    }
    for (name, r) in &c.labels {
        v.bytes(VirtReg::grf(*r), 0, 0)
            .map_err(|e| format!("label {name:?}: {e}"))?;
    }
    if !preds_are_right(c) {
        return Err("predecessors are not those that have one as a successor".to_string());
    }
    if at_inst != c.insts.len() {
        return Err("instructions behind the last block".to_string());
    }
    for (i, m) in c.insts.iter().enumerate() {
        let mut never = None;
        m.for_each_vreg(|r, _| {
            let fixed = matches!(c.vregs[r].constraint, RegConstraint::Fixed(_));
            if !fixed && !begun.contains(r) {
                never = Some(r);
            }
        });
        if let Some(r) = never {
            return Err(format!(
                "instruction {i} (`{m}`): no instruction begins {r}"
            ));
        }
    }
    Ok(())
}

/// Returns true if predecessors are the reverse of successors.
fn preds_are_right(c: &VCode) -> bool {
    let succs = c
        .blocks
        .iter()
        .flat_map(|(b, d)| d.succs.iter().map(move |s| (b, *s)));
    let preds = c
        .blocks
        .iter()
        .flat_map(|(b, d)| d.preds.iter().map(move |p| (*p, b)));
    let (mut succs, mut preds): (Vec<_>, Vec<_>) = (succs.collect(), preds.collect());
    succs.sort_unstable();
    preds.sort_unstable();
    succs == preds
}

fn at(block: VBlock, i: usize, what: &impl Display, error: &str) -> String {
    format!("{block}, instruction {i} (`{what}`): {error}")
}

impl Verifier<'_> {
    fn registers(&self) -> Result<(), String> {
        let file = self.grf.size();
        for (r, d) in self.vregs {
            let fits = match d.constraint {
                // A register larger than the GRF file is rejected by allocation, with an error
                // about the IR.
                RegConstraint::Any => true,
                RegConstraint::Fixed(at) | RegConstraint::AtLeast(at) => {
                    at.checked_add(d.bytes).is_some_and(|end| end <= file)
                }
            };
            let aligned = d.align.is_power_of_two() && d.align <= self.grf.bytes;
            if d.bytes == 0 || !aligned || !fits {
                return Err(format!("{r} cannot be placed: {d:?}"));
            }
        }
        Ok(())
    }

    /// Checks that routines are consecutive runs of blocks.
    fn blocks(&self, blocks: usize) -> Result<(), String> {
        let mut next = 0;
        for (r, d) in self.routines {
            if d.first != next || d.end <= d.first {
                return Err(format!("{r} has blocks {} to {}", d.first, d.end));
            }
            next = d.end;
        }
        if next as usize == blocks {
            Ok(())
        } else {
            Err(format!("routines have {next} blocks of {blocks}"))
        }
    }

    fn routine_of(&self, block: VBlock) -> Option<Routine> {
        let n = block.index() as u32;
        let mut of = self.routines.iter();
        of.find(|(_, d)| (d.first..d.end).contains(&n))
            .map(|(r, _)| r)
    }

    fn terminator(
        &self,
        block: VBlock,
        last: &MInst,
        only: bool,
        succs: usize,
    ) -> Result<(), String> {
        let wanted = match last {
            MInst::Jump => 1,
            MInst::Branch { .. } | MInst::BranchExec { .. } => 2,
            // An entry at least, and the default.
            MInst::JumpTable { .. } => succs.max(2),
            _ => 0,
        };
        if !last.is_terminator() || !only {
            return Err(format!("{block} does not end in its one terminator"));
        }
        if succs == wanted {
            Ok(())
        } else {
            Err(format!(
                "{block} ends in `{last}` and has {succs} successors"
            ))
        }
    }

    fn edge(
        &self,
        from: VBlock,
        to: VBlock,
        params: Option<&[VFlag]>,
        args: &[VFlag],
    ) -> Result<(), String> {
        let Some(params) = params else {
            return Err(format!("{from} goes to {to}, which is none"));
        };
        if self.routine_of(from) != self.routine_of(to) {
            return Err(format!("{from} goes to {to}, of another routine"));
        }
        let lanes = |f: &VFlag| self.flags.get(*f);
        let same = |(a, p)| lanes(a).is_some() && lanes(a) == lanes(p);
        if args.len() == params.len() && args.iter().zip(params).all(same) {
            Ok(())
        } else {
            Err(format!("flags from {from} are not the parameters of {to}"))
        }
    }

    fn flag(&self, f: VFlag) -> Result<(), String> {
        if self.virtual_flags && self.flags.is_valid(f) {
            Ok(())
        } else {
            Err(format!("{f} is no flag here"))
        }
    }

    /// Checks an access to bytes of a register.
    fn bytes(&self, reg: VirtReg, start: u32, end: u32) -> Result<(), String> {
        let r = match reg.kind() {
            RegKind::Phys(_) => return Ok(()),
            RegKind::Flag(f) => return self.flag(f),
            RegKind::Grf(r) => r,
        };
        let Some(d) = self.vregs.get(r) else {
            return Err(format!("{r} is no register"));
        };
        if end <= d.bytes {
            Ok(())
        } else {
            Err(format!(
                "bytes {start} to {end} of {r}, which has {}",
                d.bytes
            ))
        }
    }

    fn view(&self, v: &View, lanes: u32) -> Result<(), String> {
        if let Some(i) = v.index {
            self.bytes(VirtReg::grf(i.reg), i.at.into(), 2 * i.rows)?;
            return self.bytes(v.reg, 0, 0);
        }
        let last = (0..lanes).map(|n| v.byte(n)).max().unwrap_or(0);
        self.bytes(v.reg, v.offset, last + v.ty.bytes())
    }

    fn bale(&self, b: &Bale) -> Result<(), String> {
        let o = &b.operation;
        self.view(&b.dst, b.lanes)?;
        if let Some(carry) = &b.carry {
            self.view(carry, b.lanes)?;
        }
        for s in o.srcs.iter().flatten() {
            if let BaleSrc::View(v, _) = s {
                self.view(v, b.lanes)?;
            }
        }
        let under = b.under.map(|u| u.0);
        let select = o.select.map(|s| s.0);
        let flags = [b.mask, select, b.flag.map(|f| f.1), under, b.onto];
        for f in flags.into_iter().flatten().filter(|f| *f != VFlag::EXEC) {
            self.flag(f)?;
        }
        Ok(())
    }

    fn inst(&self, m: &MInst) -> Result<(), String> {
        let mut all = Ok(());
        m.for_each_vreg(|r, _| {
            if all.is_ok() {
                all = self.bytes(VirtReg::grf(r), 0, 0);
            }
        });
        all?;
        match m {
            MInst::Op { inst, keeps, .. } => {
                keeps
                    .expand()
                    .filter(|_| self.virtual_flags)
                    .map_or(Ok(()), |k| self.flag(k))?;
                self.operands(inst)
            }
            MInst::Copy { dst, src } if self.vregs[*dst].bytes != self.vregs[*src].bytes => {
                Err("a copy between registers of two sizes".to_string())
            }
            MInst::LoadAddress {
                count,
                base,
                offset,
                index,
                ..
            } => {
                if let Some((r, from)) = index {
                    self.bytes(VirtReg::grf(*r), *from, from + 2 * count.channels())?;
                }
                match (base, index) {
                    (Some(base), _) => self.bytes(VirtReg::grf(*base), *offset, *offset),
                    (None, Some(_)) => Ok(()),
                    (None, None) => Err("an address of nothing".to_string()),
                }
            }
            MInst::RegAddress {
                dst,
                base,
                offset,
                index,
            } => {
                if let Some((r, from)) = index {
                    self.bytes(VirtReg::grf(*r), *from, from + Type::Uw.bytes())?;
                }
                self.bytes(VirtReg::grf(*base), *offset, *offset)?;
                self.bytes(VirtReg::grf(*dst), 0, Type::Uw.bytes())
            }
            MInst::Branch { flag, .. } => self.bytes(*flag, 0, 0),
            MInst::JumpTable { distance } => {
                let d = self.vregs[*distance];
                let dword = Type::D.bytes();
                // With places by GRFs, it has all of one.
                if d.bytes >= dword && d.align.is_multiple_of(dword) {
                    Ok(())
                } else {
                    Err(format!("{distance} is not an aligned dword"))
                }
            }
            MInst::Leave {
                flag: Some((f, ..)),
                ..
            } => self.bytes(*f, 0, 0),
            MInst::Call { routine, .. } if !self.routines.is_valid(*routine) => {
                Err("the routine that is called is none".to_string())
            }
            _ => Ok(()),
        }
    }

    fn operands(&self, inst: &Inst<VirtReg>) -> Result<(), String> {
        let message = inst.op.has_runs();
        if let Some(blocks) = Dpas::operand_bytes(inst, self.grf.bytes) {
            for (s, bytes) in inst.srcs.iter().zip(blocks) {
                if let Src::Direct { at, .. } = s {
                    self.bytes(at.reg, at.sub.into(), u32::from(at.sub) + bytes)?;
                }
            }
            if let Dst::Direct { at, .. } = inst.dst {
                self.bytes(at.reg, at.sub.into(), u32::from(at.sub) + blocks[3])?;
            }
        }
        let last = inst.exec.channels() - 1;
        let run = |at: &RegRef<VirtReg>, element: u32, size: u32| {
            let start = u32::from(at.sub);
            let bytes = if message { 0 } else { element * size + size };
            match at.reg.as_flag() {
                // Allocation checks bits of flags.
                Some(f) => self.flag(f),
                None => self.bytes(at.reg, start, start + bytes),
            }
        };
        match &inst.dst {
            Dst::Direct { at, hs, ty } => run(at, last * u32::from(*hs), ty.bytes())?,
            Dst::Macro { at, ty, .. } => run(at, 0, ty.bytes())?,
            Dst::None | Dst::Indirect { .. } => {}
        }
        for s in &inst.srcs {
            let Src::Direct { at, region, ty, .. } = s else {
                continue;
            };
            let reached = match *region {
                Region::Rect { vs, w, hs } => {
                    let (vs, w, hs) = (u32::from(vs), u32::from(w).max(1), u32::from(hs));
                    let whole = last / w * vs + last % w * hs;
                    let row = (last / w).saturating_sub(1) * vs + (w - 1) * hs;
                    if last >= w { whole.max(row) } else { whole }
                }
                // Three-source instructions may read channels past a register's end, which are not
                // used.
                Region::Ternary { .. } | Region::Scalar3 { .. } | Region::VxH { .. } => 0,
            };
            run(at, reached, ty.bytes())?;
        }
        if let Some(p) = &inst.pred {
            run(&p.flag, 0, 0)?;
        }
        if let Some(c) = &inst.cond {
            run(&c.flag, 0, 0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mir::operand::{begins, grf_dst, imm, scalar_src, uniform};
    use crate::mir::{BlockData, EdgeFlags, FlagTest, SymbolPart};
    use gantry_isa_gen::{ExecSize, Op, Type};
    use smallvec::smallvec;

    /// Branch on a flag to one of two blocks. The second gets the flag.
    fn good() -> VCode {
        let (a, b, f, g) = (VReg::new(0), VReg::new(1), VFlag::new(0), VFlag::new(1));
        let mov = uniform(Op::Mov, grf_dst(a, Type::Ud), [imm(1, Type::Ud)]);
        let add = [scalar_src(a, 0, Type::Ud), scalar_src(b, 0, Type::Ud)];
        let set = super::super::operand::flag_dst(f, Type::Uw);
        let insts = vec![
            begins(mov),
            MInst::Copy { dst: b, src: a },
            begins(uniform(Op::Mov, set, [imm(1, Type::Uw)])),
            MInst::Branch {
                flag: VirtReg::flag(f),
                sub: 0,
                test: FlagTest::ONE,
            },
            begins(uniform(Op::Add, grf_dst(a, Type::Ud), add)),
            MInst::EndThread { payload: a },
            MInst::EndThread { payload: b },
        ];
        let mut blocks = PrimaryMap::new();
        blocks.push(BlockData {
            start: 0,
            end: 4,
            succs: smallvec![VBlock::new(1), VBlock::new(2)],
            flags: EdgeFlags::new(smallvec![], smallvec![smallvec![], smallvec![f]]),
            ..BlockData::default()
        });
        blocks.push(BlockData {
            start: 4,
            end: 6,
            ..BlockData::default()
        });
        blocks.push(BlockData {
            start: 6,
            end: 7,
            flags: EdgeFlags::new(smallvec![g], smallvec![]),
            ..BlockData::default()
        });
        let grf = GrfFile {
            bytes: 32,
            count: 128,
        };
        let mut code = VCode {
            grf,
            insts,
            locs: Default::default(),
            labels: Vec::new(),
            label_types: Default::default(),
            lone_surfaces: 0,
            blocks,
            routines: PrimaryMap::new(),
            vregs: PrimaryMap::new(),
            flags: PrimaryMap::new(),
            fired: Default::default(),
        };
        code.routines.push(RoutineData {
            name: "k".to_string(),
            first: 0,
            end: 3,
        });
        code.vregs.push(VRegData::anywhere(4, grf));
        code.vregs.push(VRegData::anywhere(4, grf));
        code.flags.push(16);
        code.flags.push(16);
        code.compute_preds();
        code
    }

    #[test]
    fn good_code_passes() {
        assert_eq!(code(&good(), true), Ok(()));
    }

    /// Returns the error of the code after a change.
    fn fault(change: impl FnOnce(&mut VCode)) -> String {
        let mut c = good();
        change(&mut c);
        code(&c, true).expect_err("bad code passes")
    }

    fn inst(c: &mut VCode, n: usize) -> &mut Inst<VirtReg> {
        match &mut c.insts[n] {
            MInst::Op { inst, .. } => inst,
            m => panic!("`{m}`"),
        }
    }

    #[test]
    fn each_rule_has_its_message() {
        let (a, b, l0, l2) = (VReg::new(0), VReg::new(1), VBlock::new(0), VBlock::new(2));
        let wide = |c: &mut VCode| inst(c, 4).exec = ExecSize::S2;
        for (found, wanted) in [
            (fault(|c| c.vregs[a].align = 3), "%r0 cannot be placed"),
            (
                fault(|c| c.vregs[b].constraint = RegConstraint::Fixed(4094)),
                "%r1 cannot be placed",
            ),
            (fault(wide), "bytes 0 to 8 of %r0, which has 4"),
            (
                fault(|c| inst(c, 0).dst = grf_dst(VReg::new(7), Type::Ud)),
                "%r7 is no register",
            ),
            (
                fault(|c| c.vregs[b].bytes = 8),
                "a copy between registers of two sizes",
            ),
            (
                fault(|c| c.insts[1] = c.insts[0]),
                "no instruction begins %r1",
            ),
            (
                fault(|c| {
                    c.insts[1] = MInst::Symbol {
                        dst: b,
                        data: crate::ir::DataRef::from_u32(0),
                        part: SymbolPart::High,
                    };
                }),
                "no instruction begins %r1",
            ),
            (
                fault(|c| c.insts[4] = MInst::Jump),
                "L1 does not end in its one terminator",
            ),
            (
                fault(|c| c.insts[5] = c.insts[1]),
                "L1 does not end in its one terminator",
            ),
            (fault(|c| c.insts[5] = MInst::Jump), "has 0 successors"),
            (
                fault(|c| {
                    c.insts[3] = MInst::JumpTable { distance: a };
                    c.vregs[a].align = 2;
                }),
                "%r0 is not an aligned dword",
            ),
            (
                fault(|c| {
                    c.insts[3] = MInst::JumpTable { distance: a };
                    c.blocks[l0].succs.pop();
                    c.blocks[l0].flags.0.as_mut().unwrap().args.pop();
                }),
                "L0 ends in `jump table %r0` and has 1 successors",
            ),
            (
                fault(|c| c.blocks[l2].start = 5),
                "L2 does not begin where the block before it ends",
            ),
            (
                fault(|c| c.labels.push(("x".to_string(), VReg::new(9)))),
                "label \"x\": %r9 is no register",
            ),
            (
                fault(|c| c.insts.push(MInst::Jump)),
                "instructions behind the last block",
            ),
            (
                fault(|c| c.blocks[l2].preds.clear()),
                "predecessors are not those",
            ),
            (
                fault(|c| c.blocks[l0].succs[0] = VBlock::new(9)),
                "L0 goes to L9, which is none",
            ),
            (
                fault(|c| c.blocks[l0].flags.0.as_mut().unwrap().args[1].clear()),
                "flags from L0 are not the parameters of L2",
            ),
            (
                fault(|c| c.flags[VFlag::new(1)] = 8),
                "flags from L0 are not the parameters of L2",
            ),
            (
                fault(|c| drop(c.blocks[l0].flags.0.as_mut().unwrap().args.pop())),
                "L0 gives flags to 1 successors",
            ),
            (
                fault(|c| c.routines[Routine::new(0)].end = 2),
                "routines have 2 blocks of 3",
            ),
            (
                fault(|c| {
                    c.routines[Routine::new(0)].end = 2;
                    c.routines.push(RoutineData {
                        name: String::new(),
                        first: 2,
                        end: 3,
                    });
                }),
                "L0 goes to L2, of another routine",
            ),
        ] {
            assert!(found.contains(wanted), "{found:?}, not {wanted:?}");
        }
        assert_eq!(
            code(&good(), false),
            Err("L0 gives flags to 2 successors".to_string())
        );
    }
}

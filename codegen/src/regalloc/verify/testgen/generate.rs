//! Random machine functions: control flow, calls and placement constraints. [`super::ops`]
//! generates single instructions.

use super::seen::{Coverage, Feature};
use crate::driver::policy::SPILL_ATTEMPTS;
use crate::fuzzing::Rng;
use crate::mir::liveness::{Liveness, liveness};
use crate::mir::{
    BlockData, FlagTest, MInst, RegConstraint, Routine, RoutineData, VBlock, VCode, VReg, VRegData,
    VirtReg, routines,
};
use crate::regalloc::{AllocEnv, Allocated, allocate};
use crate::target::{GrfFile, Target};
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use gantry_isa_gen::{Arf, ExecSize, Reg};
use smallvec::{SmallVec, smallvec};

/// Machine function with the resources that it may use.
pub(crate) struct MachineFunction {
    pub(crate) code: VCode,
    pub(crate) target: Target,
    /// Number of GRFs that values may use.
    pub(crate) grfs: u32,
    /// Bytes of scratch that the kernel itself uses.
    pub(crate) scratch: u32,
}

impl MachineFunction {
    /// Returns the resources for allocation.
    pub(crate) fn alloc_env(&self) -> AllocEnv<'_> {
        AllocEnv {
            target: &self.target,
            grfs: self.grfs,
            scratch: self.scratch,
            report: false,
            spill_attempts: &SPILL_ATTEMPTS,
        }
    }

    /// Computes liveness and allocates. Returns `None` if the code does not fit.
    pub(crate) fn allocated(&self) -> Option<(Liveness, Allocated)> {
        let live = liveness("k", &self.code).ok()?;
        let map = &mut Default::default();
        let done = allocate("k", self.code.clone(), live.clone(), self.alloc_env(), map).ok()?;
        Some((live, done))
    }
}

/// Distribution of register sizes.
#[derive(Clone, Copy)]
enum RegSizes {
    Small,
    Mixed,
    Wide,
}

/// Registers of a routine's parameters, results and return address.
#[derive(Clone)]
pub(super) struct RoutineInterface {
    params: Vec<VReg>,
    results: Vec<VReg>,
    link: VReg,
}

/// Generator of one function.
pub(super) struct Generator<'a> {
    pub(super) rng: &'a mut Rng,
    pub(super) seen: &'a mut Coverage,
    pub(super) grf: GrfFile,
    pub(super) splits: bool,
    /// Size of the largest registers in GRFs.
    pub(super) largest: u32,
    sizes: RegSizes,
    pub(super) vregs: PrimaryMap<VReg, VRegData>,
    pub(super) insts: Vec<MInst>,
    blocks: PrimaryMap<VBlock, BlockData>,
    /// Start of the current block.
    start: usize,
    /// Registers with a value at this point, and their bytes.
    pub(super) env: Vec<VReg>,
    /// Registers that may not be written.
    pub(super) frozen: SecondaryMap<VReg, bool>,
    /// Target of live bytes.
    want: u32,
    /// Number of instructions left to generate.
    pub(super) left: i32,
    loops: u32,
    interfaces: Vec<RoutineInterface>,
    called: Vec<bool>,
    /// Current routine.
    own: usize,
}

/// GRF files other than the target's: bytes of a GRF, and number of GRFs in units of 32.
const FILE_SHAPES: [(u32, u32); 9] = [
    (64, 4),
    (64, 2),
    (64, 3),
    (64, 5),
    (64, 8),
    (32, 2),
    (32, 3),
    (32, 5),
    (32, 8),
];

/// Generates the function of a seed.
pub(crate) fn random_function(seed: u64, seen: &mut Coverage) -> MachineFunction {
    let rng = &mut Rng::new(seed);
    let n = rng.below(3) as usize;
    seen.add([Feature::Bdw, Feature::Skl, Feature::Icllp][n]);
    let name = ["bdw", "skl", "icllp"][n];
    let mut target = Target::lookup(name).unwrap();
    if rng.one_in(3) {
        let (bytes, units) = rng.pick(&FILE_SHAPES).unwrap();
        let count = 32 * units;
        target = target.with_file(GrfFile { bytes, count });
        if bytes == 64 {
            seen.add(Feature::Wide);
        }
        match count {
            64 => seen.add(Feature::Files64),
            96 => seen.add(Feature::Files96),
            160 => seen.add(Feature::Files160),
            256 => seen.add(Feature::Files256),
            _ => {}
        }
    }
    let grf = target.grf();
    let grfs = match rng.below(2) {
        0 => grf.count,
        _ => rng.pick(&[16, 20, 24, 32, 48, 64, 96]).unwrap(),
    };
    let grfs = grfs.min(grf.count);
    if grfs < grf.count {
        seen.add(Feature::Cut);
    }
    let scratch = match rng.below(60) {
        // Slots are beyond the reach of the thread header, or some are.
        0 => rng.pick(&[130_000, 131_000, 270_000]).unwrap(),
        _ => rng.pick(&[0, 0, 64, 1000, 4000]).unwrap(),
    };
    let size = match rng.below(100) {
        0 => 200 + rng.below(400),
        1..=9 => 60 + rng.below(120),
        _ => 5 + rng.below(55),
    };
    let sizes = [RegSizes::Small, RegSizes::Mixed, RegSizes::Wide][rng.below(3) as usize];
    let limit = grfs * grf.bytes;
    // Sixteenths of the GRFs available.
    let want = limit * rng.pick(&[1, 2, 4, 8, 12, 16, 20, 28, 48]).unwrap() / 16;
    let most = if rng.one_in(40) { 32 } else { grfs / 5 };
    let mut g = Generator {
        splits: name != "bdw",
        grf,
        largest: most.clamp(1, 32),
        sizes,
        vregs: PrimaryMap::new(),
        insts: Vec::new(),
        blocks: PrimaryMap::new(),
        start: 0,
        env: Vec::new(),
        frozen: SecondaryMap::new(),
        want,
        left: size as i32,
        loops: 0,
        interfaces: Vec::new(),
        called: Vec::new(),
        own: 0,
        rng,
        seen,
    };
    let code = g.code();
    MachineFunction {
        code,
        target,
        grfs,
        scratch,
    }
}

impl Generator<'_> {
    fn code(&mut self) -> VCode {
        let payload = self.thread_payload();
        let count = if self.rng.one_in(3) {
            1 + self.rng.below(3)
        } else {
            0
        };
        for _ in 0..count {
            let interface = self.interface();
            self.interfaces.push(interface);
            self.called.push(false);
        }
        let mut routines: PrimaryMap<Routine, RoutineData> = PrimaryMap::new();
        let total = self.left;
        for n in 0..=count {
            let first = self.blocks.len() as u32;
            self.own = n as usize;
            self.left = if n == 0 { total } else { total / 3 + 2 };
            self.env = payload.clone();
            self.loops = 0;
            if n > 0 {
                let params = self.interfaces[n as usize - 1].params.clone();
                // A routine has registers for the values it reads.
                for &r in &params {
                    self.read_all(r);
                }
                self.env.extend(params);
            }
            self.routine(n as usize);
            routines.push(RoutineData {
                name: format!("routine{n}"),
                first,
                end: self.blocks.len() as u32,
            });
        }
        let mut code = VCode {
            grf: self.grf,
            insts: std::mem::take(&mut self.insts),
            locs: Default::default(),
            blocks: std::mem::take(&mut self.blocks),
            routines,
            vregs: std::mem::take(&mut self.vregs),
            flags: PrimaryMap::new(),
            labels: Vec::new(),
            label_types: Default::default(),
            lone_surfaces: 0,
            fired: Default::default(),
        };
        code.compute_preds();
        routines::keep_payload(&mut code);
        routines::keep_links(&mut code);
        code
    }

    /// Creates the registers of the thread payload.
    fn thread_payload(&mut self) -> Vec<VReg> {
        let grf = self.grf.bytes;
        let mut out = vec![self.vregs.push(VRegData {
            bytes: grf,
            align: grf,
            constraint: RegConstraint::Fixed(0),
            value: None.into(),
        })];
        let mut at = if self.rng.one_in(8) { 20 } else { grf };
        for _ in 0..self.rng.below(6) {
            if self.rng.one_in(6) && at > grf {
                self.seen.add(Feature::FixedOver);
                at -= grf.min(at - grf);
            }
            let bytes = match self.rng.below(4) {
                0 => grf * (1 + self.rng.below(3)),
                _ => 1 << self.rng.below(5),
            };
            let align = self.grf.natural_align(bytes);
            at = at.next_multiple_of(align);
            if at + bytes > 12 * grf {
                break;
            }
            self.seen.add(Feature::Fixed);
            out.push(self.vregs.push(VRegData {
                bytes,
                align,
                constraint: RegConstraint::Fixed(at),
                value: None.into(),
            }));
            at += bytes;
        }
        for &r in &out {
            self.frozen[r] = true;
        }
        out
    }

    fn interface(&mut self) -> RoutineInterface {
        let some = |g: &mut Self| -> Vec<VReg> {
            let n = g.rng.below(4);
            (0..n).map(|_| g.some_reg()).collect()
        };
        let (params, results) = (some(self), some(self));
        let link = self.vregs.push(VRegData {
            bytes: 8,
            align: self.grf.bytes,
            constraint: RegConstraint::Any,
            value: None.into(),
        });
        for &r in params.iter().chain([&link]) {
            self.frozen[r] = true;
        }
        RoutineInterface {
            params,
            results,
            link,
        }
    }

    /// Creates a register of random size.
    pub(super) fn some_reg(&mut self) -> VReg {
        let grf = self.grf.bytes;
        let bytes = match (self.sizes, self.rng.below(8)) {
            (RegSizes::Small, 0..=6) | (RegSizes::Mixed, 0..=2) | (RegSizes::Wide, 0) => {
                match self.rng.below(6) {
                    0 => 1,
                    1 => 2 + self.rng.below(6),
                    2 => 1 + self.rng.below(grf),
                    _ => 1 << self.rng.below(6),
                }
            }
            (RegSizes::Wide, 4..) => grf * (1 + self.rng.below(self.largest)),
            _ if self.rng.one_in(6) => grf + 1 + self.rng.below(2 * grf),
            _ => grf * (1 + self.rng.below(4)),
        };
        self.reg(bytes.min(grf * self.largest))
    }

    /// Creates a register of a size.
    pub(super) fn reg(&mut self, bytes: u32) -> VReg {
        let grf = self.grf.bytes;
        let natural = self.grf.natural_align(bytes);
        let mut align = natural;
        match self.rng.below(8) {
            0 if natural < grf => align = natural << (1 + self.rng.below((grf / natural).ilog2())),
            // Registers of messages start at a GRF.
            1 if !bytes.is_multiple_of(grf) && natural > 1 => {
                align = natural >> (1 + self.rng.below(natural.ilog2()));
            }
            _ => {}
        }
        self.seen.add(match align.cmp(&natural) {
            std::cmp::Ordering::Less => Feature::Less,
            std::cmp::Ordering::Equal => Feature::Natural,
            std::cmp::Ordering::Greater => Feature::More,
        });
        self.seen.add(match (bytes, bytes.div_ceil(grf)) {
            (1, _) => Feature::Bytes1,
            (2..=7, _) => Feature::Bytes7,
            (b, _) if b == grf => Feature::BytesGrf,
            (_, 1) => Feature::BytesPart,
            (_, 2) => Feature::Grfs2,
            (_, 3..=8) => Feature::Grfs8,
            (_, 9..=31) => Feature::Grfs31,
            _ => Feature::Grfs32,
        });
        self.vregs.push(VRegData {
            bytes,
            align,
            constraint: RegConstraint::Any,
            value: None.into(),
        })
    }

    /// Ends the current block and returns it.
    fn end(&mut self, last: MInst, succs: &[VBlock]) -> VBlock {
        self.insts.push(last);
        let end = self.insts.len();
        let start = std::mem::replace(&mut self.start, end);
        self.blocks.push(BlockData {
            start,
            end,
            succs: SmallVec::from_slice(succs),
            ..BlockData::default()
        })
    }

    /// Returns the next block if none is started.
    fn next(&self) -> VBlock {
        VBlock::new(self.blocks.len())
    }

    fn branch(&mut self) -> MInst {
        if self.rng.one_in(8) {
            self.seen.add(Feature::Exec);
            return MInst::BranchExec {
                none_first: self.rng.one_in(2),
                exec: ExecSize::S16,
            };
        }
        if self.rng.one_in(8) {
            self.seen.add(Feature::Table);
            let distance = self.distance();
            return MInst::JumpTable { distance };
        }
        MInst::Branch {
            flag: VirtReg::phys(Reg::Arf(Arf::Flag, 0)),
            sub: 0,
            test: FlagTest::ONE,
        }
    }

    /// Returns a register with the distance of a jump table.
    fn distance(&mut self) -> VReg {
        let dword = |r: &&VReg| self.vregs[**r].bytes == 4 && self.vregs[**r].align >= 4;
        let all: Vec<VReg> = self.env.iter().filter(dword).copied().collect();
        if let Some(r) = self.rng.pick(&all)
            && !self.rng.one_in(4)
        {
            return r;
        }
        let r = self.vregs.push(VRegData::anywhere(4, self.grf));
        self.begin(r);
        if self.rng.one_in(2) {
            self.env.push(r);
        }
        r
    }

    /// Continues after blocks that jump here.
    fn join(&mut self, from: &[VBlock]) {
        let here = self.next();
        for &b in from {
            self.blocks[b].succs = smallvec![here];
        }
    }

    fn routine(&mut self, n: usize) {
        if n == 0 && self.rng.one_in(2) {
            // Values that are live throughout.
            for _ in 0..self.rng.below(4) {
                self.make();
            }
        }
        self.seq(0);
        // Each routine is called at least by the previous one.
        if n < self.interfaces.len() && !self.called[n] {
            self.call(n);
        }
        let blocks = self.blocks.len();
        self.close(&[]);
        if blocks == 0 {
            self.seen.add(Feature::Straight);
        }
        match n {
            0 if self.rng.one_in(60) => {
                self.seen.add(Feature::Endless);
                self.endless();
            }
            0 => self.end_thread(),
            _ if self.rng.one_in(25) => {
                self.seen.add(Feature::NeverReturns);
                if self.rng.one_in(3) {
                    self.end_thread()
                } else {
                    self.endless()
                }
            }
            _ => self.return_from(n),
        }
    }

    /// Generates a loop without exit.
    fn endless(&mut self) {
        let head = self.next();
        let entry = self.end(MInst::Jump, &[]);
        let body = self.next();
        self.blocks[entry].succs = smallvec![VBlock::new(head.index() + 1)];
        self.left = self.left.max(4);
        self.op();
        self.op();
        self.end(MInst::Jump, &[body]);
    }

    fn end_thread(&mut self) {
        let first = self.grf.count - 16;
        let grf = self.grf.bytes;
        self.seen.add(Feature::AtLeast);
        let payload = self.vregs.push(VRegData {
            bytes: grf,
            align: grf,
            constraint: RegConstraint::AtLeast(first * grf),
            value: None.into(),
        });
        let src = VReg::new(0);
        self.insts.push(MInst::Copy { dst: payload, src });
        self.end(MInst::EndThread { payload }, &[]);
    }

    fn return_from(&mut self, n: usize) {
        let own = self.interfaces[n - 1].clone();
        for &dst in &own.results {
            self.assign(dst);
        }
        for &reg in &own.results {
            self.insts.push(MInst::Touch { reg, write: false });
        }
        let exec = ExecSize::S16;
        self.end(
            MInst::Return {
                link: own.link,
                exec,
            },
            &[],
        );
    }

    /// Writes a register: a copy of another one, or a new value.
    fn assign(&mut self, dst: VReg) {
        let bytes = self.vregs[dst].bytes;
        let same = |r: &&VReg| self.vregs[**r].bytes == bytes && **r != dst;
        let all: Vec<VReg> = self.env.iter().filter(same).copied().collect();
        match self.rng.pick(&all) {
            Some(src) if !self.rng.one_in(8) => {
                self.seen.add(Feature::Copy);
                self.insts.push(MInst::Copy { dst, src });
            }
            _ => self.begin(dst),
        }
    }

    /// Generates instructions and nested control flow up to a depth.
    fn seq(&mut self, depth: u32) {
        let share = if depth == 0 {
            self.left
        } else {
            1 + self.rng.below((self.left / 2).clamp(1, 40) as u32) as i32
        };
        let stop = self.left - share;
        while self.left > stop.max(0) {
            match self.rng.below(20) {
                0 | 1 if depth < 4 && self.left > 6 => self.shape(depth + 1),
                2 if self.own < self.interfaces.len() => {
                    let rest = (self.interfaces.len() - self.own) as u32;
                    let callee = self.own + self.rng.below(rest) as usize;
                    self.call(callee);
                }
                _ => self.op_or_value(),
            }
        }
    }

    fn op_or_value(&mut self) {
        let live: u32 = self.env.iter().map(|r| self.vregs[*r].bytes).sum();
        if live < self.want && self.rng.below(8) < 5 {
            return self.make();
        }
        if live > self.want + self.want / 4
            && let Some(n) = self.unfrozen()
        {
            let r = self.env.remove(n);
            self.read_all(r);
        }
        self.op();
    }

    /// Returns the index in `env` of a register that may be dropped.
    fn unfrozen(&mut self) -> Option<usize> {
        let n = self.rng.below(self.env.len() as u32) as usize;
        self.env.get(n).filter(|r| !self.frozen[**r]).map(|_| n)
    }

    /// Reads some or all values of a scope and drops them. `outer` has the values from before the
    /// scope.
    fn close(&mut self, outer: &[VReg]) {
        for r in std::mem::replace(&mut self.env, outer.to_vec()) {
            if !self.frozen[r] && !outer.contains(&r) && !self.rng.one_in(4) {
                self.read_all(r);
            }
        }
    }

    fn shape(&mut self, depth: u32) {
        match self.rng.below(5) {
            0 => self.arms(depth, false),
            1 => self.arms(depth, true),
            2 => self.looping(depth, true),
            3 => self.looping(depth, false),
            _ => self.left_loop(depth),
        }
    }

    /// Creates registers that both sides of a branch write.
    fn phis(&mut self) -> Vec<VReg> {
        let n = self.rng.below(3);
        let all: Vec<u32> = (0..n)
            .map(|_| match self.rng.pick(&self.env) {
                Some(r) if !self.rng.one_in(4) => self.vregs[r].bytes,
                _ => 4,
            })
            .collect();
        all.into_iter().map(|bytes| self.reg(bytes)).collect()
    }

    fn arms(&mut self, depth: u32, one: bool) {
        let phis = self.phis();
        let last = self.branch();
        let scope = self.env.clone();
        let others = match last {
            MInst::JumpTable { .. } => 1 + self.rng.below(6),
            _ => 1,
        };
        let head = self.end(last, &[]);
        let then = self.next();
        self.seq(depth);
        let early = self.own == 0 && self.rng.one_in(10);
        let many = self.own > 0 && self.rng.one_in(4);
        phis.iter().for_each(|r| self.assign(*r));
        self.close(&scope);
        let mut from = Vec::new();
        if early {
            self.seen.add(Feature::EndEarly);
            self.end_thread();
        } else if many {
            self.seen.add(Feature::Returns);
            self.return_from(self.own);
        } else {
            from.push(self.end(MInst::Jump, &[]));
        }
        self.seen
            .add(if one { Feature::Arm } else { Feature::Diamond });
        let mut succs = smallvec![then];
        for n in 0..others {
            succs.push(self.next());
            if !one || n > 0 {
                self.seq(depth);
            }
            phis.iter().for_each(|r| self.assign(*r));
            self.close(&scope);
            from.push(self.end(MInst::Jump, &[]));
        }
        if self.rng.one_in(2) {
            succs.reverse();
        }
        self.blocks[head].succs = succs;
        self.join(&from);
        self.env.extend(phis);
    }

    /// Creates loop-carried registers with initial values.
    fn carried(&mut self) -> Vec<VReg> {
        let phis = self.phis();
        for &r in &phis {
            self.seen.add(Feature::Carried);
            self.assign(r);
        }
        phis
    }

    fn looping(&mut self, depth: u32, test_first: bool) {
        let carried = self.carried();
        let before = self.end(MInst::Jump, &[]);
        self.join(&[before]);
        let head = self.next();
        self.loops += 1;
        if self.loops > 1 {
            self.seen.add(Feature::Nested);
        }
        self.env.extend(carried.iter().copied());
        let scope = self.env.clone();
        self.seq(depth);
        if test_first {
            self.seen.add(Feature::While);
            let last = self.branch();
            let test = self.end(last, &[]);
            // Values of the test's block are live after the loop.
            let inner = self.env.clone();
            let body = self.next();
            self.seq(depth);
            carried.iter().for_each(|r| self.assign(*r));
            self.close(&inner);
            self.end(MInst::Jump, &[head]);
            let out = self.next();
            self.blocks[test].succs = smallvec![body, out];
        } else {
            self.seen.add(Feature::Until);
            let last = self.branch();
            let test = self.end(last, &[]);
            let back = self.next();
            carried.iter().for_each(|r| self.assign(*r));
            self.end(MInst::Jump, &[head]);
            let out = self.next();
            self.blocks[test].succs = if self.rng.one_in(2) {
                smallvec![back, out]
            } else {
                smallvec![out, back]
            };
        }
        self.loops -= 1;
        if self.rng.one_in(2) {
            self.close(&scope);
        }
    }

    /// Generates a loop with another exit in its middle.
    fn left_loop(&mut self, depth: u32) {
        self.seen.add(Feature::Break);
        let (carried, phis) = (self.carried(), self.phis());
        let before = self.end(MInst::Jump, &[]);
        self.join(&[before]);
        let head = self.next();
        self.loops += 1;
        self.env.extend(carried.iter().copied());
        self.seq(depth);
        let scope = self.env.clone();
        let last = self.branch();
        let middle = self.end(last, &[]);
        let left = self.next();
        phis.iter().for_each(|r| self.assign(*r));
        self.close(&scope);
        let left_end = self.end(MInst::Jump, &[]);
        let on = self.next();
        self.blocks[middle].succs = smallvec![left, on];
        self.seq(depth);
        let last = self.branch();
        let test = self.end(last, &[]);
        let back = self.next();
        carried.iter().for_each(|r| self.assign(*r));
        self.end(MInst::Jump, &[head]);
        let done = self.next();
        phis.iter().for_each(|r| self.assign(*r));
        self.close(&scope);
        let done_end = self.end(MInst::Jump, &[]);
        self.blocks[test].succs = smallvec![back, done];
        self.join(&[left_end, done_end]);
        self.loops -= 1;
        self.env.extend(phis);
    }

    fn call(&mut self, callee: usize) {
        self.left -= 2;
        let i = self.interfaces[callee].clone();
        self.called[callee] = true;
        self.seen.add(Feature::Call);
        if self.loops > 0 {
            self.seen.add(Feature::CallInLoop);
        }
        if self.own > 0 {
            self.seen.add(Feature::CallOfCall);
        }
        if self.env.iter().any(|r| !self.frozen[*r]) {
            self.seen.add(Feature::Across);
        }
        for &dst in &i.params {
            self.assign(dst);
        }
        let env = self.env.clone();
        let placed = self.rng.pick(&env).filter(|_| self.rng.one_in(6));
        if let Some(base) = placed {
            self.seen.add(Feature::InPlace);
            let dst = self.vregs.push(VRegData::anywhere(2, self.grf));
            self.insts.push(MInst::RegAddress {
                dst,
                base,
                offset: 0,
                index: None,
            });
            let (reg, write) = (dst, false);
            self.insts.push(MInst::Touch { reg, write });
        }
        for &reg in &i.params {
            self.insts.push(MInst::Touch { reg, write: false });
        }
        self.insts.push(MInst::Call {
            routine: Routine::new(callee + 1),
            link: i.link,
            exec: ExecSize::S16,
        });
        for &dst in &i.results {
            self.insts.push(MInst::Start { dst });
        }
        if let Some(reg) = placed {
            self.insts.push(MInst::Touch { reg, write: false });
        }
        for &src in &i.results {
            if self.rng.one_in(5) {
                continue;
            }
            let dst = self.vregs.push(VRegData {
                constraint: RegConstraint::Any,
                ..self.vregs[src]
            });
            self.insts.push(MInst::Copy { dst, src });
            self.env.push(dst);
        }
    }
}

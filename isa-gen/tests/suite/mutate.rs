//! Tests with random mutations of legal instructions: on each platform some mutation violates every
//! rule, and is reported.

use gantry_isa_gen::fuzz::Rng;
use gantry_isa_gen::message::{
    AddrModel, BlockUnit, Cache, Dir, LscAccess, LscAddr, LscCaching, LscData, LscOp, LscPort,
    LscSurface, LscVector, Message, MsgOp, Rgba, Sfid, Simd, Surface,
};
use gantry_isa_gen::op::{Format, TypeSet};
use gantry_isa_gen::swsb::{Distance, Pipe, Swsb, Token, TokenKind};
use gantry_isa_gen::{
    Arf, ChannelOffset, Cond, CondMod, Desc, Dst, ExecSize, Inst, InstOpts, MathFn, Op, Platform,
    PredCtrl, Predicate, Reg, RegRef, Region, SendDescs, Src, SrcMods, Subfn, SyncFn, Target, Type,
    legal,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of mutants of a platform.
const MUTANTS: u32 = 30_000_000;

struct MutationGenerator {
    rng: Rng,
    platform: Platform,
}

impl MutationGenerator {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        self.rng.pick(of).unwrap()
    }

    fn once_in(&mut self, n: u64) -> bool {
        self.rng.once_in(n)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.rng.below(n)
    }

    fn exec(&mut self) -> ExecSize {
        ExecSize::from_log2(self.below(6) as u8).unwrap()
    }

    fn flag(&mut self) -> RegRef<Reg> {
        let n = if self.once_in(8) { 4 } else { self.below(2) };
        RegRef::new(Reg::Arf(Arf::Flag, n as u8), self.pick(&[0, 0, 0, 2]))
    }

    fn arf(&mut self) -> Reg {
        let kinds = [
            Arf::Null,
            Arf::Acc,
            Arf::Acc,
            Arf::Acc,
            Arf::Address,
            Arf::Flag,
            Arf::Control,
            Arf::Notification,
        ];
        let kind = self.pick(&kinds);
        Reg::Arf(kind, if self.once_in(20) { 12 } else { 0 })
    }

    fn reg(&mut self) -> Reg {
        if self.once_in(4) {
            return self.arf();
        }
        let most = if self.once_in(20) { 256 } else { 120 };
        Reg::Grf(self.below(most) as u8)
    }

    fn sub(&mut self, ty: Type) -> u16 {
        let grf = u64::from(self.platform.features().grf_bytes);
        match self.below(40) {
            0 => self.below(2 * grf) as u16,
            1..10 => (self.below(grf) as u16) / ty.bytes() as u16 * ty.bytes() as u16,
            10..16 => self.pick(&[grf as u16 / 2, 16]),
            _ => 0,
        }
    }

    fn at(&mut self, ty: Type) -> RegRef<Reg> {
        RegRef::new(self.reg(), self.sub(ty))
    }

    fn address(&mut self) -> (RegRef<Reg>, i16) {
        let reg = if self.once_in(10) {
            Reg::Grf(3)
        } else {
            Reg::Arf(Arf::Address, 0)
        };
        let imm = if self.once_in(10) { 600 } else { 16 };
        (RegRef::new(reg, self.below(16) as u16 * 2), imm)
    }

    fn ty(&mut self) -> Type {
        self.pick(&Type::ALL)
    }

    fn of(&mut self, set: TypeSet) -> Type {
        let types: Vec<Type> = set.iter().collect();
        self.pick(&types)
    }

    fn stride(&mut self) -> u8 {
        self.pick(&[1, 1, 1, 2, 4])
    }

    fn rect(&mut self, exec: ExecSize) -> Region {
        let n = exec.channels().min(16) as u8;
        match self.below(24) {
            0 => Region::rect(3, 1, 0),
            1..4 => Region::SCALAR,
            4..8 => Region::packed(exec),
            8 => Region::rect(1, 1, 0),
            9 => Region::rect(2, 1, 0),
            10 => Region::rect(4, 1, 0),
            11 => Region::rect(n, n, 1),
            _ => {
                let vs = self.pick(&[0, 1, 2, 4, 8, 16, 32]);
                let w = self.pick(&[1, 2, 4, 8, 16]);
                Region::rect(vs, w, self.pick(&[0, 1, 2, 4]))
            }
        }
    }

    fn region(&mut self, ternary: bool, last: bool, exec: ExecSize) -> Region {
        if self.once_in(60) {
            return Region::VxH {
                w: self.pick(&[1, 2, 4]),
                hs: 0,
            };
        }
        if ternary != self.once_in(60) {
            return if last {
                Region::Scalar3 {
                    hs: self.pick(&[0, 1, 1, 2, 4]),
                }
            } else {
                let of = [(0, 0), (2, 1), (1, 0), (2, 0), (8, 1), (4, 1), (8, 2)];
                let (vs, hs) = self.pick(&of);
                Region::Ternary { vs, hs }
            };
        }
        self.rect(exec)
    }

    fn mods(&mut self) -> SrcMods {
        SrcMods {
            neg: self.once_in(6),
            abs: self.once_in(8),
        }
    }

    fn immediate(&mut self, ty: Type) -> Src<Reg> {
        let ty = match ty {
            Type::F if self.once_in(4) => Type::Vf,
            Type::W if self.once_in(3) => Type::V,
            Type::Uw if self.once_in(3) => Type::Uv,
            t => t,
        };
        let bits = if self.once_in(30) { 1 << 40 } else { 3 };
        Src::Imm { bits, ty }
    }

    fn src(&mut self, i: &Inst<Reg>, n: usize, ty: Type) -> Src<Reg> {
        let format = i.op.info(self.platform).map(|i| i.format);
        let ternary = format == Some(Format::Ternary);
        let mods = self.mods();
        match self.below(12) {
            0 => self.immediate(ty),
            1 => {
                let (addr, imm) = self.address();
                let region = if self.once_in(3) {
                    Region::VxH {
                        w: self.pick(&[1, 1, 4]),
                        hs: 0,
                    }
                } else {
                    self.region(ternary, n == 2, i.exec)
                };
                Src::Indirect {
                    addr,
                    imm,
                    region,
                    ty,
                    mods,
                }
            }
            _ => Src::Direct {
                at: self.at(ty),
                region: self.region(ternary, n == 2, i.exec),
                ty,
                mods,
            },
        }
    }

    fn dst(&mut self, ty: Type) -> Dst<Reg> {
        let hs = self.stride();
        if self.once_in(16) {
            let (addr, imm) = self.address();
            return Dst::Indirect { addr, imm, hs, ty };
        }
        let at = self.at(ty);
        Dst::Direct { at, hs, ty }
    }

    fn swsb(&mut self) -> Swsb {
        let token = |d: &mut MutationGenerator| Token {
            sbid: d.below(40) as u8,
            kind: d.pick(&[TokenKind::Set, TokenKind::Dst, TokenKind::Src]),
        };
        let distance = |d: &mut MutationGenerator| Distance {
            pipe: d.pick(&Pipe::ALL),
            n: d.below(9) as u8,
        };
        Swsb {
            distance: self.once_in(2).then(|| distance(self)),
            token: self.once_in(2).then(|| token(self)),
        }
    }

    fn pred(&mut self) -> Predicate<Reg> {
        let ctrl = [
            PredCtrl::Sequential,
            PredCtrl::Sequential,
            PredCtrl::AnyV,
            PredCtrl::AnyH(4),
            PredCtrl::AllH(8),
        ];
        Predicate {
            flag: self.flag(),
            inverse: self.once_in(2),
            ctrl: self.pick(&ctrl),
        }
    }

    fn cond(&mut self) -> CondMod<Reg> {
        CondMod {
            cond: self.pick(&[Cond::Eq, Cond::Lt, Cond::Ov, Cond::Un, Cond::Eo]),
            flag: self.flag(),
        }
    }

    /// Generates a payload of whole registers, often near the end of the GRF file.
    fn payload(&mut self, ty: Type) -> Src<Reg> {
        let near = self.pick(&[10, 12, 112, 120, 126, 127, 254]);
        let n = near.min(self.platform.features().grf_count_large - 1);
        Src::Direct {
            at: RegRef::new(Reg::Grf(n as u8), 0),
            region: Region::SCALAR,
            ty,
            mods: SrcMods::default(),
        }
    }

    fn subfn(&mut self) -> Subfn {
        match self.below(7) {
            0 => Subfn::None,
            1 => Subfn::Math(self.pick(&MathFn::ALL)),
            2 => Subfn::Sync(self.pick(&SyncFn::ALL)),
            3 => Subfn::Send(Sfid::new(self.pick(&[10, 13, 14, 15])).unwrap()),
            4 => Subfn::Bfn(0xca),
            5 => Subfn::Dpas {
                depth: self.pick(&[8, 8, 4]),
                repeat: self.below(10) as u8,
            },
            _ => Subfn::BranchCtrl(true),
        }
    }

    fn descs(&mut self) -> SendDescs {
        let mut reg = || {
            let reg = self.pick(&[Reg::Arf(Arf::Address, 0), Reg::Grf(4)]);
            Desc::Reg(RegRef::new(reg, self.pick(&[0, 2, 4])))
        };
        let (a, b) = (reg(), reg());
        let desc = (self.below(6) as u32) << 25 | (self.below(4) as u32) << 20;
        let lsc = (self.below(2) as u32) << 15 | self.below(6) as u32;
        SendDescs {
            ex: if self.once_in(3) {
                a
            } else {
                Desc::Imm((self.below(4) as u32) << 6 | 0xa)
            },
            desc: if self.once_in(3) {
                b
            } else {
                Desc::Imm(desc | lsc)
            },
            src1_len: self.once_in(2).then_some(self.rng.below(4) as u8),
        }
    }

    /// Generates the descriptors of a valid message.
    fn message(&mut self, i: &mut Inst<Reg>) -> Option<()> {
        let dir = self.pick(&[Dir::Read, Dir::Write]);
        let ops = [
            MsgOp::Untyped {
                dir,
                addr: AddrModel::A32(Surface::Bti(3)),
                rgba: Rgba::first(2)?,
                simd: Simd::S8,
            },
            MsgOp::Block {
                dir,
                addr: AddrModel::A32(Surface::Bti(3)),
                unit: BlockUnit::Oword,
                count: 2,
                cache: Cache::Data,
            },
            MsgOp::Lsc(LscAccess {
                port: LscPort::Ugm,
                op: match dir {
                    Dir::Read => LscOp::Load,
                    Dir::Write => LscOp::Store,
                },
                data: LscData::D32,
                vector: LscVector::Count {
                    n: 4,
                    transposed: false,
                },
                addr: LscAddr::A64,
                surface: LscSurface::Flat,
                caching: LscCaching::DEFAULT,
            }),
        ];
        let op = self.pick(&ops);
        i.exec = ExecSize::S8;
        let split = i.op.info(self.platform)?.format != Format::Send;
        let message = if split {
            Message::split_for(self.platform, op, 8)
        } else {
            Message::new(self.platform, op)
        };
        let bits = message.bits(self.platform).ok()?;
        let features = self.platform.features();
        if features.unified_send {
            i.subfn = Subfn::Send(bits.sfid);
        }
        i.opts.remove(InstOpts::EOT);
        i.send = Some(SendDescs {
            ex: Desc::Imm(bits.ex_desc(self.platform)),
            desc: Desc::Imm(bits.desc),
            src1_len: features.lsc.then_some(bits.src1_len),
        });
        Some(())
    }

    /// Generates a random instruction of an opcode, legal or not.
    fn form(&mut self, op: Op) -> Option<Inst<Reg>> {
        let info = op.info(self.platform)?;
        let mut i = Inst::new(op, self.exec());
        let sources = match info.format {
            Format::Math => {
                let f = self.pick(&MathFn::ALL);
                i.subfn = Subfn::Math(f);
                usize::from(f.sources())
            }
            f => usize::from(f.sources()),
        };
        i.no_mask = self.once_in(2) || info.format == Format::Jmpi;
        if info.pred && self.once_in(4) || op == Op::Sel && self.once_in(2) {
            i.pred = Some(self.pred());
        }
        if info.cond && self.once_in(4) || matches!(op, Op::Cmp | Op::Cmpn | Op::Csel) {
            i.cond = Some(self.cond());
        }
        i.sat = info.sat && self.once_in(6);
        if matches!(op, Op::Bfn | Op::Dpas | Op::Dpasw | Op::Sync) || info.format.is_send() {
            i.subfn = self.subfn();
        }
        if info.format.is_send() {
            i.send = Some(self.descs());
            i.opts.set(InstOpts::EOT, self.once_in(4));
            if self.once_in(2) {
                self.message(&mut i)?;
            }
        }
        let combos = match i.subfn {
            Subfn::Math(f) => f.info()?.types,
            _ => info.types,
        };
        let is_macro = info.mme || matches!(i.subfn, Subfn::Math(f) if f.is_macro());
        let (d, s) = self.rng.pick(combos).unwrap_or((
            TypeSet::of(&[Type::Ud, Type::D]),
            TypeSet::of(&[Type::Ud, Type::D]),
        ));
        let mut src_ty = self.of(s);
        if info.format.has_dst() {
            let ty = self.of(d);
            i.dst = self.dst(ty);
            if is_macro {
                i.dst = Dst::Macro {
                    at: RegRef::new(Reg::Grf(7), 0),
                    mme: 2,
                    ty,
                };
            }
        }
        if let (true, Dst::Direct { at, hs, .. }) = (
            info.format.is_send() || info.format == Format::Dpas,
            &mut i.dst,
        ) {
            at.sub = 0;
            *hs = 1;
            if let (false, Src::Direct { at: whole, .. }) =
                (at.reg.is_null(), self.payload(Type::Ud))
            {
                at.reg = whole.reg;
            }
        }
        if info.format == Format::Dpas {
            i.exec = ExecSize::new(self.platform.features().grf_bytes / 4)?;
            i.subfn = Subfn::Dpas {
                depth: 8,
                repeat: self.pick(&[1, 4, 8]),
            };
        }
        for n in 0..sources {
            if self.once_in(3) {
                src_ty = self.of(s);
            }
            let whole = info.format.is_send() || info.format == Format::Dpas;
            let s = if whole {
                self.payload(src_ty)
            } else if info.format.is_branch() && info.format != Format::Ret {
                Src::Target(Target::Rel(self.below(40) as i32 * 8))
            } else if is_macro {
                Src::Macro {
                    at: RegRef::new(Reg::Grf(9), 0),
                    mme: 3,
                    ty: src_ty,
                    mods: SrcMods::default(),
                }
            } else if info.format == Format::Wait {
                Src::Direct {
                    at: RegRef::new(Reg::Arf(Arf::Notification, 0), 0),
                    region: Region::SCALAR,
                    ty: src_ty,
                    mods: SrcMods::default(),
                }
            } else {
                self.src(&i, n, src_ty)
            };
            i.srcs[n] = s;
        }
        if self.platform.features().swsb && self.once_in(3) {
            i.swsb = self.swsb();
        }
        Some(i)
    }

    /// Changes a part of the instruction.
    fn mutate(&mut self, i: &Inst<Reg>) -> Inst<Reg> {
        let mut i = *i;
        let n = self.below(3) as usize;
        match self.below(28) {
            0 => i.exec = self.exec(),
            1 => i.offset = ChannelOffset::new(self.below(8) as u32 * 4).unwrap(),
            2 => i.pred = self.once_in(5).then(|| self.pred()).or(i.pred.xor(None)),
            3 => i.pred = Some(self.pred()),
            4 => i.cond = Some(self.cond()),
            5 => (i.pred, i.cond) = (None, None),
            6 => i.sat = !i.sat,
            7 => i.opts ^= InstOpts::from_bits_truncate(1 << self.below(14)),
            8 => i.subfn = self.subfn(),
            9 => i.op = self.pick(&Op::ALL),
            10 => i.no_mask = !i.no_mask,
            11 => i.swsb = self.swsb(),
            12 => {
                i.send = if self.once_in(4) {
                    None
                } else {
                    Some(self.descs())
                }
            }
            13 => {
                let ty = i.dst.ty().unwrap_or(Type::D);
                i.dst = if self.once_in(8) {
                    Dst::None
                } else {
                    self.dst(ty)
                };
            }
            14 => {
                let ty = self.ty();
                match &mut i.dst {
                    Dst::Direct { ty: t, .. } | Dst::Indirect { ty: t, .. } => *t = ty,
                    _ => {}
                }
            }
            15 => {
                if let Dst::Direct { hs, .. } = &mut i.dst {
                    *hs = self.pick(&[0, 1, 2, 3, 4]);
                }
            }
            16 => {
                if let Dst::Direct { at, ty, .. } = &mut i.dst {
                    at.sub = self.sub(*ty);
                }
            }
            17 => {
                if let Src::Direct { at, ty, .. } = &mut i.srcs[n] {
                    at.sub = self.sub(*ty);
                }
            }
            18 => {
                let (ty, exec) = (self.ty(), i.exec);
                if let Src::Direct { ty: t, region, .. } = &mut i.srcs[n] {
                    if self.once_in(2) {
                        *region = self.rect(exec);
                    }
                    *t = ty;
                }
            }
            19 => {
                let region = self.region(self.pick_ternary(&i), n == 2, i.exec);
                match &mut i.srcs[n] {
                    Src::Direct { region: r, .. } | Src::Indirect { region: r, .. } => *r = region,
                    _ => {}
                }
            }
            20 => {
                if let Src::Direct { mods, .. } = &mut i.srcs[n] {
                    *mods = self.mods();
                }
            }
            21 => {
                let rel = [4, 12, 1 << 21, -16];
                i.srcs[n] = Src::Target(Target::Rel(self.pick(&rel)));
            }
            22 => i.srcs[n] = Src::None,
            25 => {
                if let Some(SendDescs {
                    desc: Desc::Imm(d), ..
                }) = &mut i.send
                {
                    *d ^= 1 << self.below(29);
                }
            }
            // Repeats a register.
            24 => {
                let from = match (i.srcs[0], i.dst) {
                    (_, Dst::Direct { at, .. }) if n == 0 => Some(at.reg),
                    (Src::Direct { at, .. }, _) => Some(at.reg),
                    _ => None,
                };
                if let (Some(reg), Src::Direct { at, .. }) = (from, &mut i.srcs[n]) {
                    at.reg = reg;
                }
            }
            23 => {
                let reg = self.reg();
                if let Src::Direct { at, .. } = &mut i.srcs[n] {
                    at.reg = reg;
                }
            }
            _ => {
                let ty = i.srcs[n].ty().unwrap_or(Type::D);
                i.srcs[n] = self.src(&i, n, ty);
            }
        }
        i
    }

    fn pick_ternary(&self, i: &Inst<Reg>) -> bool {
        i.op.info(self.platform)
            .is_some_and(|i| i.format == Format::Ternary)
    }
}

/// Returns the rules that mutants violate, and the numbers of legal instructions and mutants.
fn broken(platform: Platform, seed: u64) -> (BTreeMap<&'static str, u32>, u32, u32) {
    let mut generator = MutationGenerator {
        rng: Rng::new(seed ^ (platform as u64) << 32),
        platform,
    };
    let wanted = legal::rules().filter(|r| r.applies_to(platform)).count();
    let mut found: BTreeMap<&'static str, u32> = BTreeMap::new();
    let (mut legal, mut mutants) = (0, 0);
    let mut good: Option<Inst<Reg>> = None;
    let ops: Vec<Op> = Op::ALL
        .into_iter()
        .filter(|o| o.info(platform).is_some())
        .collect();
    // Rare opcodes have many rules of their own.
    let rare: Vec<Op> = ops
        .iter()
        .copied()
        .filter(|o| {
            let format = o.info(platform).map(|i| i.format);
            format.is_some_and(|f| f.is_send() || matches!(f, Format::Dpas | Format::Ternary))
        })
        .collect();
    while mutants < MUTANTS && found.len() < wanted {
        // Legal mutants are mutated further, for violations that need two steps.
        let seed = match good {
            Some(i) if !generator.once_in(20) => i,
            _ => {
                let op = if generator.once_in(3) {
                    generator.pick(&rare)
                } else {
                    generator.pick(&ops)
                };
                match generator.form(op) {
                    Some(i) if legal::is_legal(platform, &i) => {
                        legal += 1;
                        i
                    }
                    _ => continue,
                }
            }
        };
        let mutant = generator.mutate(&seed);
        mutants += 1;
        let findings = legal::check(platform, &mutant);
        assert_eq!(findings.is_empty(), legal::is_legal(platform, &mutant));
        good = Some(if findings.is_empty() { mutant } else { seed });
        for f in findings {
            assert!(f.rule.applies_to(platform));
            *found.entry(f.rule.name).or_default() += 1;
        }
    }
    (found, legal, mutants)
}

#[test]
fn mutants_violate_every_rule() {
    let seed = std::env::var("GANTRY_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(7);
    println!("seed {seed} (GANTRY_SEED)");
    let mut never: BTreeSet<&str> = legal::rules().map(|r| r.name).collect();
    let mut missing = Vec::new();
    for platform in Platform::ALL {
        let (found, legal, mutants) = broken(platform, seed);
        never.retain(|r| !found.contains_key(r));
        let applies: Vec<&str> = legal::rules()
            .filter(|r| r.applies_to(platform))
            .map(|r| r.name)
            .collect();
        let not: Vec<&str> = applies
            .iter()
            .filter(|r| !found.contains_key(**r))
            .copied()
            .collect();
        println!(
            "{platform}: {} of {} rules broken by {mutants} mutants of {legal} legal instructions and of mutants{}",
            applies.len() - not.len(),
            applies.len(),
            if not.is_empty() {
                String::new()
            } else {
                format!("; not {not:?}")
            }
        );
        missing.extend(not.into_iter().map(|r| (platform, r)));
    }
    assert!(never.is_empty(), "broken by no mutant: {never:?}");
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn rules_have_unique_names_and_hints() {
    let mut names = BTreeSet::new();
    for r in legal::rules() {
        assert!(names.insert(r.name), "{} is not unique", r.name);
        assert!(!r.text.is_empty() && !r.text.ends_with('.'), "{}", r.name);
        assert!(!r.hint.is_empty() && !r.hint.ends_with('.'), "{}", r.name);
        assert!(Platform::ALL.iter().any(|p| r.applies_to(*p)), "{}", r.name);
    }
    println!("{} rules", names.len());
}

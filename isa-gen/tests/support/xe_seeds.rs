//! Instructions of every opcode and form of Xe, as starts of random walks.

use gantry_isa_gen::message::Sfid;
use gantry_isa_gen::op::Format;
use gantry_isa_gen::{
    Arf, Cond, CondMod, Desc, Dst, ExecSize, Inst, InstOpts, MathFn, Op, Platform, Reg, RegRef,
    Region, SendDescs, Src, SrcMods, Subfn, SyncFn, Target, Type,
};

fn at(n: u8) -> RegRef<Reg> {
    RegRef::new(Reg::Grf(n), 0)
}

fn a0(sub: u16) -> RegRef<Reg> {
    RegRef::new(Reg::Arf(Arf::Address, 0), sub)
}

fn dst(ty: Type) -> Dst<Reg> {
    Dst::Direct {
        at: at(4),
        hs: 1,
        ty,
    }
}

fn src(n: u8, region: Region, ty: Type) -> Src<Reg> {
    Src::Direct {
        at: at(n),
        region,
        ty,
        mods: SrcMods::default(),
    }
}

fn mme(n: u8, ty: Type) -> Src<Reg> {
    Src::Macro {
        at: at(n),
        mme: n % 8,
        ty,
        mods: SrcMods::default(),
    }
}

fn imm(ty: Type) -> Src<Reg> {
    Src::Imm { bits: 0x34, ty }
}

fn indirect(ty: Type) -> [Src<Reg>; 3] {
    [
        Region::VxH { w: 1, hs: 0 },
        Region::VxH { w: 4, hs: 1 },
        Region::rect(1, 1, 0),
    ]
    .map(|region| Src::Indirect {
        addr: a0(4),
        imm: 16,
        region,
        ty,
        mods: SrcMods::default(),
    })
}

const ONE: Region = Region::rect(1, 1, 0);
const ROW: Region = Region::Ternary { vs: 1, hs: 0 };
const LAST: Region = Region::Scalar3 { hs: 1 };

/// Returns the first types of each combination of the opcode.
fn types(p: Platform, op: Op) -> Vec<(Type, Type)> {
    let combos = op.info(p).map(|i| i.types).unwrap_or_default();
    let first = |(d, s): &(gantry_isa_gen::op::TypeSet, gantry_isa_gen::op::TypeSet)| {
        // `hf8` has no code in this version of the hardware.
        let one = |set: &gantry_isa_gen::op::TypeSet| set.iter().find(|t| *t != Type::Hf8);
        Some((one(d)?, one(s)?))
    };
    combos.iter().filter_map(first).collect()
}

/// Returns the seeds of every opcode of the platform.
pub fn seeds(p: Platform) -> Vec<Inst<Reg>> {
    let mut all = Vec::new();
    for op in Op::ALL {
        let Some(info) = op.info(p) else {
            continue;
        };
        let base = Inst::new(op, ExecSize::S8);
        match info.format {
            Format::Nullary => all.push(Inst::new(op, ExecSize::S1)),
            Format::Unary | Format::Binary => basic(p, &base, info.format, &mut all),
            Format::Math => math(p, &base, &mut all),
            Format::Ternary => ternary(p, &base, &mut all),
            Format::Dpas => dpas(p, &base, &mut all),
            Format::XeSend => send(p, &base, &mut all),
            Format::Sync => sync(p, op, &mut all),
            format => branch(&base, format, &mut all),
        }
    }
    all
}

fn basic(p: Platform, base: &Inst<Reg>, format: Format, all: &mut Vec<Inst<Reg>>) {
    for (d, s) in types(p, base.op) {
        let with = |srcs: [Src<Reg>; 3]| Inst {
            dst: dst(d),
            srcs,
            ..*base
        };
        let r = src(6, ONE, s);
        let narrow = matches!(s, Type::Bf | Type::Bf8 | Type::Tf32);
        let i = if matches!(s, Type::Ub | Type::B) {
            Type::Uw
        } else {
            s
        };
        if format == Format::Unary {
            all.push(with([r, Src::None, Src::None]));
            if !narrow {
                all.push(with([imm(i), Src::None, Src::None]));
            }
            for x in indirect(s) {
                all.push(with([x, Src::None, Src::None]));
            }
            if s == Type::Ud {
                all.push(with([imm(Type::Uv), Src::None, Src::None]));
            }
        } else {
            let r1 = src(8, ONE, s);
            all.push(with([r, r1, Src::None]));
            if !narrow && i.bytes() < 8 {
                all.push(with([r, imm(i), Src::None]));
            }
            for x in indirect(s) {
                all.push(with([x, r1, Src::None]));
                all.push(with([r, x, Src::None]));
            }
        }
        all.push(Inst {
            dst: Dst::Indirect {
                addr: a0(2),
                imm: -16,
                hs: 1,
                ty: d,
            },
            ..with([r, src(8, ONE, s), Src::None].map(|x| x))
        });
        if format == Format::Unary
            && let Some(last) = all.last_mut()
        {
            last.srcs[1] = Src::None;
        }
    }
}

fn math(p: Platform, base: &Inst<Reg>, all: &mut Vec<Inst<Reg>>) {
    let flag = RegRef::new(Reg::Arf(Arf::Flag, 0), 0);
    for f in MathFn::ALL.into_iter().filter(|f| f.code(p).is_some()) {
        let ty = match f {
            MathFn::Idiv | MathFn::Iqot | MathFn::Irem => Type::D,
            _ => Type::F,
        };
        let mut i = Inst {
            subfn: Subfn::Math(f),
            dst: dst(ty),
            srcs: [src(6, ONE, ty), src(8, ONE, ty), Src::None],
            ..*base
        };
        if f.is_macro() {
            i.dst = Dst::Macro {
                at: at(4),
                mme: 2,
                ty,
            };
            i.srcs = [mme(6, ty), mme(9, ty), Src::None];
            i.cond = Some(CondMod {
                cond: Cond::Eo,
                flag,
            });
        }
        if f.sources() == 1 {
            i.srcs[1] = Src::None;
        }
        all.push(i);
        if f.sources() == 2 && !f.is_macro() {
            i.srcs[1] = imm(ty);
            all.push(i);
        }
    }
}

fn ternary(p: Platform, base: &Inst<Reg>, all: &mut Vec<Inst<Reg>>) {
    for (d, s) in types(p, base.op) {
        let mut i = Inst {
            dst: dst(d),
            srcs: [src(6, ROW, s), src(8, ROW, s), src(10, LAST, s)],
            ..*base
        };
        if base.op == Op::Bfn {
            i.subfn = Subfn::Bfn(0x35);
        }
        if base.op == Op::Csel {
            let flag = RegRef::new(Reg::Arf(Arf::Flag, 0), 0);
            i.cond = Some(CondMod {
                cond: Cond::Lt,
                flag,
            });
        }
        if base.op == Op::Madm {
            i.dst = Dst::Macro {
                at: at(4),
                mme: 1,
                ty: d,
            };
            i.srcs = [mme(6, s), mme(9, s), mme(12, s)];
        }
        all.push(i);
        if base.op != Op::Madm && s.is_int() {
            let w = if s.bytes() == 1 { Type::W } else { s };
            all.push(Inst {
                srcs: [imm(w), src(8, ROW, s), src(10, LAST, s)],
                ..i
            });
            all.push(Inst {
                srcs: [src(6, ROW, s), src(8, ROW, s), imm(w)],
                ..i
            });
        }
    }
}

fn dpas(p: Platform, base: &Inst<Reg>, all: &mut Vec<Inst<Reg>>) {
    let kinds = [
        (Type::D, Type::Ub, Type::B),
        (Type::Ud, Type::U4, Type::S2),
        (Type::D, Type::U1, Type::U2),
        (Type::F, Type::Bf, Type::Bf),
        (Type::F, Type::Hf, Type::Hf),
        (Type::F, Type::Tf32, Type::Tf32),
        (Type::F, Type::Bf8, Type::Bf8),
    ];
    let exec = if p == Platform::XeHpc {
        ExecSize::S16
    } else {
        ExecSize::S8
    };
    for (acc, weights, activations) in kinds {
        if matches!(weights, Type::Tf32 | Type::Bf8) && p != Platform::XeHpc {
            continue;
        }
        let mut i = Inst {
            exec,
            subfn: Subfn::Dpas {
                depth: 8,
                repeat: 4,
            },
            dst: dst(acc),
            srcs: [
                src(6, Region::SCALAR, acc),
                src(8, Region::SCALAR, weights),
                src(20, Region::SCALAR, activations),
            ],
            ..*base
        };
        all.push(i);
        i.srcs[0] = Src::Direct {
            at: RegRef::new(Reg::NULL, 0),
            region: Region::SCALAR,
            ty: acc,
            mods: SrcMods::default(),
        };
        all.push(i);
    }
}

fn send(p: Platform, base: &Inst<Reg>, all: &mut Vec<Inst<Reg>>) {
    let own_len = matches!(p, Platform::XeHpg | Platform::XeHpc);
    let desc = Desc::Imm(0x0210_6E02);
    let mut i = Inst {
        subfn: Subfn::Send(Sfid::DATA_CACHE_0),
        dst: dst(Type::Ud),
        srcs: [
            src(6, Region::SCALAR, Type::Ud),
            src(8, Region::SCALAR, Type::Ud),
            Src::None,
        ],
        send: Some(SendDescs {
            ex: Desc::Imm(0),
            desc,
            src1_len: own_len.then_some(1),
        }),
        ..*base
    };
    all.push(i);
    for desc in [desc, Desc::Reg(a0(0))] {
        i.send = Some(SendDescs {
            ex: Desc::Reg(a0(8)),
            desc,
            src1_len: None,
        });
        all.push(i);
        if p == Platform::XeLp {
            continue;
        }
        all.push(Inst {
            opts: InstOpts::EX_BSO | InstOpts::CPS,
            send: Some(SendDescs {
                ex: Desc::Reg(a0(8)),
                desc,
                src1_len: Some(3),
            }),
            ..i
        });
    }
}

fn sync(p: Platform, op: Op, all: &mut Vec<Inst<Reg>>) {
    for f in SyncFn::ALL {
        if f == SyncFn::Fence && p != Platform::XeHpc {
            continue;
        }
        let mut i = Inst::new(op, ExecSize::S1);
        i.subfn = Subfn::Sync(f);
        let null = |r| Src::Direct {
            at: RegRef::new(r, 0),
            region: Region::SCALAR,
            ty: Type::Ub,
            mods: SrcMods::default(),
        };
        i.srcs[0] = null(Reg::NULL);
        all.push(i);
        if matches!(f, SyncFn::Allrd | SyncFn::Allwr) {
            i.srcs[0] = imm(Type::Ud);
            all.push(i);
        }
        if f == SyncFn::Bar && p == Platform::XeHpc {
            i.srcs[0] = imm(Type::Ud);
            all.push(i);
            i.srcs[0] = null(Reg::Arf(Arf::Flag, 0));
            all.push(i);
        }
    }
}

fn branch(base: &Inst<Reg>, format: Format, all: &mut Vec<Inst<Reg>>) {
    let target = Src::Target(Target::Rel(0));
    let mut i = *base;
    if format == Format::Jmpi {
        i.exec = ExecSize::S1;
        i.no_mask = true;
    }
    if format == Format::Call {
        i.dst = dst(Type::D);
    }
    let pair = matches!(format, Format::BranchRegJipUip | Format::Ret);
    let region = if pair {
        Region::rect(2, 2, 1)
    } else {
        Region::SCALAR
    };
    let register = [src(6, region, Type::D), Src::None, Src::None];
    let two = matches!(format, Format::BranchJipUip | Format::BranchRegJipUip);
    if format != Format::Ret {
        let first = if i.op == Op::Calla {
            Src::Imm {
                bits: 0,
                ty: Type::D,
            }
        } else {
            target
        };
        let second = if two { target } else { Src::None };
        i.srcs = [first, second, Src::None];
        all.push(i);
    }
    if !matches!(format, Format::BranchJip | Format::BranchJipUip) {
        i.srcs = register;
        all.push(i);
    }
}

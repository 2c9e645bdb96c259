//! Messages of the load/store cache (Xe-HPG and later), as memory accesses.

use super::atomic::{Atomic, AtomicUpdate};
use super::block::{Block, BlockAddress};
use super::block2d::Block2d;
use super::plan::{Action, MemoryAccess};
use super::scatter::{AddressForm, Scatter};
use super::status::Status;
use super::typed::TexelOp;
use super::window::AddressBase;
use gantry_isa_gen::message::{
    AtomicOp, Dir, FloatAtomicOp, LscAccess, LscData, LscKind, LscOp, LscPort, LscSurface,
    LscVector, Message, MsgOp,
};

/// Returns the update of an atomic.
fn update(op: LscOp) -> Option<AtomicUpdate> {
    use AtomicUpdate::{Float, Int};
    Some(match op {
        LscOp::AtomicIinc => Int(AtomicOp::Inc),
        LscOp::AtomicIdec => Int(AtomicOp::Dec),
        LscOp::AtomicLoad => AtomicUpdate::Load,
        LscOp::AtomicStore => Int(AtomicOp::Mov),
        LscOp::AtomicIadd => Int(AtomicOp::Add),
        LscOp::AtomicIsub => Int(AtomicOp::Sub),
        LscOp::AtomicSmin => Int(AtomicOp::IMin),
        LscOp::AtomicSmax => Int(AtomicOp::IMax),
        LscOp::AtomicUmin => Int(AtomicOp::UMin),
        LscOp::AtomicUmax => Int(AtomicOp::UMax),
        LscOp::AtomicIcas => Int(AtomicOp::CmpWr),
        LscOp::AtomicFadd => Float(FloatAtomicOp::FAdd),
        LscOp::AtomicFsub => Float(FloatAtomicOp::FSub),
        LscOp::AtomicFmin => Float(FloatAtomicOp::FMin),
        LscOp::AtomicFmax => Float(FloatAtomicOp::FMax),
        LscOp::AtomicFcas => Float(FloatAtomicOp::FCmpWr),
        LscOp::AtomicAnd => Int(AtomicOp::And),
        LscOp::AtomicOr => Int(AtomicOp::Or),
        LscOp::AtomicXor => Int(AtomicOp::Xor),
        _ => return None,
    })
}

fn place(port: LscPort, surface: LscSurface) -> AddressBase {
    match port {
        LscPort::Slm => AddressBase::Slm,
        _ => AddressBase::of_lsc(surface),
    }
}

/// Returns the operation on texels of a message of the typed port; `None` for those that the
/// simulator lacks.
pub(super) fn texels(a: &LscAccess) -> Option<TexelOp> {
    let mask = match (a.vector, a.op) {
        (LscVector::Mask(m), LscOp::LoadQuad) => {
            return Some(TexelOp::Read {
                mask: m.mask(),
                status: false,
            });
        }
        (LscVector::Mask(m), _) => m.mask(),
        _ => 0,
    };
    match a.op {
        _ if a.data != LscData::D32 => None,
        LscOp::StoreQuad | LscOp::StoreUncompressedQuad => Some(TexelOp::Write { mask }),
        op => update(op).map(|u| TexelOp::Atomic(u, 4)),
    }
}

/// Returns the action of a load, store or atomic of an instruction of exec size `exec`. `null` is
/// true if it has no destination.
pub(super) fn action(a: &LscAccess, exec: u32, grf: u32, null: bool) -> Result<Action, String> {
    let dir = match a.op.kind() {
        // A load without a destination is a prefetch.
        LscKind::Load if null => return Ok(Action::Nothing),
        LscKind::Load => Dir::Read,
        _ => Dir::Write,
    };
    if matches!(a.data, LscData::D8 | LscData::D16) {
        return Err(format!(
            "the data size {} is that of 2D blocks alone: {a}",
            a.data.name()
        ));
    }
    let address = a.addr.width() / 8;
    let memory = a.data.memory_bits() / 8;
    let register = a.data.register_bits() / 8;
    let channels = exec.max(grf / 4);
    let row = (channels * register).next_multiple_of(grf);
    let strided = matches!(a.op, LscOp::LoadStrided | LscOp::StoreStrided);
    let access = match (a.op, a.vector) {
        (LscOp::LoadStatus, vector) => MemoryAccess::Status(Status {
            channels,
            addresses: AddressForm::Each(address),
            bytes: match vector {
                LscVector::Count { n, .. } => u32::from(n) * memory,
                LscVector::Mask(_) => memory,
            },
        }),
        (op, _) if let Some(update) = update(op) => {
            if a.data == LscData::D16U32H {
                return Err(format!("an atomic on the high half of a dword: {a}"));
            }
            MemoryAccess::Atomic(Atomic {
                update,
                bytes: memory,
                register,
                channels,
                addresses: AddressForm::Each(address),
                row,
                returns: true,
            })
        }
        // A stride has no effect on the one channel that such messages have.
        (
            _,
            LscVector::Count {
                n,
                transposed: true,
            },
        ) if !strided || (exec == 1 && address >= 4) => {
            if memory < 4 {
                return Err(format!(
                    "a transposed access of elements below a dword: {a}"
                ));
            }
            MemoryAccess::Block(Block {
                dir,
                bytes: u32::from(n) * memory,
                first: 0,
                address: BlockAddress::Payload(address),
                aligned: memory,
            })
        }
        (_, vector) => {
            let transposed = matches!(
                vector,
                LscVector::Count {
                    transposed: true,
                    ..
                }
            );
            if strided && (address < 4 || transposed) {
                return Ok(Action::Unsupported);
            }
            MemoryAccess::Scatter(Scatter {
                dir,
                channels,
                addresses: if strided {
                    AddressForm::Strided(address)
                } else {
                    AddressForm::Each(address)
                },
                memory,
                register,
                shift: if a.data == LscData::D16U32H { 16 } else { 0 },
                elements: match vector {
                    LscVector::Mask(m) => u64::from(m.mask()),
                    LscVector::Count { n, .. } => u64::MAX >> (64 - u32::from(n)),
                },
                row,
                aligned: memory,
                // Intel's compiler joins adjacent bytes and words into dwords at any address, also
                // in SLM.
                strict: false,
            })
        }
    };
    Ok(Action::Access(access, place(a.port, a.surface)))
}

/// Returns the action of a 2D block. `null` is true if it has no destination.
pub(super) fn block2d(
    op: &MsgOp,
    message: &Message,
    null: bool,
    grf: u32,
) -> Result<Action, String> {
    let MsgOp::LscBlock2d {
        port,
        dir,
        data,
        transposed,
        vnni,
        surface,
        ..
    } = *op
    else {
        return Ok(Action::Unsupported);
    };
    if dir == Dir::Read && null {
        return Ok(Action::Nothing);
    }
    if port == LscPort::Tgm || port == LscPort::Slm || surface != LscSurface::Flat {
        return Ok(Action::Unsupported);
    }
    let grfs = match dir {
        Dir::Read => message.response_grfs,
        Dir::Write => message.src1_grfs,
    };
    let b = Block2d::new(dir, data, transposed, vnni, u32::from(grfs), grf)
        .map_err(|why| format!("{why}: {op}"))?;
    Ok(Action::Access(MemoryAccess::Block2d(b), AddressBase::Flat))
}

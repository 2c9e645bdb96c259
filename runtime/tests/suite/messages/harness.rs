//! Harness for one message in a kernel of its own. Registers are loaded from a buffer, the message
//! is sent, and registers are stored.

use super::model::{AddressForm, MessageEffect};
use super::text::{bindless, end, send, zebin};
use crate::common::Rng;
use gantry_isa_gen::Platform;
use gantry_isa_gen::message::{
    AddrModel, BlockUnit, Cache, Dir, LscAccess, LscAddr, LscCaching, LscData, LscOp, LscPort,
    LscSurface, LscVector, Message, MsgOp, Surface,
};
use gantry_runtime::{Bounds, Device, Error, Grid, SimOptions};

/// Bytes of the memory that messages access.
pub const MEMORY: usize = 1024;
/// Binding table index of that memory.
pub const BTI: u8 = 2;
/// Offset of its surface state.
pub const HEAP: u32 = BTI as u32 * 64;
/// First register that is loaded and stored, and below it their number.
pub const FIRST: usize = 8;
const COUNT: usize = 96;
/// First registers of the response and of the payloads.
const DST: usize = 10;
const SRC0: usize = 44;
const SRC1: usize = 64;

/// Base that a message's addresses are offsets from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressBase {
    Flat,
    Surface,
    Slm,
    /// Surface, by its state's offset in the extended descriptor.
    Bindless,
}

/// Message, with registers and memory before it.
#[derive(Clone)]
pub struct Case {
    pub platform: Platform,
    pub message: Message,
    pub exec: u32,
    pub at: AddressBase,
    pub mask: u32,
    pub regs: Vec<u8>,
    pub memory: Vec<u8>,
    device: Device,
    buffer: gantry_runtime::Buffer,
    /// Byte offsets of the message's parts in `regs`.
    pub response: usize,
    pub address: usize,
    pub data: usize,
}

fn info() -> String {
    let mut s = String::from(
        "kernels:\n  - name: t\n    execution_env:\n      simd_size: 32\n      slm_size: 1024\n    payload_arguments:\n",
    );
    for i in 0..3 {
        s += &format!(
            "      - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: {i}\n        addrmode: stateful\n        addrspace: global\n"
        );
    }
    s += "    binding_table_indices:\n";
    for i in 0..3 {
        s += &format!("      - bti_value: {i}\n        arg_index: {i}\n");
    }
    s
}

/// Returns the text of a block message that moves 128 bytes between registers and a surface (or
/// SLM) at an offset.
fn block(p: Platform, dir: Dir, surface: Surface, offset: u32, reg: usize) -> String {
    let grf = p.features().grf_bytes;
    let (op, header) = if p >= Platform::XeHpg {
        let (port, surface) = match surface {
            Surface::Slm => (LscPort::Slm, LscSurface::Flat),
            s => (LscPort::Ugm, LscSurface::Bti(s.bits())),
        };
        let op = MsgOp::Lsc(LscAccess {
            port,
            op: if dir == Dir::Read {
                LscOp::Load
            } else {
                LscOp::Store
            },
            data: LscData::D32,
            vector: LscVector::Count {
                n: 32,
                transposed: true,
            },
            addr: LscAddr::A32,
            surface,
            caching: LscCaching::DEFAULT,
        });
        (op, format!("(W) mov (1|M0) r126.0<1>:ud {offset}:ud\n"))
    } else {
        let op = MsgOp::Block {
            dir,
            addr: AddrModel::A32(surface),
            unit: BlockUnit::Oword,
            count: 8,
            cache: Cache::Data,
        };
        let owords = offset / 16;
        (op, format!("(W) mov (1|M0) r126.2<1>:ud {owords}:ud\n"))
    };
    let reg = format!("r{reg}");
    // Without split sends, the data follows the header.
    if p < Platform::Gen9 && dir == Dir::Write {
        let m = Message::new(p, op);
        let mut s = format!("{header}(W) mov (8|M0) r105.0<1>:ud r126.0<8;8,1>:ud\n");
        let first: usize = reg[1..].parse().unwrap();
        for k in 0..4 {
            s += &format!(
                "(W) mov (8|M0) r{}.0<1>:ud r{}.0<8;8,1>:ud\n",
                106 + k,
                first + k
            );
        }
        return s + &send(p, &m, 8, "(W)", "null", ["r105", "null"]);
    }
    let m = Message::split_for(p, op, 1);
    let exec = if grf == 64 || p >= Platform::XeHpg {
        1
    } else {
        8
    };
    let (dst, src1) = match dir {
        Dir::Read => (reg.as_str(), "null"),
        Dir::Write => ("null", reg.as_str()),
    };
    header + &send(p, &m, exec, "(W)", dst, ["r126", src1])
}

impl Case {
    /// Generates random registers, memory, mask and addresses for a message.
    pub fn random(
        platform: Platform,
        message: &Message,
        form: &MessageEffect,
        exec: u32,
        at: AddressBase,
        r: &mut Rng,
    ) -> Case {
        let grf = platform.features().grf_bytes as usize;
        let mut fill = |n: usize| {
            let mut v = vec![0u8; n];
            for b in v.chunks_mut(form.unit()) {
                let bits = form.value(r).to_le_bytes();
                let n = b.len();
                b.copy_from_slice(&bits[..n]);
            }
            v
        };
        let (regs, memory) = (fill(COUNT * grf), fill(MEMORY));
        let device = Device::simulator(SimOptions {
            bounds: Bounds::Drop,
            ..SimOptions::default()
        });
        let buffer = device.buffer_from(&memory).unwrap();
        let at_reg = |n: usize| (n - FIRST) * grf;
        let address = at_reg(SRC0) + usize::from(message.header) * grf;
        let mut case = Case {
            platform,
            message: *message,
            exec,
            at,
            mask: match r.below(4) {
                0 => r.u64() as u32 | 1,
                1 => r.u64() as u32 & r.u64() as u32,
                _ => u32::MAX,
            },
            regs,
            memory,
            device,
            buffer,
            response: at_reg(DST),
            address,
            data: if message.src1_grfs > 0 {
                at_reg(SRC1)
            } else {
                address + message.op.lengths_for(platform, exec).address as usize * grf
            },
        };
        let addresses = case.addresses(form, r);
        case.place(form, &addresses);
        if r.below(2) == 0 {
            case.make_equal(form, &addresses);
        }
        case
    }

    /// Moves the case to a simulator with default options, where an access outside of a surface is
    /// a fault.
    pub fn strict(mut self) -> Case {
        self.device = Device::simulator(SimOptions::default());
        self.buffer = self.device.buffer_from(&self.memory).unwrap();
        self
    }

    /// Returns the address of the memory's first byte.
    pub fn base(&self) -> u64 {
        match self.at {
            AddressBase::Flat => self.buffer.device_address(),
            _ => 0,
        }
    }

    /// Generates random addresses, all inside except for surfaces.
    fn addresses(&self, form: &MessageEffect, r: &mut Rng) -> Vec<u64> {
        let span = form.span() as u64;
        let align = form.align as u64;
        let n = u64::from(form.channels);
        let room = (MEMORY as u64).saturating_sub(span) / align;
        let pick = |r: &mut Rng| r.below(room + 1) * align;
        let step = (form.memory as u64).max(align);
        let first = match form.address {
            AddressForm::Strided(_) => {
                let pitch = r.below((MEMORY as u64 - span) / n / align + 1) * align;
                return vec![self.base(), pitch];
            }
            _ => r.below(MEMORY as u64 / align / 2) * align,
        };
        let kind = r.below(5);
        let same = pick(r);
        (0..n)
            .map(|i| {
                let at = match kind {
                    0 | 1 if first + n * step + span <= MEMORY as u64 => first + i * step,
                    2 if n * span.next_multiple_of(align) <= MEMORY as u64 => {
                        i * span.next_multiple_of(align)
                    }
                    3 => same,
                    _ => pick(r),
                };
                let outside = self.surface() && kind == 4 && r.below(6) == 0;
                let at = if outside {
                    MEMORY as u64 + r.below(64) * align - 2 * align
                } else {
                    at
                };
                // A bit that SLM ignores.
                let high = if self.at == AddressBase::Slm && form.address == AddressForm::Each(4) {
                    0x1000_0000
                } else {
                    0
                };
                self.base() + at + high
            })
            .collect()
    }

    /// Writes addresses to the message's address payload.
    pub fn place(&mut self, form: &MessageEffect, addresses: &[u64]) {
        let at = self.address;
        let header = at.wrapping_sub(self.grf());
        let mut put = |at: usize, n: usize, v: u64| {
            self.regs[at..at + n].copy_from_slice(&v.to_le_bytes()[..n]);
        };
        match form.address {
            AddressForm::Each(n) => {
                for (i, a) in addresses.iter().enumerate() {
                    put(at + i * n, n, *a);
                }
            }
            AddressForm::Dwords => {
                for (i, a) in addresses.iter().enumerate() {
                    put(at + i * 4, 4, a / 4);
                }
            }
            AddressForm::Strided(n) => {
                put(at, n, addresses[0]);
                put(at + 8, 4, addresses[1]);
            }
            AddressForm::Header64 => put(header, 8, addresses[0]),
            AddressForm::Header32(scale) => {
                put(header + 8, 4, addresses[0] / scale as u64);
            }
        }
    }

    /// Returns true if reads outside return 0 and writes there are dropped.
    fn surface(&self) -> bool {
        matches!(self.at, AddressBase::Surface | AddressBase::Bindless)
    }

    fn grf(&self) -> usize {
        self.platform.features().grf_bytes as usize
    }

    /// Makes comparisons of an atomic true.
    fn make_equal(&mut self, form: &MessageEffect, addresses: &[u64]) {
        if form.update.is_none() {
            return;
        }
        for (i, a) in addresses.iter().enumerate() {
            let at = (a - self.base()) as usize & 0xfff_ffff;
            let to = self.data + i * form.register;
            if let Some(v) = self.memory.get(at..at + form.memory) {
                self.regs[to..to + form.memory].copy_from_slice(v);
            }
            if form.pair {
                let to = to + form.row;
                if let Some(v) = self.memory.get(at + form.memory..at + 2 * form.memory) {
                    self.regs[to..to + form.memory].copy_from_slice(v);
                }
            }
        }
    }

    pub fn run(&self) -> (Vec<u8>, Vec<u8>) {
        match self.try_run() {
            Ok(v) => v,
            Err(e) => panic!("{} {} ({}): {e}", self.platform, self.message, self.exec),
        }
    }

    /// Runs the message. Returns registers and memory afterwards.
    pub fn try_run(&self) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let p = self.platform;
        let per = 128 / self.grf();
        let mut text = String::new();
        let slm = self.at == AddressBase::Slm;
        let steps = || (0..MEMORY as u32).step_by(128);
        for offset in steps().filter(|_| slm) {
            text += &block(p, Dir::Read, Surface::Bti(BTI), offset, 110);
            text += &block(p, Dir::Write, Surface::Slm, offset, 110);
        }
        let image = |dir, bti| {
            (0..COUNT / per)
                .map(|k| {
                    let offset = k as u32 * 128;
                    block(p, dir, Surface::Bti(bti), offset, FIRST + k * per)
                })
                .collect::<String>()
        };
        text += &image(Dir::Read, 0);
        text += &format!("(W) mov (1|M0) f0.0<1>:ud {:#x}:ud\n", self.mask);
        let dst = if self.message.response_grfs > 0 {
            format!("r{DST}")
        } else {
            "null".to_owned()
        };
        let src0 = format!("r{SRC0}");
        let src1 = if self.message.src1_grfs > 0 {
            format!("r{SRC1}")
        } else {
            "null".to_owned()
        };
        let m = &self.message;
        let payloads = [src0.as_str(), &src1];
        text += &if self.at == AddressBase::Bindless {
            let offset = if p >= Platform::XeHpg {
                HEAP
            } else {
                (HEAP / 64) << 12
            };
            let handle = format!("{offset:#x}:ud");
            bindless(p, m, self.exec, "(f0.0)", &dst, payloads, &handle)
        } else {
            send(p, m, self.exec, "(f0.0)", &dst, payloads)
        };
        text += &image(Dir::Write, 1);
        for offset in steps().filter(|_| slm) {
            text += &block(p, Dir::Read, Surface::Slm, offset, 110);
            text += &block(p, Dir::Write, Surface::Bti(BTI), offset, 110);
        }
        text += "(W) mov (8|M0) r127.0<1>:ud 0:ud\n";
        text += end(p);
        let zebin = zebin(p, &info(), &text);
        let module = self.device.load(&zebin)?;
        let registers = self.device.buffer_from(&self.regs)?;
        let out = self.device.buffer(self.regs.len())?;
        module
            .kernel("t")?
            .launch(Grid::new([32, 1, 1]).group([32, 1, 1]))
            .arg(&registers)
            .arg(&out)
            .arg(&self.buffer)
            .run()?;
        Ok((out.read()?, self.buffer.read()?))
    }
}

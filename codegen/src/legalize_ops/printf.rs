//! Expansion of `printf` as in Intel's compiler: one atomic reserves space in the printf buffer for
//! all lanes that print. Stores fill it.
//!
//! A call is the address of the format, and a type and the data for each value, in whole dwords. A
//! call that does not fit the buffer stores only a mark, if that fits. (Source: `ocloc`'s output
//! for `printf`, and compute-runtime's `print_formatter.h`.)

use super::Expander;
use crate::ir::instructions::ValueList;
use crate::ir::{
    AtomicOp, Inst, InstData, IntCC, MemFlags, Module, Opcode, Region, Scalar, Space, Type, Value,
    printf,
};
use cranelift_entity::packed_option::PackedOption;

/// Bytes of the buffer.
const BUFFER_BYTES: i64 = 4 << 20;
/// Dwords per lane of a message.
const AT_ONCE: usize = 4;

/// Dword of a call.
enum PrintfDword {
    Number(i64),
    /// Lanes of a region of dwords.
    Part(Value, Region),
}

/// Type tags of a scalar: alone, and as a vector element.
fn tags(scalar: Scalar, conversion: char) -> (i64, i64) {
    match (scalar, conversion) {
        (_, 's') => (5, 5),
        (_, 'p') => (7, 7),
        (Scalar::F32, _) => (4, 13),
        (Scalar::F64, _) => (8, 14),
        (Scalar::I64, _) => (6, 12),
        _ => (3, 11),
    }
}

impl Expander<'_> {
    /// Expands an instruction if it is a `printf`. Returns true if it is.
    pub(super) fn printf(&mut self, module: &Module, inst: Inst) -> bool {
        let InstData::Printf {
            format, args, mask, ..
        } = *self.func.dfg.data(inst)
        else {
            return false;
        };
        let args: ValueList = args;
        let args = args.as_slice(&self.func.dfg.pool).to_vec();
        let lanes = mask.expand().map_or(1, |m| self.ty(m).lanes());
        let (opcode, i64) = (Opcode::SymbolAddr, Type::scalar_of(Scalar::I64));
        let format_at = self.one(
            InstData::Symbol {
                opcode,
                data: format,
            },
            Some(i64),
        );
        let format_at = self.cast(Scalar::I32, format_at);
        let splat = |at| Region {
            offset: at,
            ..Region::scalar(0)
        };
        let mut dwords = vec![
            PrintfDword::Part(format_at, splat(0)),
            PrintfDword::Part(format_at, splat(4)),
        ];
        for (spec, v) in printf::conversions(module, format).iter().zip(args) {
            let scalar = self.ty(v).scalar();
            let (one, many) = tags(scalar, spec.conversion());
            match spec.vector() {
                0 => dwords.push(PrintfDword::Number(one)),
                n => dwords.extend([PrintfDword::Number(many), PrintfDword::Number(n as i64)]),
            }
            let v = self.cast(Scalar::I32, v);
            let each = (scalar.bytes() / 4) as u16;
            for element in 0..printf::elements(spec) as u16 {
                for part in 0..each {
                    dwords.push(PrintfDword::Part(
                        v,
                        Region {
                            vstride: each,
                            width: 1,
                            hstride: 0,
                            offset: (element * lanes as u16 * each + part) * 4,
                            parent_width: 0,
                        },
                    ));
                }
            }
        }
        self.store_call(lanes, mask, &dwords);
        true
    }

    fn store_call(&mut self, lanes: u32, mask: PackedOption<Value>, dwords: &[PrintfDword]) {
        let ty = Type::clamped(Scalar::I32, lanes);
        let i64 = Type::scalar_of(Scalar::I64);
        let opcode = Opcode::PrintfBuffer;
        let base = self.one(InstData::Nullary { opcode }, Some(i64));
        let size = dwords.len() as i64 * 4;
        let at = self.reserve(lanes, mask, base, size);
        let most = self.int(ty, BUFFER_BYTES - size);
        let mut fits = self.icmp(IntCC::UnsignedLessThanOrEqual, at, most);
        let last = self.int(ty, BUFFER_BYTES - 4);
        let mut marked = self.icmp(IntCC::UnsignedLessThanOrEqual, at, last);
        let beyond = self.un(Opcode::Bnot, fits);
        marked = self.bin(Opcode::Band, marked, beyond);
        if let Some(m) = mask.expand() {
            fits = self.bin(Opcode::Band, fits, m);
            marked = self.bin(Opcode::Band, marked, m);
        }
        let wide = Type::clamped(Scalar::I64, lanes);
        let offset = self.to(Opcode::Uextend, wide, at);
        let base = self.region(wide, base, Region::scalar(0));
        let addr = self.bin(Opcode::Iadd, base, offset);
        let mark = self.int(ty, -1);
        self.store(mark, addr, 0, marked);
        for (n, list) in dwords.chunks(AT_ONCE).enumerate() {
            let all = ty.by(lanes * list.len() as u32);
            let opcode = Opcode::Undef;
            let mut value = self.one(InstData::Nullary { opcode }, Some(all));
            for (i, d) in list.iter().enumerate() {
                let lanes_of = match d {
                    PrintfDword::Number(x) => self.int(ty, *x),
                    PrintfDword::Part(v, region) => self.region(ty, *v, *region),
                };
                let to = Region::contiguous(lanes as u16, i as u16 * lanes as u16 * 4);
                value = match list.len() {
                    1 => lanes_of,
                    _ => self.replace(value, lanes_of, to),
                };
            }
            self.store(value, addr, (n * AT_ONCE * 4) as i32, fits);
        }
    }

    /// Reserves space for each lane that prints, the lowest lane first. Returns the offset of each.
    fn reserve(&mut self, lanes: u32, mask: PackedOption<Value>, base: Value, size: i64) -> Value {
        let one = Type::scalar_of(Scalar::I32);
        let size_of_one = self.int(one, size);
        let Some(m) = mask.expand() else {
            return self.add(base, size_of_one);
        };
        let ty = Type::clamped(Scalar::I32, lanes);
        let bits = self.to(Opcode::PredToBits, one, m);
        let count = self.un(Opcode::Popcnt, bits);
        let total = self.bin(Opcode::Imul, count, size_of_one);
        let first = self.add(base, total);
        let numbers = (0..u64::from(lanes)).collect();
        let constant = self.func.dfg.make_constant(numbers);
        let opcode = Opcode::Vconst;
        let number = self.one(InstData::ImmVec { opcode, constant }, Some(ty));
        let [one, less] = [1, -1].map(|n| self.int(ty, n));
        let bit = self.bin(Opcode::Ishl, one, number);
        let below = self.bin(Opcode::Iadd, bit, less);
        let all = self.region(ty, bits, Region::scalar(0));
        let before = self.bin(Opcode::Band, all, below);
        let before = self.un(Opcode::Popcnt, before);
        let size = self.int(ty, size);
        let before = self.bin(Opcode::Imul, before, size);
        let first = self.region(ty, first, Region::scalar(0));
        self.bin(Opcode::Iadd, first, before)
    }

    /// Adds to the number of used bytes. Returns the previous number.
    fn add(&mut self, base: Value, bytes: Value) -> Value {
        let data = InstData::Atomic {
            opcode: Opcode::Atomic,
            op: AtomicOp::Add,
            mem: MemFlags::of(Space::Global),
            addr: base,
            offset: 0,
            data: [bytes.into(), PackedOption::default()],
            mask: PackedOption::default(),
            old: PackedOption::default(),
        };
        self.one(data, Some(Type::scalar_of(Scalar::I32)))
    }

    fn store(&mut self, value: Value, addr: Value, offset: i32, mask: Value) {
        let data = InstData::Store {
            opcode: Opcode::Store,
            mem: MemFlags::of(Space::Global),
            args: [value, addr],
            offset,
            mask: mask.into(),
        };
        self.push(data, None);
    }
}

//! Rectangles of bytes: each byte's address is that of the nearest texel's byte.

use super::body::Body;
use super::{Expansion, append};
use crate::error::CodegenError;
use crate::ir::builder::{BuildError, FunctionBuilder};
use crate::ir::instructions::ValueList;
use crate::ir::{Function, ImageFact, Inst, InstData, IntCC, Opcode, Region, Scalar, Type, Value};

/// Maximal number of lanes of one load or store.
const MEDIA_LANES: u32 = Type::FLAG_LANES;

impl Expansion {
    /// Replaces a `media_load` or a `media_store`.
    pub(super) fn media(
        &mut self,
        func: &mut Function,
        inst: Inst,
        new: &mut Vec<Inst>,
    ) -> Result<(), CodegenError> {
        let InstData::Media {
            opcode,
            image,
            width,
            coords,
            data,
        } = *func.dfg.data(inst)
        else {
            return Ok(());
        };
        self.shape(func, inst, (image, 2))?;
        let result = func.dfg.first_result(inst);
        let Some(value) = result.or(data.expand()) else {
            return Ok(());
        };
        let ty = func.dfg.ty(value);
        let bytes = Type::clamped(Scalar::I8, ty.bytes());
        let stores = opcode == Opcode::MediaStore;
        let results: &[Type] = if stores { &[] } else { &[bytes] };
        let name = format!("{}_image_media_{}", self.kernel, self.out.functions.len());
        let mut sub = Function::subroutine(name, results);
        let built = rectangle(&mut sub, image, u32::from(width), bytes, stores);
        built.map_err(|e| CodegenError::internal(&self.kernel, format!("images: {e}")))?;
        let callee = self.out.functions.push(sub);
        let mut args = coords.to_vec();
        if stores {
            let opcode = Opcode::Bitcast;
            args.push(if ty == bytes {
                value
            } else {
                append(func, new, InstData::Unary { opcode, arg: value }, bytes)
            });
        }
        let args = ValueList::from_slice(&args, &mut func.dfg.pool);
        let call = InstData::Call {
            opcode: Opcode::Call,
            func: callee,
            args,
        };
        match result {
            None => {
                let call = func.dfg.make_inst(call, &[]);
                new.push(call);
            }
            Some(v) if ty == bytes => new.push(func.dfg.make_inst_with(call, &[(v, ty)])),
            Some(v) => {
                let opcode = Opcode::Bitcast;
                let arg = append(func, new, call, bytes);
                let cast = InstData::Unary { opcode, arg };
                new.push(func.dfg.make_inst_with(cast, &[(v, ty)]));
            }
        }
        Ok(())
    }
}

/// Builds the subroutine of an access to a rectangle, of so many bytes.
fn rectangle(
    func: &mut Function,
    image: u8,
    width: u32,
    bytes: Type,
    stores: bool,
) -> Result<(), BuildError> {
    let mut body = Body::uniform(func, image);
    let int = Type::scalar_of(Scalar::I32);
    let [x, y] = [(); 2].map(|()| body.b.param(int));
    let data = stores.then(|| body.b.param(bytes));
    let shift = body.texel_shift();
    let b = &mut body.b;
    let columns = b.ins().image_query(ImageFact::Width, image);
    let rows = b.ins().image_query(ImageFact::Height, image);
    let base = b.ins().image_query(ImageFact::FlatBase, image);
    let row = b.ins().ishl(columns, shift);
    let one = b.ins().iconst(int, 1);
    let texel = b.ins().ishl(one, shift);
    let mut out = b.ins().undef(bytes);
    let mut first = 0;
    while first < bytes.lanes() {
        let lanes = (bytes.lanes() - first).min(MEDIA_LANES);
        let all = |b: &mut FunctionBuilder<'_>, v: Value| b.splat(v, lanes);
        let place = |of: fn(u32, u32) -> u32| -> Vec<i64> {
            let bytes = first..first + lanes;
            bytes.map(|n| i64::from(of(n, width))).collect()
        };
        let across = b.ins().ints(Scalar::I32, &place(|n, width| n % width));
        let down = b.ins().ints(Scalar::I32, &place(|n, width| n / width));
        let [x, y, row, rows, texel] = [x, y, row, rows, texel].map(|v| all(b, v));
        let x = b.ins().iadd(x, across);
        let y = b.ins().iadd(y, down);
        let ty = Type::clamped(Scalar::I32, lanes);
        let (zero, one) = (b.ins().iconst(ty, 0), b.ins().iconst(ty, 1));
        let mut inside = b.ins().icmp(IntCC::UnsignedLessThan, x, row);
        let rows_in = b.ins().icmp(IntCC::UnsignedLessThan, y, rows);
        inside = b.ins().band(inside, rows_in);
        let last = b.ins().isub(rows, one);
        let y = b.ins().smax(y, zero);
        let y = b.ins().smin(y, last);
        // Outside it is the same byte of the first or the last texel.
        let part = b.ins().isub(texel, one);
        let part = b.ins().band(x, part);
        let under = b.ins().icmp(IntCC::SignedLessThan, x, zero);
        let over = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, x, row);
        let end = b.ins().isub(row, texel);
        let end = b.ins().iadd(end, part);
        let x = b.ins().select(over, end, x);
        let x = b.ins().select(under, part, x);
        let qwords = Type::clamped(Scalar::I64, lanes);
        let at = b.ins().umul_wide(qwords, y, row);
        let x = b.ins().uextend(qwords, x);
        let at = b.ins().iadd(at, x);
        let base = all(b, base);
        let at = b.ins().iadd(base, at);
        let region = Region::contiguous(lanes as u16, first as u16);
        match data {
            Some(data) => {
                let some = b.ins().rdregion(bytes.by(lanes), data, region);
                b.ins().store_masked(some, at, 0, inside);
            }
            None => {
                let some = b.ins().load(bytes.by(lanes), at, 0);
                out = b.ins().wrregion(out, region, some);
            }
        }
        first += lanes;
    }
    if stores {
        b.ins().return_(&[]);
    } else {
        b.ins().return_(&[out]);
    }
    body.finish()
}

//! Execution of `printf`.

use super::memory::Spaces;
use super::pure::lane_of;
use super::thread::Frame;
use crate::ir::printf::Piece;
use crate::ir::{DataRef, Scalar, Value, printf};
use cranelift_entity::packed_option::PackedOption;
use gantry_isa_gen::printf as text;

/// Prints a line for each enabled lane, the lowest first.
pub(super) fn print(
    frame: &Frame<'_>,
    format: DataRef,
    args: &[Value],
    mask: PackedOption<Value>,
    memory: &mut Spaces<'_>,
) -> Result<(), String> {
    let dfg = &frame.func.dfg;
    let format = memory.format(format).ok_or("a format that is no string")?;
    let pieces = printf::pieces(format)?;
    let lanes = mask.expand().map_or(1, |m| dfg.ty(m).lanes());
    let mut out = Vec::new();
    for lane in 0..lanes {
        let on = match mask.expand() {
            Some(m) => lane_of(&frame.values[m], lane as usize)? != 0,
            None => true,
        };
        if !on {
            continue;
        }
        let mut values = args.iter();
        for piece in &pieces {
            let spec = match piece {
                Piece::Text(t) => {
                    out.extend_from_slice(t);
                    continue;
                }
                Piece::Value(spec) => spec,
            };
            let &v = values.next().ok_or("more conversions than values")?;
            let scalar = dfg.ty(v).scalar();
            for element in 0..printf::elements(spec) {
                if element > 0 {
                    out.push(b',');
                }
                let bits = lane_of(&frame.values[v], (element * lanes + lane) as usize)?;
                let value = match (spec.conversion(), scalar) {
                    ('s', _) => text::Value::String(memory.string(bits)),
                    (_, Scalar::F32) => text::Value::Float(f64::from(f32::from_bits(bits as u32))),
                    (_, Scalar::F64) => text::Value::Float(f64::from_bits(bits)),
                    (_, Scalar::I32) => text::Value::Int(i64::from(bits as i32)),
                    _ => text::Value::Int(bits as i64),
                };
                spec.print(&mut out, &value);
            }
        }
    }
    memory.memory.print(&out);
    Ok(())
}

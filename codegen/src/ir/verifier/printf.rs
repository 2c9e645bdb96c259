//! Rules on `printf`: the format is a string of the module, and the values match its conversions.

use super::{ErrorLocation, Verifier};
use crate::ir::printf::{MAX_VALUES, Piece};
use crate::ir::{Inst, InstData, Type, printf};

impl Verifier<'_> {
    pub(super) fn printf(&mut self, inst: Inst) {
        let InstData::Printf {
            format, args, mask, ..
        } = *self.data(inst)
        else {
            return;
        };
        let mut lanes = 1;
        if let Some(m) = mask.expand() {
            let ty = self.ty(m);
            lanes = ty.lanes();
            if !ty.is_pred() {
                let place = ErrorLocation::Operand(inst, args.len(&self.func.dfg.pool));
                return self.error(place, format!("the mask {m} is {ty}, no predicate"));
            }
            if lanes > Type::FLAG_LANES {
                let place = ErrorLocation::Operand(inst, args.len(&self.func.dfg.pool));
                let most = Type::FLAG_LANES;
                return self.error(
                    place,
                    format!("the mask {m} is {ty}; b1x{most} is the longest"),
                );
            }
        }
        let data = self.module.data.get(format);
        let name = data.map_or(format.to_string(), |d| format!("%{}", d.name));
        let Some(text) = printf::string(data) else {
            let what = format!("{name} is no string: `const {name} = \"text\"` is one");
            return self.error(ErrorLocation::Inst(inst), what);
        };
        let pieces = match printf::pieces(text) {
            Ok(pieces) => pieces,
            Err(e) => return self.error(ErrorLocation::Inst(inst), format!("{name}: {e}")),
        };
        let specs: Vec<_> = pieces
            .iter()
            .filter_map(|p| match p {
                Piece::Value(spec) => Some(spec),
                Piece::Text(_) => None,
            })
            .collect();
        let args = args.as_slice(&self.func.dfg.pool).to_vec();
        if specs.len() > MAX_VALUES {
            let what = format!(
                "{name} prints {} values; {MAX_VALUES} are the most",
                specs.len()
            );
            return self.error(ErrorLocation::Inst(inst), what);
        }
        if specs.len() != args.len() {
            let types = specs.iter().map(|s| printf::accepted(s, lanes));
            let types: Vec<String> = types.collect();
            let what = format!(
                "{name} prints {} value{} ({}), and {} {} given",
                specs.len(),
                if specs.len() == 1 { "" } else { "s" },
                types.join(", "),
                args.len(),
                if args.len() == 1 { "is" } else { "are" },
            );
            return self.error(ErrorLocation::Inst(inst), what);
        }
        for (n, (spec, v)) in specs.into_iter().zip(args).enumerate() {
            let ty = self.ty(v);
            let fits = ty.lanes() == lanes * printf::elements(spec);
            if !fits || !printf::takes(spec).contains(&ty.scalar()) {
                let what = format!(
                    "type clash: {v} is {ty}, and `%{}` of {name} takes {} here",
                    spec.conversion(),
                    printf::accepted(spec, lanes)
                );
                self.error(ErrorLocation::Operand(inst, n), what);
            }
        }
    }
}

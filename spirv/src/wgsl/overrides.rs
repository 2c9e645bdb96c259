//! Values that the caller gives to overrides.

use crate::constants::SpecType;
use crate::module::unknown_constant;
use crate::options::Options;
use naga::back::PipelineConstants;
use naga::{Module, Override, ScalarKind, TypeInner};

/// Key of an override in naga: its id, else its name.
fn key(o: &Override) -> Option<String> {
    o.id.map(|id| id.to_string()).or_else(|| o.name.clone())
}

/// Values given to the overrides of a module, by key.
///
/// # Errors
/// An unknown override, or a value that it cannot hold.
pub(super) fn asked(module: &Module, options: &Options) -> Result<PipelineConstants, String> {
    let named = |o: &Override, n: &str| {
        o.id.is_some_and(|id| id.to_string() == n) || o.name.as_deref() == Some(n)
    };
    let all = || module.overrides.iter().map(|(_, o)| o);
    let numbers = options.spec_constants.keys().map(u32::to_string);
    for n in options.constants.keys().cloned().chain(numbers) {
        if !all().any(|o| named(o, &n)) {
            let mut names: Vec<String> = all().filter_map(key).collect();
            names.sort();
            return Err(unknown_constant(&n, &names));
        }
    }
    let mut out = PipelineConstants::default();
    for o in all() {
        let Some(key) = key(o) else { continue };
        let TypeInner::Scalar(s) = module.types[o.ty].inner else {
            continue;
        };
        let bits = u32::from(s.width) * 8;
        let holds = match s.kind {
            ScalarKind::Bool => SpecType::Bool,
            ScalarKind::Float => SpecType::Float(bits),
            ScalarKind::Sint => SpecType::Int(bits, Some(true)),
            _ => SpecType::Int(bits, Some(false)),
        };
        let value = options.constants.iter().find(|(n, _)| named(o, n));
        let raw = match value {
            Some((_, v)) => {
                let raw = v.bits(holds);
                Some(raw.map_err(|e| format!("the override `{key}`: {e}"))?)
            }
            None => {
                o.id.and_then(|id| options.spec_constants.get(&u32::from(id)).copied())
            }
        };
        if let Some(raw) = raw {
            out.insert(key, number(holds, raw));
        }
    }
    Ok(out)
}

/// Values of the overrides that a module still has.
pub(super) fn of(module: &Module, mut asked: PipelineConstants) -> PipelineConstants {
    let all = module.overrides.iter();
    all.filter_map(|(_, o)| asked.remove_entry(&key(o)?))
        .collect()
}

/// Converts bits to the number that they represent.
fn number(holds: SpecType, bits: u64) -> f64 {
    match holds {
        SpecType::Bool => f64::from(u8::from(bits & 1 != 0)),
        SpecType::Float(16) => half::f16::from_bits(bits as u16).to_f64(),
        SpecType::Float(32) => f64::from(f32::from_bits(bits as u32)),
        SpecType::Float(_) => f64::from_bits(bits),
        SpecType::Int(width, sign) => {
            let unused = 64 - width.clamp(1, 64);
            match sign {
                Some(true) => (((bits << unused) as i64) >> unused) as f64,
                _ => (bits << unused >> unused) as f64,
            }
        }
    }
}

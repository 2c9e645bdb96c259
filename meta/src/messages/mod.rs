//! Messages of the shared functions, with a file per family.
//!
//! A message is an operation ([`Message`]) with its arguments, text and payload lengths. It has a
//! form ([`Form`]) for each way in which a port encodes it: type number, fields of bits, and the
//! words of Intel's assembler. Sources: the descriptor tables of the PRMs, Vol. 2d (MSD0*, MSD1*,
//! MSDCC* and MDC entries). Mesa's `brw_eu_defines.h` says when each message was introduced.

mod atomic;
mod block;
mod ccs;
pub mod expr;
mod fence;
pub mod field;
mod gateway;
pub mod lsc;
mod render;
pub mod row;
pub mod sampler;
mod scattered;
mod typed;
mod urb;

use crate::row::RowError;
use field::Codec;
pub use row::{Form, Message, Port};
use std::collections::BTreeSet;
use std::panic::Location;

/// Returns every message, validated alone and together.
///
/// - Variants are unique.
/// - A form binds each argument in its value to a field, and has a field for no other.
/// - Fields that are encoded do not overlap each other or the type number.
/// - No form hides another one of its port and type number.
///
/// # Errors
/// Returns an error that names the first row which breaks a rule.
pub fn all() -> Result<Vec<Message>, RowError> {
    let messages: Vec<Message> = [
        scattered::rows(),
        atomic::rows(),
        block::rows(),
        fence::rows(),
        typed::rows(),
        lsc::rows(),
        gateway::rows(),
        sampler::rows(),
        urb::rows(),
        render::rows(),
        ccs::rows(),
    ]
    .into_iter()
    .flatten()
    .collect();
    check(&messages)?;
    Ok(messages)
}

/// Returns the forms of no message, which are only described. They come after all others.
pub fn others() -> Vec<Form> {
    ccs::forms()
}

fn check(messages: &[Message]) -> Result<(), RowError> {
    let mut variants = BTreeSet::new();
    let mut before: Vec<&Form> = vec![];
    for m in messages {
        for f in m.forms.iter().filter(|f| f.has_codec()) {
            let fail = |rule| {
                Err(RowError {
                    row: m.variant,
                    at: f.at,
                    rule,
                })
            };
            if let Some(value) = f.value {
                if !value.starts_with(m.variant) {
                    return fail("value: it is of another variant");
                }
                let bound = f.fields.iter().flat_map(|x| &x.args);
                let bound: BTreeSet<&str> = bound.copied().collect();
                if bound != bindings(value) {
                    return fail("value: its arguments are not those of the fields");
                }
            }
            if overlaps(f) {
                return fail("fields: two of them overlap");
            }
            let hides = |o: &&&Form| {
                o.port == f.port
                    && o.number == f.number
                    && o.gens.meets(f.gens)
                    && !o.is_conditional()
            };
            if before.iter().any(|o| hides(&o)) {
                return fail("form: an earlier one of its type number hides it");
            }
            before.push(f);
        }
        if !variants.insert(m.variant) {
            let at = m.forms.first().map_or(Location::caller(), |f| f.at);
            return Err(RowError {
                row: m.variant,
                at,
                rule: "variant: another message has it",
            });
        }
    }
    Ok(())
}

/// Returns the arguments that a value binds by shorthand, except `port`, which the shared function
/// determines.
fn bindings(value: &str) -> BTreeSet<&str> {
    let name = |w: &&str| w.starts_with(|c: char| c.is_ascii_lowercase());
    value
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .filter(name)
        .filter(|w| !w.ends_with(':') && !["true", "false", "port"].contains(w))
        .collect()
}

/// Returns true if two encoded fields, or a field and the type number, have bits in common.
fn overlaps(f: &Form) -> bool {
    let bits = |(lo, len): (u8, u8)| ((1u64 << len) - 1) << lo;
    let mut taken = f.number.map_or(0, |_| bits(f.port.number()));
    let encoded = |x: &&field::Field| !matches!(x.codec, Codec::None);
    for part in f.fields.iter().filter(encoded).flat_map(|x| &x.parts) {
        if taken & bits(*part) != 0 {
            return true;
        }
        taken |= bits(*part);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::field::{Codec, arg, surface};
    use super::row::{Form, Message, Port};

    fn rule(forms: impl IntoIterator<Item = Form>) -> Option<&'static str> {
        let m = Message::new("Ping", "Pings.").forms(forms);
        super::check(&[m]).err().map(|e| e.rule)
    }

    fn ping(value: &'static str) -> Form {
        Form::of(Port::DataCache0, 0x06)
            .value("ping", value)
            .fields([surface()])
    }

    #[test]
    fn rows_obey_the_rules() {
        let all = super::all().expect("rows keep their rules");
        let forms = all.iter().flat_map(|m| &m.forms);
        assert!(forms.filter(|f| f.value.is_some()).count() >= 74);
    }

    #[test]
    fn broken_rows_name_the_rule() {
        let good = || ping("Ping { surface }");
        assert_eq!(rule([good()]), None);
        assert_eq!(
            rule([ping("Pong { surface }")]),
            Some("value: it is of another variant")
        );
        let unbound = Some("value: its arguments are not those of the fields");
        assert_eq!(rule([ping("Ping { surface, n }")]), unbound);
        assert_eq!(rule([ping("Ping { surface: 1 }")]), unbound);
        let overlapping = ping("Ping { surface, n }").fields([arg("n", 7, 2, Codec::Uint("u8"))]);
        assert_eq!(rule([overlapping]), Some("fields: two of them overlap"));
        assert_eq!(
            rule([good(), good()]),
            Some("form: an earlier one of its type number hides it")
        );
    }
}

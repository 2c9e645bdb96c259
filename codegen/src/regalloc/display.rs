//! Text of allocated code.

use crate::mir::display::code;
use crate::mir::{RegConstraint, VCode, VReg};
use crate::regalloc::Allocation;
use std::fmt::Write;

/// Returns the text of allocated code, after a list of each register with its GRF and byte.
pub fn with_allocation(v: &VCode, a: &Allocation) -> String {
    let mut out = String::new();
    for (r, d) in &v.vregs {
        let at = a.address[r];
        let fixed = if matches!(d.constraint, RegConstraint::Fixed(_)) {
            " fixed"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "{}: r{}.{} {} bytes{fixed}",
            r as VReg,
            at / v.grf.bytes,
            at % v.grf.bytes,
            d.bytes
        );
    }
    out + &code(v, |_| String::new())
}

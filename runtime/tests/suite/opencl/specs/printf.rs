//! printf, compared by printed lines.

use super::super::case::{Case, either, within};
use crate::rng::Rng;

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("printf", kernel).line(48, 24).prints();
    vec![
        case("print_numbers")
            .buffer::<i32>(48, within(0.0, 9.0))
            .buffer::<f32>(48, either(0.001, 1000.0))
            .buffer::<i8>(48, |r: &mut Rng, _| b'a' as i8 + r.below(26) as i8),
        case("print_vectors")
            .buffer::<i32>(192, either(0.0, 1e9))
            .buffer::<f32>(96, either(0.001, 1000.0)),
    ]
}

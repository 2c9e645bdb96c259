//! Buffers that are declared not to alias, and others.

use super::super::case::{Case, any, within, zero};

pub fn cases() -> Vec<Case> {
    let case = |kernel| Case::new("restrict", kernel);
    let mut out = Vec::new();
    // Rows shorter than a vector step, as long, and longer.
    let rows = [
        (0, "of none"),
        (1, "of 1"),
        (3, "of 3"),
        (4, "of 4"),
        (5, "of 5"),
        (8, "of 8"),
        (11, "of 11"),
    ];
    for (n, label) in rows {
        let size = |row: i32| 48 * row.max(1) as usize;
        out.push(
            case("rows_scaled")
                .label(label)
                .line(48, 16)
                .buffer::<i32>(size(n), zero)
                .buffer::<i32>(size(n), any)
                .buffer::<i32>(8, any)
                .scalar(n),
        );
        out.push(
            case("rows_filled")
                .label(label)
                .line(48, 16)
                .buffer::<i32>(size(n), zero)
                .scalar(n),
        );
        out.push(
            case("rows_running")
                .label(label)
                .line(48, 16)
                .buffer::<i32>(size(n + 1), zero)
                .buffer::<i32>(size(n + 1), any)
                .scalar(n),
        );
    }
    out.push(
        case("turns")
            .line(64, 32)
            .buffer::<i32>(256, zero)
            .buffer::<i32>(256, any),
    );
    out.push(
        case("scaled")
            .line(64, 32)
            .buffer::<f32>(64, zero)
            .buffer::<f32>(64, within(-9.0, 9.0))
            .buffer::<f32>(1, within(-9.0, 9.0))
            .scalar(7),
    );
    out.push(
        case("again")
            .line(64, 32)
            .buffer::<i32>(64, zero)
            .buffer::<i32>(64, any),
    );
    out
}

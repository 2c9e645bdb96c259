//! Memory layout of types by decorations.

use super::Module;
use super::types::{Layout, MatrixLayout};
use crate::read::Id;
use spirv::Decoration;

/// Collects the layout decorations of a type.
pub(super) fn of(m: &Module<'_>, id: Id) -> Layout {
    let mut out = Layout::default();
    let mut rows: Vec<u32> = Vec::new();
    for (member, which, words) in m.decorations(id) {
        let n = words.first().copied().map(u64::from);
        match (which, member, n) {
            (Decoration::CPacked, ..) => out.packed = true,
            (Decoration::ArrayStride, None, Some(n)) => out.stride = Some(n),
            (Decoration::Offset, Some(m), Some(n)) => {
                out.offsets.insert(m, n);
            }
            (Decoration::MatrixStride, Some(m), Some(stride)) => {
                let row_major = false;
                out.matrices.insert(m, MatrixLayout { stride, row_major });
            }
            (Decoration::RowMajor, Some(m), _) => rows.push(m),
            _ => {}
        }
    }
    for m in rows {
        if let Some(layout) = out.matrices.get_mut(&m) {
            layout.row_major = true;
        }
    }
    out
}

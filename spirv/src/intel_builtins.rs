//! Built-in functions of Intel's compiler beyond OpenCL.std, which modules only declare.
//!
//! They are recognized by linkage name. `library/intel_builtins.rs` emits calls of them.

use crate::module::{Def, Module};
use crate::op_info::ResultUniformity;
use crate::read::{self, Id};
use gantry_codegen::ir::{AtomicOp, Block2dShape, BlockLayout, CachePolicy, Factor, Opcode};
use spirv::Decoration;

/// Operation of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Function {
    /// Bit-field insert: base, field, first bit, number of bits.
    InsertField,
    /// Bit-field extract: base, first bit, number of bits.
    SignedField,
    UnsignedField,
    ReverseBits,
    Cycles,
    HwThread,
    Eu,
    EuThread,
    Subslice,
    Slice,
    /// Compare-and-exchange with float comparison.
    CompareExchangeFloat,
    /// 16-bit atomic.
    Atomic(AtomicOp),
    /// Creation of a named barrier for a number of sub-groups.
    NamedBarrier,
    /// Wait at a named barrier, with memory fence flags.
    WaitNamed,
    /// Dot product of four bytes, signed or unsigned for each operand. A third operand is an
    /// accumulator.
    Dot {
        signs: [bool; 2],
    },
    /// Matrix product of a sub-group.
    Product(MatrixProduct),
    /// 2D block access, with data in private memory.
    Block2dAccess(Block2dAccess),
    /// 2D block load that returns its data.
    BlockValue(Block2dShape),
    /// Conversion of a single to TF32, and back.
    RoundToTf32,
    OfTf32,
}

/// Matrix product: element types of rows and columns, and number of summed products.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MatrixProduct {
    pub rows: Factor,
    pub columns: Factor,
    pub summed: u32,
}

/// Opcode and shape of a 2D block access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Block2dAccess {
    pub opcode: Opcode,
    pub shape: Block2dShape,
}

/// Splits a mangled C++ name into the function's name and its parameter types.
fn parts(name: &str) -> Option<(&str, &str)> {
    let rest = name.strip_prefix("_Z")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let (length, rest) = rest.split_at(digits);
    rest.split_at_checked(length.parse().ok()?)
}

/// Dot product of bytes by name. Vector types tell the signedness, as do names for packed words.
fn dot(name: &str, types: &str) -> Option<Function> {
    let words = name
        .strip_prefix("dot_acc_sat_4x8packed_")
        .or_else(|| name.strip_prefix("dot_4x8packed_"));
    let signs = match (words, name) {
        (Some("ss_int"), _) => [true, true],
        (Some("su_int"), _) => [true, false],
        (Some("us_int"), _) => [false, true],
        (Some("uu_uint"), _) => [false, false],
        (None, "dot" | "dot_acc_sat") => {
            let vector = |types: &str| match types.get(..5) {
                Some("Dv4_c") => Some(true),
                Some("Dv4_h") => Some(false),
                _ => None,
            };
            let first = vector(types)?;
            let rest = types.get(5..)?;
            let second = if rest.starts_with("S_") {
                first
            } else {
                vector(rest)?
            };
            [first, second]
        }
        _ => return None,
    };
    Some(Function::Dot { signs })
}

/// 16-bit atomic by name, as Intel's compiler has them: `__builtin_IB_atomic_add_global_i16`.
fn atomic(name: &str) -> Option<Function> {
    let mut words = name.strip_prefix("__builtin_IB_atomic_")?.split('_');
    let (op, memory, of) = (words.next()?, words.next()?, words.next()?);
    if !matches!(memory, "global" | "local") || words.next().is_some() {
        return None;
    }
    Some(Function::Atomic(match (op, of) {
        ("min", "u16") => AtomicOp::Umin,
        ("max", "u16") => AtomicOp::Umax,
        ("min", "f16") => AtomicOp::Fmin,
        ("max", "f16") => AtomicOp::Fmax,
        ("cmpxchg", "f16") => AtomicOp::Fcmpxchg,
        ("add", "i16") => AtomicOp::Add,
        ("sub", "i16") => AtomicOp::Sub,
        ("inc", "i16") => AtomicOp::Inc,
        ("dec", "i16") => AtomicOp::Dec,
        ("and", "i16") => AtomicOp::And,
        ("or", "i16") => AtomicOp::Or,
        ("xor", "i16") => AtomicOp::Xor,
        ("xchg", "i16") => AtomicOp::Xchg,
        ("min", "i16") => AtomicOp::Smin,
        ("max", "i16") => AtomicOp::Smax,
        ("cmpxchg", "i16") => AtomicOp::Cmpxchg,
        _ => return None,
    }))
}

/// Element type by name.
fn factor(name: &str) -> Option<Factor> {
    Some(match name {
        "u2" => Factor::U2,
        "i2" => Factor::S2,
        "u4" => Factor::U4,
        "i4" => Factor::S4,
        "u8" => Factor::U8,
        "i8" => Factor::S8,
        "f16" => Factor::F16,
        "bf16" => Factor::Bf16,
        "tf32" => Factor::Tf32,
        _ => return None,
    })
}

/// Matrix product by function name: `intel_sub_group_i8_u8_matrix_mad_k32`,
/// `intel_sub_group_tf32_tf32_matrix_mad_k8_f32`.
fn matrix_product(name: &str) -> Option<MatrixProduct> {
    let rest = name.strip_prefix("intel_sub_group_")?;
    let (kinds, summed) = rest.split_once("_matrix_mad_k")?;
    let (rows, columns) = kinds.split_once('_')?;
    let (rows, columns) = (factor(rows)?, factor(columns)?);
    let summed = match columns {
        Factor::Tf32 => summed.strip_suffix("_f32").unwrap_or(summed),
        _ => summed,
    };
    Some(MatrixProduct {
        rows,
        columns,
        summed: summed.parse().ok()?,
    })
}

/// 2D block access by name. `intel_sub_group_2d_block_read_transform_16b_16r16x1c` has 16-bit
/// elements, 16 rows, 16 columns and 1 block.
fn blocks(name: &str) -> Option<Block2dAccess> {
    let rest = name.strip_prefix("intel_sub_group_2d_block_")?;
    let forms = [
        (
            "read_transpose_",
            Opcode::Block2dLoad,
            BlockLayout::Transposed,
        ),
        ("read_transform_", Opcode::Block2dLoad, BlockLayout::Packed),
        ("read_", Opcode::Block2dLoad, BlockLayout::Rows),
        ("prefetch_", Opcode::Block2dPrefetch, BlockLayout::Rows),
        ("write_", Opcode::Block2dStore, BlockLayout::Rows),
    ];
    let found = forms
        .iter()
        .find_map(|(word, opcode, layout)| Some((rest.strip_prefix(word)?, *opcode, *layout)));
    let (rest, opcode, layout) = found?;
    let (bits, rest) = rest.split_once("b_")?;
    let (rows, rest) = rest.split_once('r')?;
    let (columns, blocks) = rest.strip_suffix('c')?.split_once('x')?;
    let bits: u8 = bits.parse().ok()?;
    let shape = Block2dShape {
        layout,
        bytes: bits / 8,
        rows: rows.parse().ok()?,
        columns: columns.parse().ok()?,
        blocks: blocks.parse().ok()?,
        cache: CachePolicy::DEFAULT,
    };
    (bits.is_multiple_of(8)).then_some(Block2dAccess { opcode, shape })
}

/// 2D block load that returns its data, by name. `intel_subgroup_block_read_u8_m8k32v2` has 8 rows,
/// 32 columns and 2 blocks. Transformed and transposed blocks fill 8 GRFs of 16 dwords. The name of
/// a transformed one has its rows, that of a transposed one its columns.
fn extended_block(name: &str) -> Option<Block2dShape> {
    let rest = name.strip_prefix("intel_subgroup_block_read_")?;
    let forms = [
        ("transform_u", BlockLayout::Packed),
        ("transpose_u", BlockLayout::Transposed),
        ("u", BlockLayout::Rows),
    ];
    let found = forms
        .iter()
        .find_map(|(word, layout)| Some((rest.strip_prefix(word)?, *layout)));
    let (rest, layout) = found?;
    let (bits, rest) = rest.split_once('_')?;
    let (rows, columns, blocks) = match layout {
        BlockLayout::Packed => (rest.strip_prefix('k')?, "16", "1"),
        BlockLayout::Transposed => ("16", rest.strip_prefix('k')?, "1"),
        BlockLayout::Rows => {
            let (rows, rest) = rest.strip_prefix('m')?.split_once('k')?;
            let (columns, blocks) = rest.split_once('v')?;
            (rows, columns, blocks)
        }
    };
    let bits: u8 = bits.parse().ok()?;
    bits.is_multiple_of(8).then_some(Block2dShape {
        layout,
        bytes: bits / 8,
        rows: rows.parse().ok()?,
        columns: columns.parse().ok()?,
        blocks: blocks.parse().ok()?,
        cache: CachePolicy::DEFAULT,
    })
}

/// Function by a mangled C++ name or a plain one.
fn find(name: &str) -> Option<Function> {
    let (plain, types) = parts(name).unwrap_or((name, ""));
    if let Some(atomic) = atomic(plain) {
        return Some(atomic);
    }
    if let Some(product) = matrix_product(plain) {
        return Some(Function::Product(product));
    }
    if let Some(blocks) = blocks(plain) {
        return Some(Function::Block2dAccess(blocks));
    }
    if let Some(shape) = extended_block(plain) {
        return Some(Function::BlockValue(shape));
    }
    if plain.starts_with("dot") {
        return dot(plain, types);
    }
    Some(match plain {
        "intel_bfi" => Function::InsertField,
        "intel_sbfe" => Function::SignedField,
        "intel_ubfe" => Function::UnsignedField,
        "intel_bfrev" => Function::ReverseBits,
        "intel_get_cycle_counter" => Function::Cycles,
        "intel_get_hw_thread_id" => Function::HwThread,
        "intel_get_eu_id" => Function::Eu,
        "intel_get_eu_thread_id" => Function::EuThread,
        "intel_get_subslice_id" => Function::Subslice,
        "intel_get_slice_id" => Function::Slice,
        "__builtin_IB_atomic_cmpxchg_global_f32" | "__builtin_IB_atomic_cmpxchg_local_f32" => {
            Function::CompareExchangeFloat
        }
        "intel_convert_f32_to_tf32" => Function::RoundToTf32,
        "intel_convert_tf32_to_f32" => Function::OfTf32,
        "named_barrier_init" => Function::NamedBarrier,
        "work_group_named_barrier" => Function::WaitNamed,
        _ => return None,
    })
}

/// Linkage name of a function, else its `OpName`.
pub(crate) fn name(m: &Module<'_>, id: Id) -> Option<String> {
    let mut all = m.decorations(id);
    let linked = all.find(|d| d.1 == Decoration::LinkageAttributes);
    let linked = linked.map(|d| read::string(d.2)).filter(|n| !n.is_empty());
    linked.or_else(|| m.name(id))
}

/// Returns true if a declared function is supported.
pub(crate) fn is_supported(m: &Module<'_>, id: Id) -> bool {
    name(m, id).is_some_and(|n| find(&n).is_some())
}

/// Function of a call, if the module only declares it.
pub(crate) fn called(m: &Module<'_>, operands: &[u32]) -> Option<Function> {
    let Def::Func(f) = m.def(Id::of(*operands.first()?)) else {
        return None;
    };
    let data = m.funcs.get(f).filter(|d| d.blocks.is_empty())?;
    find(&name(m, data.id)?)
}

/// Uniformity of the result of a call. `None` if it follows from the arguments.
pub(crate) fn result(m: &Module<'_>, operands: &[u32]) -> Option<ResultUniformity> {
    match called(m, operands)? {
        Function::CompareExchangeFloat
        | Function::Atomic(_)
        | Function::Product(_)
        | Function::BlockValue(_) => Some(ResultUniformity::Divergent),
        Function::InsertField
        | Function::SignedField
        | Function::UnsignedField
        | Function::ReverseBits
        | Function::RoundToTf32
        | Function::OfTf32
        | Function::Dot { .. } => None,
        _ => Some(ResultUniformity::Uniform),
    }
}

/// Returns true if a call accesses memory through its first argument.
pub(crate) fn accesses(m: &Module<'_>, operands: &[u32]) -> bool {
    matches!(
        called(m, operands),
        Some(Function::CompareExchangeFloat | Function::Atomic(_))
    )
}

/// Returns true if a call creates a named barrier.
pub(crate) fn makes_barrier(m: &Module<'_>, operands: &[u32]) -> bool {
    called(m, operands) == Some(Function::NamedBarrier)
}

/// Returns true for matrix products, whose sub-groups are as wide as the systolic array.
pub(crate) fn multiplies(m: &Module<'_>, operands: &[u32]) -> bool {
    matches!(called(m, operands), Some(Function::Product(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_multiplied() {
        let product = |rows, columns, summed| {
            Some(MatrixProduct {
                rows,
                columns,
                summed,
            })
        };
        let found = [
            ("i8_u8_matrix_mad_k32", product(Factor::S8, Factor::U8, 32)),
            ("u4_i8_matrix_mad_k32", product(Factor::U4, Factor::S8, 32)),
            (
                "bf16_bf16_matrix_mad_k16",
                product(Factor::Bf16, Factor::Bf16, 16),
            ),
            (
                "tf32_tf32_matrix_mad_k8_f32",
                product(Factor::Tf32, Factor::Tf32, 8),
            ),
            ("i8_i8_split_matrix_mad_k32", None),
            ("f16_f16_matrix_mad_k16_f32", None),
            ("i8_matrix_mad_k32", None),
            ("i8_i8_matrix_mad_k", None),
        ];
        for (name, want) in found {
            assert_eq!(
                matrix_product(&format!("intel_sub_group_{name}")),
                want,
                "{name}"
            );
        }
        assert_eq!(matrix_product("i8_i8_matrix_mad_k32"), None);
    }
}

//! Messages of the load/store cache (Xe-HPG on).
//!
//! Source: the DP_* descriptor structures of the Xe-HPG and Xe-HPC PRMs ("Shared Functions - Data
//! Port").

use super::expr::{Cond, Expr};
use super::field::{Codec, Entry, Field, Meaning, Missing, arg, clear, components, field};
use super::row::{Form, Message, Payload, Port};
use crate::generation::ALL;

/// Kind of memory access of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read, compute with this number of data operands, and write.
    Atomic(u8),
    /// No memory access of data.
    Other,
}

/// Operation of the load/store cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LscOp {
    /// Variant of `LscOp`.
    pub variant: &'static str,
    /// Name in assembly text.
    pub name: &'static str,
    /// Description for a listing that cannot name all parts of the message.
    pub line: &'static str,
    /// Kind of memory access.
    pub kind: Kind,
    /// True if components are selected by a mask instead of a count.
    pub mask: bool,
}

const fn op(variant: &'static str, name: &'static str, line: &'static str, kind: Kind) -> LscOp {
    LscOp {
        variant,
        name,
        line,
        kind,
        mask: false,
    }
}

impl LscOp {
    const fn masked(self) -> LscOp {
        LscOp { mask: true, ..self }
    }
}

use Kind::{Atomic, Load, Other, Store};

/// Operations by number (bits 5:0 of the descriptor).
#[rustfmt::skip]
pub const OPS: [LscOp; 33] = [
    op("Load", "load", "gathering load", Load),
    op("LoadStrided", "load_strided", "strided load (a.k.a load_block)", Load),
    op("LoadQuad", "load_quad", "quad load (a.k.a. load_cmask)", Load).masked(),
    op("LoadBlock2d", "load_block2d", "block2d load", Load),
    op("Store", "store", "scattering store", Store),
    op("StoreStrided", "store_strided", "strided store (a.k.a store_block)", Store),
    op("StoreQuad", "store_quad", "quad store (a.k.a. store_cmask)", Store).masked(),
    op("StoreBlock2d", "store_block2d", "block2d store", Store),
    op("AtomicIinc", "atomic_iinc", "atomic integer increment", Atomic(0)),
    op("AtomicIdec", "atomic_idec", "atomic integer decrement", Atomic(0)),
    op("AtomicLoad", "atomic_load", "atomic load", Atomic(0)),
    op("AtomicStore", "atomic_store", "atomic store", Atomic(1)),
    op("AtomicIadd", "atomic_iadd", "atomic integer add", Atomic(1)),
    op("AtomicIsub", "atomic_isub", "atomic integer subtract", Atomic(1)),
    op("AtomicSmin", "atomic_smin", "atomic signed-integer minimum", Atomic(1)),
    op("AtomicSmax", "atomic_smax", "atomic signed-integer maximum", Atomic(1)),
    op("AtomicUmin", "atomic_umin", "atomic unsigned-integer minimum", Atomic(1)),
    op("AtomicUmax", "atomic_umax", "atomic unsigned-integer maximum", Atomic(1)),
    op("AtomicIcas", "atomic_icas", "atomic integer compare and swap", Atomic(2)),
    op("AtomicFadd", "atomic_fadd", "atomic float add", Atomic(1)),
    op("AtomicFsub", "atomic_fsub", "atomic float subtract", Atomic(1)),
    op("AtomicFmin", "atomic_fmin", "atomic float minimum", Atomic(1)),
    op("AtomicFmax", "atomic_fmax", "atomic float maximum", Atomic(1)),
    op("AtomicFcas", "atomic_fcas", "atomic float compare and swap", Atomic(2)),
    op("AtomicAnd", "atomic_and", "atomic logical and", Atomic(1)),
    op("AtomicOr", "atomic_or", "atomic logical or", Atomic(1)),
    op("AtomicXor", "atomic_xor", "atomic logical xor", Atomic(1)),
    op("LoadStatus", "load_status", "load status", Load),
    op("StoreUncompressed", "store_uncompressed", "scattering store uncompressed", Store),
    op("Ccs", "ccs", "compression-state control", Other),
    op("ReadState", "read_state", "read state information", Other),
    op("Fence", "fence", "fence", Other),
    op("StoreUncompressedQuad", "store_uncompressed_quad", "store quad uncompressed", Store).masked(),
];

/// Value of a field that is an enum of `gantry-isa-gen`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Value {
    /// Variant.
    pub variant: &'static str,
    /// Name in assembly text.
    pub name: &'static str,
    /// Words of Intel's assembler.
    pub line: &'static str,
    /// Documentation.
    pub doc: &'static str,
}

const fn value(
    variant: &'static str,
    name: &'static str,
    line: &'static str,
    doc: &'static str,
) -> Value {
    Value {
        variant,
        name,
        line,
        doc,
    }
}

/// Operations of a fence on caches, by number.
#[rustfmt::skip]
pub const FENCE_OPS: [Value; 7] = [
    value("None", "none", "no op", "No operation."),
    value("Evict", "evict", "evict (dirty lines invalidated and evicted)", "Writes dirty lines and drops them."),
    value("Invalidate", "invalidate", "invalidate (all clean lines, but do not evict)", "Drops clean lines."),
    value("Discard", "discard", "discard (dirty and clean lines invalidated without eviction)", "Drops all lines."),
    value("Clean", "clean", "clean (dirty lines written out, but kept in clean state)", "Writes dirty lines and keeps them."),
    value("FlushL3", "flushl3", "flush L3 only", "Flushes the third level only."),
    // Intel's assembler reports it as invalid, and its compiler emits it.
    value("Type6", "type6", NO_FENCE_OP, "No operation, under a second number. Intel's compiler uses it on Xe-HPG before a thread ends."),
];
const NO_FENCE_OP: &str = "invalid flush type";

/// Scopes of a fence, by number.
#[rustfmt::skip]
pub const SCOPES: [Value; 7] = [
    value("Group", "group", "thread group", "The thread group."),
    value("Local", "local", "slice", "The slice."),
    value("Tile", "tile", "tile", "The tile."),
    value("Gpu", "gpu", "gpu", "The GPU."),
    value("Gpus", "gpus", "all gpus", "All GPUs."),
    value("SysRel", "sysrel", "system release", "The system, as a release."),
    value("SysAcq", "sysacq", "system acquire", "The system, as an acquire."),
];

/// Compression control operations, by number.
#[rustfmt::skip]
pub const CCS_OPS: [Value; 4] = [
    value("PageClear", "ccs_pc", "page clear (64k)", "Clears a page of 64 KiB."),
    value("SectorClear", "ccs_sc", "sector clear (2-cachelines)", "Clears a sector of two cache lines."),
    value("PageUncompress", "ccs_pu", "page uncompress (64k)", "Uncompresses a page."),
    value("SectorUncompress", "ccs_su", "sector uncompress (2-cachelines)", "Uncompresses a sector."),
];

/// Sizes of an element, by number.
#[rustfmt::skip]
pub const DATA_SIZES: [Value; 7] = [
    value("D8", "d8", "8 bits", "8 bits (block messages)."),
    value("D16", "d16", "16 bits", "16 bits (block messages)."),
    value("D32", "d32", "32 bits", "32 bits."),
    value("D64", "d64", "64 bits", "64 bits."),
    value("D8U32", "d8u32", "8 bits", "8 bits in the low part of a dword."),
    value("D16U32", "d16u32", "16 bits", "16 bits in the low half of a dword."),
    value("D16U32H", "d16u32h", "16 bits", "16 bits in the high half of a dword."),
];

/// Elements per address, by number (bits 14:12 of the descriptor).
pub const VECTORS: [u8; 8] = [1, 2, 3, 4, 8, 16, 32, 64];

/// Lists the words of each value, and `rest` for other numbers of 3 bits.
fn lines(values: &[Value], rest: &'static str) -> [&'static str; 8] {
    std::array::from_fn(|n| values.get(n).map_or(rest, |v| v.line))
}

/// Returns the numbers of a field of `len` bits from `first` on.
fn from(first: usize, len: u32) -> Vec<u32> {
    (first as u32..1 << len).collect()
}

/// Returns the number of an operation.
fn number(variant: &str) -> u8 {
    let found = OPS.iter().position(|o| o.variant == variant);
    found.and_then(|n| u8::try_from(n).ok()).unwrap_or(u8::MAX)
}

fn data() -> Field {
    arg("data", 9, 3, Codec::Enum("LscData"))
        .label("data size")
        .named("DataSize", &lines(&DATA_SIZES, "?"))
}

fn address_bits() -> Field {
    field(7, 2)
}

/// Size of addresses.
fn address() -> Field {
    let entry = |bits, value| Entry {
        bits,
        values: vec![value],
        gens: ALL,
    };
    let codec = Codec::Table {
        entries: vec![
            entry(1, "LscAddr::A16"),
            entry(2, "LscAddr::A32"),
            entry(3, "LscAddr::A64"),
        ],
        missing: Missing::Never,
        choose: false,
    };
    Field {
        args: vec!["addr"],
        codec,
        ..address_bits()
    }
    .label("address size")
    .named("AddrSize", &["?", "16 bits", "32 bits", "64 bits"])
    .error(&[0], "no such address size")
}

/// Size of addresses that are always of one size.
fn fixed_address(bits: u32) -> Field {
    Field {
        codec: Codec::Always(bits),
        ..address_bits()
    }
}

fn hook(name: &'static str, lo: u8, len: u8, decode: &'static str, encode: &'static str) -> Field {
    arg(name, lo, len, Codec::Hook { decode, encode })
}

/// Type of addresses (30:29), and the surface in the extended descriptor.
fn surface(decode: &'static str, encode: &'static str) -> Field {
    hook("surface", 29, 2, decode, encode)
        .and(32 + 6, 26)
        .named("AddrType", &["flat", "bss", "ss", "bti"])
}

fn any_surface() -> Field {
    surface("lsc::surface(port, {})?", "lsc::surface_bits(port, {})?")
}

fn caching(decode: &'static str, encode: &'static str) -> Field {
    // The names of the policies depend on the operation.
    hook("caching", 17, 3, decode, encode).listed("Caching", Meaning::Plain)
}

const WHAT: &str = "load/store cache";

fn form(variant: &str, value: &'static str) -> Form {
    Form::of(Port::Lsc, number(variant))
        .value(WHAT, value)
        .lacks("")
}

fn access() -> Message {
    let op = hook(
        "op",
        0,
        6,
        "match LscOp::from_bits({}) { Some(op) => op, None => return Ok(None) }",
        "lsc::access_op({})?",
    )
    .named("Opcode", &OPS.map(|o| o.name))
    .error(&from(OPS.len(), 6), "no such operation");
    let vector = hook(
        "vector",
        12,
        4,
        "lsc::vector(op, {})?",
        "lsc::vector_bits(op, {})?",
    );
    let per_address: Vec<String> = VECTORS.iter().map(|n| format!("{n} per address")).collect();
    let per_address: Vec<&str> = per_address.iter().map(String::as_str).collect();
    let components: Vec<String> = (0..16).map(components).collect();
    let components: Vec<&str> = components.iter().map(String::as_str).collect();
    Message::new("Lsc", "Load, store or atomic of the load/store cache.")
        .of("LscAccess")
        .text("{}")
        // Port, operation and vector decide together, which formulas of arguments cannot say.
        .payload(Payload::hook("message.lengths(grf, exec)"))
        .form(
            Form::other(Port::Lsc)
                .value(
                    WHAT,
                    "Lsc(LscAccess { port, op, data, vector, addr, surface, caching })",
                )
                .lacks("")
                .fields([
                    op,
                    data(),
                    vector,
                    field(12, 4)
                        .named("CompEn", &components)
                        .error(&[0], "no component is enabled"),
                    field(12, 3).named("VecSize", &per_address),
                    address(),
                    any_surface(),
                    caching(
                        "lsc::caching(port, op.kind(), {})",
                        "lsc::caching_bits(port, op.kind(), {})?",
                    ),
                ]),
        )
}

fn block2d() -> Message {
    let transposed = || {
        let orders = ["a row per element", "transposed"];
        arg("transposed", 15, 1, Codec::Flag).named("DataOrder", &orders)
    };
    Message::new(
        "LscBlock2d",
        "2D block access of the load/store cache: rectangles of elements. Position and size are in the payload.",
    )
    .arg("port", "LscPort", "Port that carries the message.")
    .dir()
    .arg("data", "LscData", "Size of an element.")
    .arg(
        "transposed",
        "bool",
        "True if columns of the rectangle become rows.",
    )
    .arg(
        "vnni",
        "bool",
        "True if elements of several rows are packed into dwords, as the systolic array reads them (reads).",
    )
    .arg("surface", "LscSurface", "Surface.")
    .arg("caching", "LscCaching", "Cache policies.")
    .text("{dir=Dir::Read?load|store}_block2d.{port}.{data}{transposed?t}{vnni?v}.a64{caching}{surface}")
    .payload(Payload::address(Expr::Num(1)))
    .form(
        form(
            "LoadBlock2d",
            "LscBlock2d { port, dir: Dir::Read, data, transposed, vnni, surface, caching }",
        )
        .fields([
            data(),
            transposed(),
            arg("vnni", 7, 1, Codec::Flag).named("Block2dVnniTransform", &["disabled", "enabled"]),
            any_surface(),
            caching(
                "lsc::caching(port, LscKind::Load, {})",
                "lsc::caching_bits(port, LscKind::Load, {})?",
            ),
        ]),
    )
    .form(
        form(
            "StoreBlock2d",
            "LscBlock2d { port, dir: Dir::Write, data, transposed, vnni, surface, caching }",
        )
        .fields([
            data(),
            transposed(),
            clear("vnni", "false", "VNNI of a store"),
            any_surface(),
            caching(
                "lsc::caching(port, LscKind::Store, {})",
                "lsc::caching_bits(port, LscKind::Store, {})?",
            ),
        ]),
    )
}

fn others() -> [Message; 3] {
    let fence = Message::new("LscFence", "Fence of a port of the load/store cache.")
        .arg("port", "LscPort", "Port.")
        .arg("op", "LscFenceOp", "Operation on the caches.")
        .arg("scope", "LscScope", "Scope of the ordering.")
        .arg(
            "backup",
            "bool",
            "Bit 18, which compilers set for untyped global memory on Xe-HPG (\"backup mode\").",
        )
        .text("fence.{port}.{op}.{scope}")
        .payload(Payload {
            response: Expr::Num(1),
            ..Payload::address(Expr::Num(1))
        })
        .form(
            form("Fence", "LscFence { port, op, scope, backup }").fields([
                arg("op", 12, 3, Codec::Enum("LscFenceOp"))
                    .label("fence operation")
                    .named("FlushOp", &lines(&FENCE_OPS, NO_FENCE_OP))
                    .error(&from(FENCE_OPS.len() - 1, 3), "no such operation"),
                arg("scope", 9, 3, Codec::Enum("LscScope"))
                    .label("fence scope")
                    .named("FlushScope", &lines(&SCOPES, "invalid flush scope"))
                    .error(&from(SCOPES.len(), 3), "no such scope"),
                arg("backup", 18, 1, Codec::Flag),
                // There are no addresses, and compilers encode their size as 32 bits.
                fixed_address(2),
            ]),
        );
    let page = Cond::Page("op");
    let ccs = Message::new("LscCcs", "Compression control.")
        .arg("port", "LscPort", "Port that carries the message.")
        .arg("op", "CcsOp", "Operation.")
        .arg("surface", "LscSurface", "Surface; flat for a page.")
        .text("{op}.{port}{surface}")
        .payload(Payload::address(Expr::If(
            page,
            Box::new(Expr::Num(1)),
            Box::new(Expr::Exec.times(Expr::Num(8)).grfs()),
        )))
        .form(
            form("Ccs", "LscCcs { port, op, surface }").fields([
                arg("op", 17, 3, Codec::Enum("CcsOp"))
                    .label("compression control operation")
                    .named("CcsOp", &lines(&CCS_OPS, "invalid ccs sop"))
                    .error(&from(CCS_OPS.len(), 3), "no such operation"),
                surface(
                    "lsc::ccs_surface(port, op, {})?",
                    "lsc::ccs_surface_bits(port, op, {})?",
                ),
                fixed_address(3),
            ]),
        );
    let state = Message::new("LscReadState", "Reads the state of a surface.")
        .arg("port", "LscPort", "Port that carries the message.")
        .arg("surface", "LscSurface", "Surface.")
        .text("read_state.{port}{surface}")
        .payload(Payload {
            response: Expr::Num(64).grfs(),
            ..Payload::address(Expr::Num(1))
        })
        .form(
            form("ReadState", "LscReadState { port, surface }").fields([surface(
                "lsc::state_surface(port, {})?",
                "lsc::state_surface_bits(port, {})?",
            )]),
        );
    [fence, ccs, state]
}

pub(super) fn rows() -> Vec<Message> {
    let [fence, ccs, state] = others();
    vec![access(), block2d(), fence, ccs, state]
}

//! Rows of memory accesses and synchronization.

use super::format::Format::{
    ArgQuery, Atomic, Block2d, Fence, Image, ImageAtomic, Load, Media, NamedBarrier, Nullary,
    Prefetch, Printf, Send, Store, Symbol,
};
use super::row::Class::None as NoClass;
use super::row::Out::{Ctrl, None as NoOut};
use super::row::{Row, op};

#[rustfmt::skip] // A row a line.
pub(super) fn rows() -> Vec<Row> {
    vec![
        op("load", Load, NoClass, Ctrl, "One element per lane from an address per lane, or up to four consecutive ones, all first elements first; disabled lanes keep the old value: `load.f32x16 v1+4, mask v2, v3`, `load.f32x32 slm v1 align 8`."),
        op("store", Store, NoClass, NoOut, "One to four elements per lane to an address per lane: `store v1, v2+4, mask v3`.").effect(),
        op("bload", Load, NoClass, Ctrl, "Consecutive elements from one address, a multiple of the element size."),
        op("bstore", Store, NoClass, NoOut, "Consecutive elements to one address, a multiple of the element size.").effect(),
        op("prefetch", Prefetch, NoClass, NoOut, "Fetches the cache line of an address per lane, on targets that can; others compute nothing: `prefetch v1+64, mask v2`.").hint(),
        op("barrier", Nullary, NoClass, NoOut, "Waits until every thread of the work-group arrives.").effect(),
        op("barrier_arrive", Nullary, NoClass, NoOut, "First half of `barrier`: tells that the thread has arrived, and goes on. A `barrier_wait` of the thread comes before its next barrier and its end.").effect(),
        op("barrier_wait", Nullary, NoClass, NoOut, "Second half of `barrier`: waits until every thread of the work-group has arrived.").effect(),
        op("named_barrier", NamedBarrier, NoClass, NoOut, "Waits until a number of threads of the work-group, `i32`, arrive at the barrier with a number from 1 to 31: `named_barrier 2, v1`.").effect(),
        op("atomic", Atomic, NoClass, Ctrl, "Atomic operation on an element per lane, lane by lane, that returns the old value: `atomic.i32x16 add slm v1+4, v2, mask v3, v4`.").effect(),
        op("image_load", Image, NoClass, Ctrl, "A texel per lane at integer coordinates, all first components first; disabled lanes keep the old value: `image_load.f32x64 image 0 (v1, v2), mask v3, v4`."),
        op("image_store", Image, NoClass, NoOut, "A texel per lane to integer coordinates: `image_store image 1 (v1, v2), v3, mask v4`.").effect().text("image {at.image: a number of an argument} ({coords})[ lod {lod}], {data}[, mask {mask}]"),
        op("image_atomic", ImageAtomic, NoClass, Ctrl, "Atomic operation on a texel of one 32-bit integer per lane, lane by lane, that returns the old value: `image_atomic.i32x16 add image 0 (v1, v2), v3, mask v4, v5`.").effect(),
        op("sample", Image, NoClass, Ctrl, "Texels that a sampler filters at coordinates, of level 0 or of a given level, compared with a reference if one is given: `sample.f32x64 image 0 sampler 0 (v1, v2) lod v3 ref v4, mask v5, v6`.").text("image {at.image: a number of an argument} sampler {at.sampler: a number of an argument} ({coords})[ lod {lod}][ ref {data}][, mask {mask}, {old}]"),
        op("image_query", ArgQuery, NoClass, Ctrl, "Property of an image, `i32`, or `i64` for an address: `image_query.i32 width image 0`."),
        op("sampler_query", ArgQuery, NoClass, Ctrl, "`i32`: property of a sampler: `sampler_query.i32 normalized sampler 0`.").text("{fact: a fact} sampler {of: a number of an argument}"),
        op("media_load", Media, NoClass, Ctrl, "Rectangle of bytes of an image, row after row, at a position in bytes and rows: `media_load.i8x128 image 0 (v1, v2) width 16`."),
        op("media_store", Media, NoClass, NoOut, "Stores a rectangle of bytes of an image: `media_store image 0 (v1, v2) width 16, v3`.").effect().text("image {image: a number of an argument} ({coords}) width {width: bytes of a row}, {data}"),
        op("block2d_load", Block2d, NoClass, Ctrl, "Adjacent blocks of elements in a surface, given by its address, `(width, height, pitch)`, `(column, row)`: `block2d_load.i32x128 rows 8 columns 16 blocks 2 bytes 2 v1 (v2, v3, v4) (v5, v6)`; `transposed` or `packed` before `rows`."),
        op("block2d_store", Block2d, NoClass, NoOut, "Stores a block of elements in a surface: `block2d_store rows 8 columns 16 blocks 1 bytes 2 v1 (v2, v3, v4) (v5, v6), v7`.").effect().text("{shape} {args.0} ({args.1}, {args.2}, {args.3}) ({args.4}, {args.5}), {data}"),
        op("block2d_prefetch", Block2d, NoClass, NoOut, "Prefetches blocks of elements of a surface into the caches: `block2d_prefetch rows 8 columns 16 blocks 1 bytes 2 v1 (v2, v3, v4) (v5, v6)`.").hint(),
        op("send", Send, NoClass, NoOut, "Message with given descriptors, without a response: `send exec 8 ex 0xc desc 0x2026000 v1, mask v2`.").effect().text("{message(exec, descs)} {payload}[, {second}][, mask {mask}]"),
        op("send_reply", Send, NoClass, Ctrl, "Message with given descriptors and a response: `send_reply.i32x8 exec 8 ex 0xc desc 0x2106e00 v1`; a second payload follows the first. What the response does not write, as of disabled channels, keeps an old value: `, mask v2, old v3`.").effect(),
        op("symbol_addr", Symbol, NoClass, Ctrl, "`i64`: address of data of the module: `symbol_addr.i64 %table`."),
        op("printf", Printf, NoClass, NoOut, "Prints a line per lane, as OpenCL's `printf` does, with the lanes of values as arguments: `printf %format(v1, v2), mask v3`.").effect(),
        op("printf_buffer", Nullary, NoClass, Ctrl, "`i64`: address of the buffer of `printf`, used in the expansion of `printf`."),
        op("fence", Fence, NoClass, NoOut, "Orders a thread's accesses before the fence before those after it, for all threads of the scope: `fence global device`.").effect(),
    ]
}

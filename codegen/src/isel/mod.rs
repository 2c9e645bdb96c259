//! Instruction selection: IR to machine instructions over virtual registers.
//!
//! The order is as follows. [`lower`] creates bales and logical sends. [`lower_sends`] creates
//! payloads and descriptors. [`split_regions`] splits bales until the hardware takes them.
//! [`mask_stack`] decides if SIMD control flow uses the hardware's mask stack.

pub(crate) mod lower;
pub(crate) mod lower_sends;
pub(crate) mod mask_stack;
pub(crate) mod split_regions;

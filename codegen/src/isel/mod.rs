//! Instruction selection: from the IR to machine instructions over virtual registers.
//!
//! In order: [`lower`] makes bales and logical sends, [`lower_sends`] makes payloads and
//! descriptors, [`split_regions`] splits bales until the hardware takes them. [`mask_stack`]
//! decides whether SIMD control flow is the hardware's own.

pub(crate) mod lower;
pub(crate) mod lower_sends;
pub(crate) mod mask_stack;
pub(crate) mod split_regions;

//! Decoders of the ports and encoders of the messages, generated from the rows of
//! `gantry_meta::messages`.

use super::values::{
    SimdModes, bits, components, fit, log2_count, range, reserved, stateless, surface_bits,
    unsupported,
};
use super::{lsc, other};
use crate::message::lsc::{LscAccess, LscAddr, LscKind, LscPort};
use crate::message::op::{CcsOp, LscData, LscFenceOp, LscScope};
use crate::message::params::{
    AddrModel, AtomicOp, BlockUnit, Cache, Dir, FloatAtomicOp, Simd, Slots, Surface,
};
use crate::message::ports::{GatewayOp, RenderLayout, Sample, Urb, UrbOp};
use crate::message::{LscOp, MessageError, MsgOp, SampleOp, Sfid};
use crate::platform::Platform;

include!(concat!(env!("OUT_DIR"), "/message_codec.rs"));

//! Function after all passes, ready for emission.

use crate::body::Body;
use crate::cfg::Graph;
use crate::cfg::structurize::StructuredCfg;
use crate::module::Func;
use crate::promoted_arrays::PromotedArrays;
use crate::uniformity::Uniformity;

/// Kernel or function that it calls, ready for emission.
pub(crate) struct PreparedFunction {
    pub func: Func,
    pub is_kernel: bool,
    pub body: Body,
    pub graph: Graph,
    pub structured: StructuredCfg,
    pub uniformity: Uniformity,
    pub arrays: PromotedArrays,
    /// Indices of the parameters that have a lane for each channel, in ascending order.
    pub divergent: Vec<u32>,
}

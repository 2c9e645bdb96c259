//! Xe-LP: as Gen11.

use super::Abi;
use super::before_xe::GEN11_ABI;

pub(super) static XE_LP: Abi = GEN11_ABI;

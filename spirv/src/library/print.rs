//! `printf`.

use super::Method;
use spirv::OpenclStd100Op as Std;

pub(super) fn find(_: Std) -> Option<Method> {
    None
}

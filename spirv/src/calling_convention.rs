//! Calling convention of functions that are not inlined: leaves in registers, or private memory.
//!
//! A call passes a limited number of bytes in registers. Larger arguments and results are in
//! private memory of the caller, largest first. The caller stores an argument before the call and
//! passes its address. It loads such a result after the call, and its address is the last
//! parameter. The callee loads and stores them at its entry and return. All calls of a function
//! share these slots, since no value stays in them across another call.

use crate::module::types::{MAX_LEAVES, Ty, Type};
use crate::module::{Def, FuncData, Module};
use crate::read::Id;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Maximum bytes of arguments and results in registers, for each work-item.
const MAX_BYTES: u64 = 96;
/// Maximum bytes of additional arguments in registers that are equal in the whole launch, for each
/// thread.
const MAX_COMMON: u64 = 1024;

/// Calling convention of a function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CallConv {
    /// Built-in variables that are passed as parameters, with their types.
    pub inputs: Vec<(Id, Ty)>,
    /// Pointer type of each parameter that is in memory. Built-in variables come last.
    pub params: SmallVec<[Option<Ty>; 8]>,
    /// Pointer type of the result, if it is in memory.
    pub result: Option<Ty>,
}

impl CallConv {
    /// Convention of a function. `common` marks parameters that are equal in the whole launch.
    /// Returns `None` if its values cannot be passed.
    pub fn new(
        m: &Module<'_>,
        data: &FuncData,
        common: &[bool],
        inputs: &BTreeSet<Id>,
    ) -> Option<CallConv> {
        let input = |id: &Id| match m.def(*id) {
            Def::Global(g) => Some((*id, m.globals.get(g)?.ty)),
            _ => None,
        };
        let inputs: Vec<(Id, Ty)> = inputs.iter().map(input).collect::<Option<_>>()?;
        let result = (*m.types.kind(data.result) != Type::Void).then_some(data.result);
        let params = data.params.iter().chain(&inputs).map(|p| p.1);
        let all: Vec<Ty> = params.chain(result).collect();
        let mut bytes: Vec<u64> = all.iter().map(|ty| registers(m, *ty)).collect();
        let mut left = MAX_COMMON;
        for (bytes, _) in bytes.iter_mut().zip(common).filter(|(_, c)| **c) {
            if let Some(rest) = left.checked_sub(*bytes) {
                (left, *bytes) = (rest, 0);
            }
        }
        let mut in_memory: Vec<Option<Ty>> = vec![None; all.len()];
        // Largest last.
        let mut order: Vec<(u64, usize)> = bytes.into_iter().zip(0..).collect();
        order.sort_unstable();
        let mut sum: u128 = order.iter().map(|(n, _)| u128::from(*n)).sum();
        while sum > u128::from(MAX_BYTES) {
            let (size, largest) = order.pop()?;
            let (ty, place) = (*all.get(largest)?, in_memory.get_mut(largest)?);
            if size <= ADDRESS || m.types.leaves(ty) > MAX_LEAVES {
                return None;
            }
            *place = Some(m.private_pointer(ty)?);
            sum -= u128::from(size - ADDRESS);
        }
        let result = result.and_then(|_| in_memory.pop().flatten());
        Some(CallConv {
            inputs,
            params: in_memory.into(),
            result,
        })
    }

    /// Pointer types of the slots that a call needs, in order.
    pub fn memory_slots(&self) -> impl Iterator<Item = Ty> + '_ {
        self.params.iter().flatten().copied().chain(self.result)
    }
}

/// Bytes of a private address.
const ADDRESS: u64 = 4;

/// Bytes of a value in registers. Predicates and narrow scalars take a dword.
fn registers(m: &Module<'_>, ty: Ty) -> u64 {
    match m.types.leaves(ty) {
        n if n > MAX_LEAVES => u64::MAX,
        _ => {
            let all = m.types.scalars(ty);
            all.iter().map(|(t, _)| m.types.size(*t).max(4)).sum()
        }
    }
}

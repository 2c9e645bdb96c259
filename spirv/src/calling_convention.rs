//! Arguments and results of functions that stay functions: as leaves in registers, or at an address in private memory.
//!
//! Needs a module and the functions that stay such. What takes more registers than a call may is in memory of the caller: before a call it stores an argument
//! there and passes its address, and behind it it loads the result, whose address is the last parameter. The functions load and store them where
//! they begin and end. A caller has one place for all its calls, since nothing lives there but between one of them and what stands next to it.

use crate::emit::MAX_LEAVES;
use crate::module::types::{Ty, Type};
use crate::module::{Def, FuncData, Module};
use crate::read::Id;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// The most bytes a work-item that a function takes and gives in registers.
const MAX_BYTES: u64 = 96;
/// The most bytes of a thread that a function takes besides, of what a whole launch has in common.
const MAX_COMMON: u64 = 1024;

/// How a function takes its arguments and gives its result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct CallConv {
    /// Built-in variables that are passed, and their types.
    pub inputs: Vec<(Id, Ty)>,
    /// Of each parameter that is in memory the type of its address; those of built-in variables come last.
    pub params: SmallVec<[Option<Ty>; 8]>,
    /// The same of the result.
    pub result: Option<Ty>,
}

impl CallConv {
    /// That of a function, some of whose parameters are the same in a whole launch, and of built-in variables. None: it cannot be passed.
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
        let mut places: Vec<Option<Ty>> = vec![None; all.len()];
        // The largest go first.
        let mut order: Vec<(u64, usize)> = bytes.into_iter().zip(0..).collect();
        order.sort_unstable();
        let mut sum: u128 = order.iter().map(|(n, _)| u128::from(*n)).sum();
        while sum > u128::from(MAX_BYTES) {
            let (size, largest) = order.pop()?;
            let (ty, place) = (*all.get(largest)?, places.get_mut(largest)?);
            if size <= ADDRESS || m.types.leaves(ty) > MAX_LEAVES {
                return None;
            }
            *place = Some(m.private_pointer(ty)?);
            sum -= u128::from(size - ADDRESS);
        }
        let result = result.and_then(|_| places.pop().flatten());
        Some(CallConv {
            inputs,
            params: places.into(),
            result,
        })
    }

    /// The types of the addresses that a call passes besides what it is given, in order.
    pub fn places(&self) -> impl Iterator<Item = Ty> + '_ {
        self.params.iter().flatten().copied().chain(self.result)
    }
}

/// The bytes of an address in private memory.
const ADDRESS: u64 = 4;

/// The bytes of a value's leaves in registers: predicates and what is shorter go as doublewords.
fn registers(m: &Module<'_>, ty: Ty) -> u64 {
    match m.types.leaves(ty) {
        n if n > MAX_LEAVES => u64::MAX,
        _ => {
            let all = m.types.scalars(ty);
            all.iter().map(|(t, _)| m.types.size(*t).max(4)).sum()
        }
    }
}

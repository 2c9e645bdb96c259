//! Code of a kernel between two stages: its text for dumps, and its verifiers.

use crate::emit::{Code, Physical};
use crate::error::CodegenError;
use crate::mir::liveness::Liveness;
use crate::mir::lowered::LoweredFunction;
use crate::mir::{VCode, display};
use crate::opt::inline::FunctionGroup;
use crate::passes::FormKind;
use crate::regalloc::Allocated;
use crate::regalloc::display::with_allocation;

/// Code of a kernel, in the form that the last stage made.
pub(super) enum Form<'a> {
    Ir(FunctionGroup<'a>),
    Lowered(LoweredFunction),
    VirtualFlags(VCode),
    /// With the liveness that the last stage computed, if it is still true.
    Machine(VCode, Option<Liveness>),
    Live(VCode, Liveness),
    Allocated(Allocated),
    /// Physical instructions, and the allocated code that they were made of.
    Physical(Physical, Allocated),
    Bytes(Code, VCode),
    /// Nothing: a stage has taken it, or none has run.
    Taken,
}

/// Defines a method that takes the code in one form out of a [`Form`].
macro_rules! take {
    ($($method:ident $kind:ident($($field:ident),*): $ty:ty;)*) => {
        impl<'a> Form<'a> {
            $(
                /// Takes the code out, if it has the form.
                ///
                /// # Errors
                /// It has another form: stages stand in a wrong order.
                pub(super) fn $method(&mut self) -> Result<$ty, CodegenError> {
                    match std::mem::replace(self, Form::Taken) {
                        Form::$kind($($field),*) => Ok(($($field),*)),
                        other => Err(other.unexpected(FormKind::$kind)),
                    }
                }
            )*
        }
    };
}

take! {
    ir Ir(group): FunctionGroup<'a>;
    lowered Lowered(code): LoweredFunction;
    virtual_flags VirtualFlags(code): VCode;
    machine Machine(code, live): (VCode, Option<Liveness>);
    live Live(code, live): (VCode, Liveness);
    allocated Allocated(code): Allocated;
    physical Physical(insts, code): (Physical, Allocated);
    bytes Bytes(bytes, code): (Code, VCode);
}

impl Form<'_> {
    fn kind(&self) -> Option<FormKind> {
        match self {
            Form::Ir(_) => Some(FormKind::Ir),
            Form::Lowered(_) => Some(FormKind::Lowered),
            Form::VirtualFlags(_) => Some(FormKind::VirtualFlags),
            Form::Machine(..) => Some(FormKind::Machine),
            Form::Live(..) => Some(FormKind::Live),
            Form::Allocated(_) => Some(FormKind::Allocated),
            Form::Physical(..) => Some(FormKind::Physical),
            Form::Bytes(..) => Some(FormKind::Bytes),
            Form::Taken => None,
        }
    }

    fn unexpected(&self, wanted: FormKind) -> CodegenError {
        let found = self.kind().map_or("nothing", FormKind::name);
        CodegenError::internal("?", format!("{} expected, {found} found", wanted.name()))
    }

    /// Text of code that is not physical yet.
    pub(super) fn text(&self) -> String {
        match self {
            Form::Ir(group) => group.to_string(),
            Form::Lowered(code) => code.to_string(),
            Form::VirtualFlags(code) | Form::Machine(code, _) => code.to_string(),
            Form::Live(code, live) => display::with_liveness(code, live),
            Form::Allocated(a) | Form::Physical(_, a) => with_allocation(&a.code, &a.alloc),
            Form::Bytes(..) | Form::Taken => String::new(),
        }
    }
}

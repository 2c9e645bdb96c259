//! Arguments of a launch, in the kernel's order. The host gives them by number or by binding; sizes
//! of buffers are filled in.

use crate::arg::Arg;
use crate::error::Error;
use crate::module::Kernel;
use crate::zebin::{ArgInfo, ArgRole, Resource, Slot};
use gantry_isa_gen::diag::Count;

/// An argument as messages about bindings have it.
fn describe(info: &ArgInfo) -> Option<String> {
    let name = info.names.as_ref().map_or("", |n| n.name.as_str());
    let name = match name {
        "" => String::new(),
        name => format!(" \"{name}\""),
    };
    match info.role {
        ArgRole::Resource(place, resource) => Some(format!("{place}{name} {resource}")),
        ArgRole::PushConstants => Some(format!("push constants{name}")),
        ArgRole::Argument | ArgRole::SizeOf(_) => None,
    }
}

fn all(infos: &[ArgInfo]) -> String {
    let all: Vec<String> = infos.iter().filter_map(describe).collect();
    if all.is_empty() {
        "it has no bindings".to_owned()
    } else {
        format!("it has {}", all.join("; "))
    }
}

/// Returns the arguments in order, with those that the runtime fills in.
///
/// # Errors
/// Too few or too many arguments are given, or one is bound where the kernel has none. A buffer is
/// too small for the shader.
pub(crate) fn resolve(
    kernel: &Kernel,
    given: Vec<Arg>,
    bound: Vec<(Slot, Arg)>,
) -> Result<Vec<Arg>, Error> {
    let infos = kernel.args();
    if bound.is_empty() && infos.iter().all(|i| i.role == ArgRole::Argument) {
        return Ok(given);
    }
    let mut args = if bound.is_empty() {
        by_number(kernel, infos, given)?
    } else if given.is_empty() {
        by_slot(kernel, infos, bound)?
    } else {
        let what = "arguments are given by number and by binding in one launch";
        return Err(error(kernel, what));
    };
    check_sizes(kernel, infos, &args)?;
    fill_sizes(kernel, infos, &mut args)?;
    args.into_iter()
        .zip(infos)
        .map(|(arg, info)| {
            arg.ok_or_else(|| {
                let which = Slot::of(info.role).map_or("an argument".to_owned(), |s| s.to_string());
                error(
                    kernel,
                    format!("nothing is bound at {which}: {}", all(infos)),
                )
            })
        })
        .collect()
}

fn error(kernel: &Kernel, message: impl Into<String>) -> Error {
    Error::Binding {
        kernel: kernel.name().to_owned(),
        message: message.into(),
    }
}

fn by_number(
    kernel: &Kernel,
    infos: &[ArgInfo],
    given: Vec<Arg>,
) -> Result<Vec<Option<Arg>>, Error> {
    let is_given = |i: &&ArgInfo| !matches!(i.role, ArgRole::SizeOf(_));
    let expected = infos.iter().filter(is_given).count();
    if given.len() != expected {
        return Err(Error::ArgCount {
            kernel: kernel.name().to_owned(),
            expected,
            given: given.len(),
        });
    }
    let mut given = given.into_iter();
    let next = |i| is_given(&i).then(|| given.next()).flatten();
    Ok(infos.iter().map(next).collect())
}

/// Numbers of a kernel's arguments, sorted by slot and then by number. A launch with many bindings
/// finds each by binary search.
struct Slots(Vec<(Slot, usize)>);

impl Slots {
    fn new(infos: &[ArgInfo]) -> Slots {
        let slots = infos.iter().enumerate();
        let mut slots: Vec<_> = slots
            .filter_map(|(n, i)| Some((Slot::of(i.role)?, n)))
            .collect();
        slots.sort_unstable();
        Slots(slots)
    }

    /// The arguments at a slot, in order of number.
    fn at(&self, slot: Slot) -> impl Iterator<Item = usize> {
        let from = self.0.partition_point(|&(s, _)| s < slot);
        let behind = self.0.get(from..).unwrap_or_default();
        let here = behind.iter().take_while(move |&&(s, _)| s == slot);
        here.map(|&(_, n)| n)
    }
}

fn by_slot(
    kernel: &Kernel,
    infos: &[ArgInfo],
    bound: Vec<(Slot, Arg)>,
) -> Result<Vec<Option<Arg>>, Error> {
    let slots = Slots::new(infos);
    let mut args: Vec<Option<Arg>> = vec![None; infos.len()];
    for (slot, arg) in bound {
        let is_sampler = |n: usize| {
            let role = infos.get(n).map(|i| i.role);
            matches!(role, Some(ArgRole::Resource(_, Resource::Sampler)))
        };
        let mut here = slots.at(slot);
        // An image and its sampler are at one place.
        let found = here.next().map(|first| {
            let fits = is_sampler(first) == matches!(arg, Arg::Sampler(_));
            let other = if fits { None } else { here.next() };
            other.unwrap_or(first)
        });
        let Some(found) = found.and_then(|n| args.get_mut(n)) else {
            let what = format!("it has no {slot}: {}", all(infos));
            return Err(error(kernel, what));
        };
        if found.replace(arg).is_some() {
            return Err(error(kernel, format!("two arguments are bound at {slot}")));
        }
    }
    Ok(args)
}

/// Buffers have what shaders find in them whatever their size.
fn check_sizes(kernel: &Kernel, infos: &[ArgInfo], args: &[Option<Arg>]) -> Result<(), Error> {
    for (info, arg) in infos.iter().zip(args) {
        let ArgRole::Resource(_, resource) = info.role else {
            continue;
        };
        if let (Some(Arg::Buffer(b)), Some(what)) = (arg, describe(info))
            && (b.len() as u64) < u64::from(resource.least())
        {
            let few = Count(b.len(), "byte");
            let verb = if b.len() == 1 { "is" } else { "are" };
            let what = format!("{few} {verb} too few: {what}");
            return Err(error(kernel, what));
        }
    }
    Ok(())
}

/// Gives sizes of buffers.
fn fill_sizes(kernel: &Kernel, infos: &[ArgInfo], args: &mut [Option<Arg>]) -> Result<(), Error> {
    for (n, info) in infos.iter().enumerate() {
        let ArgRole::SizeOf(of) = info.role else {
            continue;
        };
        let bytes = match args.get(of as usize) {
            Some(Some(Arg::Buffer(b))) => u32::try_from(b.len()).map_err(|_| {
                let what = "a buffer of more than 4 GiB whose size the shader asks for";
                error(kernel, what)
            })?,
            // No buffer is a null pointer, or what the check of kinds refuses.
            _ => 0,
        };
        if let Some(arg) = args.get_mut(n) {
            *arg = Some(Arg::Bytes(bytes.to_le_bytes().to_vec()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zebin::{ArgKind, BindingPlace};

    fn place(set: u32, binding: u32, element: u32) -> BindingPlace {
        BindingPlace {
            set,
            binding,
            element,
        }
    }

    /// Arguments that are not in order of place, with two at one place, are found by place.
    #[test]
    fn slots_are_found_in_any_order() {
        let at = |p, r| ArgRole::Resource(p, r);
        let buffer = Resource::UniformBuffer { least: 0 };
        let roles = [
            at(place(1, 0, 0), buffer),
            ArgRole::SizeOf(0),
            at(place(0, 5, 1), Resource::Image),
            at(place(0, 7, 0), Resource::Sampler),
            ArgRole::PushConstants,
            at(place(0, 5, 0), Resource::Image),
            at(place(0, 7, 0), Resource::Image),
            ArgRole::Argument,
        ];
        // No lookup looks at kinds.
        let info = |role| ArgInfo {
            kind: ArgKind::Buffer,
            names: None,
            role,
        };
        let slots = Slots::new(&roles.map(info));
        let at = |slot| slots.at(slot).collect::<Vec<_>>();
        assert_eq!(at(Slot::At(place(1, 0, 0))), [0]);
        assert_eq!(at(Slot::At(place(0, 5, 0))), [5]);
        assert_eq!(at(Slot::At(place(0, 5, 1))), [2]);
        assert_eq!(at(Slot::At(place(0, 7, 0))), [3, 6]);
        assert_eq!(at(Slot::Pushed), [4]);
        for none in [
            place(0, 0, 0),
            place(0, 5, 2),
            place(0, 6, 0),
            place(9, 0, 0),
        ] {
            assert!(at(Slot::At(none)).is_empty(), "{none}");
        }
    }
}

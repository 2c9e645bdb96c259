//! The arguments of a launch in the order of the kernel's: from those given by number or by binding, with the sizes of buffers that the host does not give.

use crate::error::Error;
use crate::launch::Arg;
use crate::module::Kernel;
use crate::zebin::{ArgInfo, ArgRole, BindingPlace, Resource};
use std::fmt;

/// Where a caller binds an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slot {
    /// At a place of the shader's interface.
    At(BindingPlace),
    /// The push constants.
    Pushed,
}

impl Slot {
    fn of(role: ArgRole) -> Option<Slot> {
        match role {
            ArgRole::Resource(place, _) => Some(Slot::At(place)),
            ArgRole::PushConstants => Some(Slot::Pushed),
            ArgRole::Argument | ArgRole::SizeOf(_) => None,
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::At(place) => write!(f, "binding {place}"),
            Slot::Pushed => f.write_str("push constants"),
        }
    }
}

/// `0,1`, and behind it the element if it is not the first.
impl fmt::Display for BindingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.set, self.binding)?;
        match self.element {
            0 => Ok(()),
            n => write!(f, ",{n}"),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::StorageBuffer { least, .. } => {
                write!(f, "storage buffer of {least} bytes or more")
            }
            Resource::UniformBuffer { least } => {
                write!(f, "uniform buffer of {least} bytes or more")
            }
            Resource::Image => f.write_str("image"),
            Resource::Sampler => f.write_str("sampler"),
        }
    }
}

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
    match all.is_empty() {
        true => "it has no bindings".to_owned(),
        false => format!("it has {}", all.join("; ")),
    }
}

/// The arguments in order, those that only the runtime gives among them.
///
/// # Errors
/// Too few or too many are given, something is bound where the kernel has nothing, or a buffer is too small for what the shader
/// has in it.
pub(crate) fn resolve(
    kernel: &Kernel,
    given: Vec<Arg>,
    bound: Vec<(Slot, Arg)>,
) -> Result<Vec<Arg>, Error> {
    let infos = kernel.args();
    if bound.is_empty() && infos.iter().all(|i| i.role == ArgRole::Argument) {
        return Ok(given);
    }
    let mut args = match bound.is_empty() {
        true => by_number(kernel, infos, given)?,
        false if given.is_empty() => by_slot(kernel, infos, bound)?,
        false => {
            let what = "arguments are given by number and by binding in one launch";
            return Err(error(kernel, what));
        }
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

fn by_slot(
    kernel: &Kernel,
    infos: &[ArgInfo],
    bound: Vec<(Slot, Arg)>,
) -> Result<Vec<Option<Arg>>, Error> {
    let mut args: Vec<Option<Arg>> = vec![None; infos.len()];
    for (slot, arg) in bound {
        let mut here = infos
            .iter()
            .zip(&mut args)
            .filter(|(i, _)| Slot::of(i.role) == Some(slot));
        let Some(mut found) = here.next() else {
            let what = format!("it has no {slot}: {}", all(infos));
            return Err(error(kernel, what));
        };
        // An image and its sampler are at one place.
        let is_sampler = |i: &ArgInfo| matches!(i.role, ArgRole::Resource(_, Resource::Sampler));
        if is_sampler(found.0) != matches!(arg, Arg::Sampler(_))
            && let Some(other) = here.next()
        {
            found = other;
        }
        if found.1.replace(arg).is_some() {
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
            let what = format!("{} bytes are too few: {what}", b.len());
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

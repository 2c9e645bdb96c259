//! `gantry run --bind`: arguments at the sets and bindings of a shader.

use crate::Failure;
use crate::args::{ArgForm, FileOutput, make};
use gantry::isa::diag::Count;
use gantry::runtime::zebin::{ArgInfo, ArgKind, ArgRole, BindingPlace, Resource, Slot};
use gantry::runtime::{Arg, Device, ImageType, Kernel, Launch};

/// Parsed `--bind`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BindArg {
    place: Slot,
    form: ArgForm,
}

impl BindArg {
    /// Parses a `--bind`.
    pub(crate) fn parse(text: &str) -> Result<BindArg, Failure> {
        let wrong = || {
            Failure::usage(format!(
                "--bind {text}: the form is SET,BINDING[,ELEMENT]:ARG or push:ARG"
            ))
        };
        let (place, form) = text.split_once(':').ok_or_else(wrong)?;
        let form = ArgForm::of_option(&format!("--bind {text}"), form)?;
        if place == "push" {
            let place = Slot::Pushed;
            return Ok(BindArg { place, form });
        }
        let numbers: Result<Vec<u32>, _> = place.split(',').map(|n| n.trim().parse()).collect();
        let (set, binding, element) = match *numbers.map_err(|_| wrong())?.as_slice() {
            [set, binding] => (set, binding, 0),
            [set, binding, element] => (set, binding, element),
            _ => return Err(wrong()),
        };
        let place = Slot::At(BindingPlace {
            set,
            binding,
            element,
        });
        Ok(BindArg { place, form })
    }

    /// Returns the kind that the kernel has there. An image and its sampler may share a binding.
    fn kind(&self, kernel: &Kernel) -> Option<ArgKind> {
        let sampler = matches!(self.form, ArgForm::Sampler(_));
        let fits = |role| match role {
            ArgRole::Resource(_, r) => sampler == (r == Resource::Sampler),
            _ => true,
        };
        let here = |role| Slot::of(role) == Some(self.place) && fits(role);
        let found = kernel.args().iter().find(|a| here(a.role));
        found.map(|a| a.kind)
    }
}

/// Binds arguments to a launch, and returns the outputs after it.
pub(crate) fn bind<'k>(
    mut launch: Launch<'k>,
    binds: &[BindArg],
    device: &Device,
    kernel: &Kernel,
) -> Result<(Launch<'k>, Vec<FileOutput>), Failure> {
    if let Some(place) = missing(binds, kernel) {
        let what = format!("kernel `{}`: nothing is bound at {place}", kernel.name());
        return Err(Failure::new(what + &listed(kernel)));
    }
    let mut after = Vec::new();
    for b in binds {
        let made = make(&b.form, device, b.kind(kernel))?;
        launch = match b.place {
            Slot::At(p) => launch.bind_element(p.set, p.binding, p.element, made.arg),
            Slot::Pushed => launch.push_constants(made.arg),
        };
        after.extend(made.after);
    }
    Ok((launch, after))
}

/// Creates the arguments of `--arg`s in order, and returns the outputs after the launch. Sizes of
/// buffers are not given.
pub(crate) fn in_order(
    forms: &[ArgForm],
    device: &Device,
    kernel: &Kernel,
) -> Result<(Vec<Arg>, Vec<FileOutput>), Failure> {
    let given = |role| !matches!(role, ArgRole::SizeOf(_));
    let mut kinds = kernel.args().iter().filter(|a| given(a.role));
    let mut args = Vec::new();
    let mut after = Vec::new();
    for form in forms {
        let made = make(form, device, kinds.next().map(|a| a.kind))?;
        args.push(made.arg);
        after.extend(made.after);
    }
    Ok((args, after))
}

/// Returns the first place of a kernel that nothing is bound at. Without binds, and with one that
/// the kernel does not have, the launch says what is wrong.
fn missing(binds: &[BindArg], kernel: &Kernel) -> Option<Slot> {
    let mut places: Vec<Slot> = kernel
        .args()
        .iter()
        .filter_map(|a| Slot::of(a.role))
        .collect();
    if binds.is_empty() || binds.iter().any(|b| !places.contains(&b.place)) {
        return None;
    }
    // An image and its sampler may share a place.
    for b in binds {
        if let Some(at) = places.iter().position(|p| *p == b.place) {
            places.remove(at);
        }
    }
    places.first().copied()
}

/// Lists the arguments of a kernel, a line each, as the command line gives them.
pub(crate) fn listed(kernel: &Kernel) -> String {
    let rows: Vec<(String, String)> = kernel.args().iter().filter_map(row).collect();
    let width = rows.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
    let line = |(form, what): &(String, String)| format!("\n  {form:width$}  {what}");
    rows.iter().map(line).collect()
}

/// Returns the form of an argument on the command line, and its description; `None` for a size,
/// which is not given.
fn row(arg: &ArgInfo) -> Option<(String, String)> {
    let form = match (arg.kind, arg.role) {
        (
            ArgKind::Buffer,
            ArgRole::Resource(
                _,
                Resource::StorageBuffer {
                    read_only: false, ..
                },
            ),
        ) => "inout:FILE:OUTFILE",
        (ArgKind::Buffer, _) => "in:FILE",
        (ArgKind::Local, _) => "local:BYTES",
        (ArgKind::Value { size: 0..=8 }, _) => "TYPE:N",
        (ArgKind::Value { .. }, _) => "bytes:HEX",
        (ArgKind::Image(None | Some(ImageType::D2)), _) => "image2d:FILE.png",
        (ArgKind::Image(_), _) => "image:SIZE:ORDER:CHANNEL:FILE",
        (ArgKind::Sampler, _) => "sampler:ADDRESS:FILTER",
    };
    let (form, what) = match arg.role {
        ArgRole::SizeOf(_) => return None,
        ArgRole::Argument => (format!("--arg {form}"), kind(arg.kind)),
        ArgRole::PushConstants => (format!("--bind push:{form}"), "push constants".to_owned()),
        ArgRole::Resource(place, resource) => {
            (format!("--bind {place}:{form}"), resource.to_string())
        }
    };
    let name = arg.names.as_ref().map_or("", |n| n.name.as_str());
    Some(match name {
        "" => (form, what),
        name => (form, format!("{what}: {name}")),
    })
}

/// Describes what an argument of a kernel takes.
fn kind(kind: ArgKind) -> String {
    match kind {
        ArgKind::Buffer => "buffer".to_owned(),
        ArgKind::Local => "local memory".to_owned(),
        ArgKind::Value { size } => format!("value of {}", Count(size, "byte")),
        ArgKind::Image(ty) => ty.map_or("image".to_owned(), |ty| ty.to_string()),
        ArgKind::Sampler => "sampler".to_owned(),
    }
}

/// Returns true if a kernel is a shader with resources.
pub(crate) fn is_shader(kernel: &Kernel) -> bool {
    kernel.args().iter().any(|a| a.role != ArgRole::Argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let place = |t| BindArg::parse(t).ok().map(|b| b.place);
        let at = |set, binding, element| {
            Some(Slot::At(BindingPlace {
                set,
                binding,
                element,
            }))
        };
        assert_eq!(place("0,3:zero:16"), at(0, 3, 0));
        assert_eq!(place("1,2,4:in:x.bin"), at(1, 2, 4));
        assert_eq!(place("push:f32:2"), Some(Slot::Pushed));
        for bad in [
            "0:zero:16",
            "0,1",
            "a,b:zero:1",
            "0,1:zero",
            "1,2,3,4:zero:1",
        ] {
            assert!(BindArg::parse(bad).is_err(), "{bad}");
        }
    }
}

//! `gantry run --bind`: what a shader has at its sets and bindings, as the arguments of its kernel.

use crate::Failure;
use crate::args::{After, ArgForm, make};
use gantry::runtime::{Arg, Device, Kernel};
use gantry::spirv::{self, Binding, Resource};

/// Which resource of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// That at a set and binding, and, of an array of them, the element.
    At(u32, u32, u32),
    /// Push constants.
    Pushed,
}

impl Place {
    fn of(b: &Binding) -> Place {
        match b.resource {
            Resource::PushConstants { .. } => Place::Pushed,
            _ => Place::At(b.set, b.binding, b.element),
        }
    }

    fn name(self) -> String {
        match self {
            Place::At(s, b, 0) => format!("{s},{b}"),
            Place::At(s, b, n) => format!("{s},{b},{n}"),
            Place::Pushed => "push".to_owned(),
        }
    }
}

/// A `--bind`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Bound {
    place: Place,
    form: ArgForm,
}

impl Bound {
    fn is_sampler(&self) -> bool {
        matches!(self.form, ArgForm::Sampler(_))
    }

    /// Whether it says the same as another: an image and its sampler may be at one place.
    fn is_like(&self, other: &Bound) -> bool {
        self.place == other.place && self.is_sampler() == other.is_sampler()
    }

    /// Reads one.
    pub(crate) fn parse(text: &str) -> Result<Bound, Failure> {
        let wrong = || {
            Failure::usage(format!(
                "--bind {text}: the form is SET,BINDING[,ELEMENT]:ARG or push:ARG"
            ))
        };
        let (place, form) = text.split_once(':').ok_or_else(wrong)?;
        let form = ArgForm::parse(form)?;
        if place == "push" {
            let place = Place::Pushed;
            return Ok(Bound { place, form });
        }
        let numbers: Result<Vec<u32>, _> = place.split(',').map(|n| n.trim().parse()).collect();
        let place = match *numbers.map_err(|_| wrong())?.as_slice() {
            [set, binding] => Place::At(set, binding, 0),
            [set, binding, element] => Place::At(set, binding, element),
            _ => return Err(wrong()),
        };
        Ok(Bound { place, form })
    }
}

/// What each of a shader's bindings has, in their order: of `--arg`s or of `--bind`s.
pub(crate) fn bind(
    shader: &spirv::Kernel,
    args: Vec<ArgForm>,
    binds: Vec<Bound>,
) -> Result<Vec<ArgForm>, Failure> {
    let all = &shader.bindings;
    let names = || {
        let names: Vec<String> = all.iter().map(describe).collect();
        match names.is_empty() {
            true => "it has none".to_owned(),
            false => format!("it has {}", names.join("; ")),
        }
    };
    if binds.is_empty() {
        return match args.len() == all.len() {
            true => Ok(args),
            false => Err(Failure::new(format!(
                "{} has {} bindings, and {} are given: {}",
                shader.name,
                all.len(),
                args.len(),
                names()
            ))),
        };
    }
    for (n, b) in binds.iter().enumerate() {
        if !all.iter().any(|x| Place::of(x) == b.place) {
            let place = b.place.name();
            let what = format!("{} uses no binding {place}: {}", shader.name, names());
            return Err(Failure::new(what));
        }
        if binds.iter().take(n).any(|x| x.is_like(b)) {
            return Err(Failure::new(format!("two --bind for {}", b.place.name())));
        }
    }
    let form = |b: &Binding| {
        let here = |x: &&Bound| x.place == Place::of(b);
        // An image and its sampler are at one place.
        let other = all.iter().any(|x| Place::of(x) == Place::of(b) && x != b);
        let found = binds
            .iter()
            .filter(here)
            .find(|x| !other || x.is_sampler() == (b.resource == Resource::Sampler));
        found.map(|x| x.form.clone()).ok_or_else(|| {
            Failure::new(format!(
                "--bind {}:... is missing: {}",
                Place::of(b).name(),
                names()
            ))
        })
    };
    all.iter().map(form).collect()
}

/// A binding for messages.
fn describe(b: &Binding) -> String {
    let what = match b.resource {
        Resource::StorageBuffer { least, .. } => format!("storage buffer of {least} bytes or more"),
        Resource::UniformBuffer { least } => format!("uniform buffer of {least} bytes or more"),
        Resource::PushConstants { size } => format!("{size} bytes of push constants"),
        Resource::Image => "image".to_owned(),
        Resource::Sampler => "sampler".to_owned(),
    };
    match b.name.as_str() {
        "" => format!("{} {what}", Place::of(b).name()),
        name => format!("{} \"{name}\" {what}", Place::of(b).name()),
    }
}

/// The kernel's arguments, sizes of buffers among them, and what to write after the launch.
pub(crate) fn make_all(
    shader: &spirv::Kernel,
    forms: &[ArgForm],
    device: &Device,
    kernel: &Kernel,
) -> Result<(Vec<Arg>, Vec<After>), Failure> {
    let mut args: Vec<Option<Arg>> = vec![None; shader.arguments.len()];
    let mut after = Vec::new();
    let mut put = |n: usize, arg: Arg| {
        if let Some(slot) = args.get_mut(n) {
            *slot = Some(arg);
        }
    };
    for (b, form) in shader.bindings.iter().zip(forms) {
        let kind = kernel.args().get(b.argument).map(|a| a.kind);
        let made = make(form, device, kind)?;
        let least = match b.resource {
            Resource::StorageBuffer { least, .. } | Resource::UniformBuffer { least } => least,
            _ => 0,
        };
        if let Arg::Buffer(buffer) = &made.arg {
            let bytes = buffer.len() as u64;
            if bytes < least {
                return Err(Failure::new(format!(
                    "{bytes} bytes are too few: {}",
                    describe(b)
                )));
            }
            if let Some(n) = b.size_argument {
                let bytes = u32::try_from(bytes)
                    .map_err(|_| Failure::new(format!("{} has more than 4 GiB", describe(b))))?;
                put(n, Arg::bytes(&bytes.to_le_bytes()));
            }
        } else if least != 0 {
            return Err(Failure::new(format!("{} is no buffer here", describe(b))));
        }
        put(b.argument, made.arg);
        after.extend(made.after);
    }
    let all: Option<Vec<Arg>> = args.into_iter().collect();
    let none = || Failure::new("an argument of the shader is no binding");
    Ok((all.ok_or_else(none)?, after))
}

/// Work-items of so many groups.
pub(crate) fn items(groups: [u32; 3], size: [u32; 3]) -> Result<[u32; 3], Failure> {
    let mut out = [0; 3];
    for ((out, groups), size) in out.iter_mut().zip(groups).zip(size) {
        *out = groups
            .checked_mul(size)
            .ok_or_else(|| Failure::new("more work-items than 32 bits count"))?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let place = |t| Bound::parse(t).ok().map(|b| b.place);
        assert_eq!(place("0,3:zero:16"), Some(Place::At(0, 3, 0)));
        assert_eq!(place("1,2,4:in:x.bin"), Some(Place::At(1, 2, 4)));
        assert_eq!(place("push:f32:2"), Some(Place::Pushed));
        for bad in [
            "0:zero:16",
            "0,1",
            "a,b:zero:1",
            "0,1:zero",
            "1,2,3,4:zero:1",
        ] {
            assert!(Bound::parse(bad).is_err(), "{bad}");
        }
    }
}

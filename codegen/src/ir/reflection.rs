//! What a host is told of a kernel's parameters beyond their kinds: names, and places among a
//! shader's resources. No code depends on it: it goes into the zebin, from where a runtime binds by
//! place and fills in sizes of buffers.

use super::function::{ArgKind, FuncKind, Function};

/// A parameter of a kernel as a host sees it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ParamInfo {
    /// Its name in the source; empty where it has none.
    pub name: String,
    /// The way in which a host finds it.
    pub role: ParamRole,
}

/// The way in which a host finds a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ParamRole {
    /// By its number.
    #[default]
    Argument,
    /// By its place among a shader's resources.
    Resource(BindingPlace, Resource),
    /// It is a shader's push constants.
    PushConstants,
    /// By nothing: it is the size in bytes, as `i32`, of the buffer that is the parameter of this
    /// number. A runtime fills it in.
    SizeOf(u32),
}

/// A place of a shader's interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BindingPlace {
    /// The descriptor set; of WGSL, the group.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The element, where it is an array of resources.
    pub element: u32,
}

/// What is at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Resource {
    /// A storage buffer.
    StorageBuffer {
        /// Bytes that it must have: what is always there, and one element of the array that it ends
        /// in.
        least: u32,
        /// Whether the shader only reads it.
        read_only: bool,
    },
    /// A uniform buffer.
    UniformBuffer {
        /// Bytes that it must have.
        least: u32,
    },
    /// An image.
    Image,
    /// A sampler.
    Sampler,
}

impl Resource {
    /// Bytes that a buffer must have; 0 of what is none.
    pub const fn least(self) -> u32 {
        match self {
            Resource::StorageBuffer { least, .. } | Resource::UniformBuffer { least } => least,
            Resource::Image | Resource::Sampler => 0,
        }
    }

    /// Whether a parameter of a kind can be it.
    pub(crate) const fn fits(self, kind: ArgKind) -> bool {
        match self {
            Resource::StorageBuffer { .. } | Resource::UniformBuffer { .. } => {
                matches!(kind, ArgKind::Ptr | ArgKind::Surface)
            }
            Resource::Image => matches!(kind, ArgKind::Image(..)),
            Resource::Sampler => matches!(kind, ArgKind::Sampler),
        }
    }
}

/// What is said of the parameters of a kernel, of as many as there is something to say of.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Reflection(Vec<ParamInfo>);

impl Reflection {
    /// What is said of a parameter by its number.
    pub fn get(&self, param: usize) -> Option<&ParamInfo> {
        self.0.get(param)
    }

    /// Says something of a parameter, in place of what was said before.
    pub fn set(&mut self, param: usize, info: ParamInfo) {
        if param >= self.0.len() {
            if info == ParamInfo::default() {
                return;
            }
            self.0.resize(param + 1, ParamInfo::default());
        }
        if let Some(place) = self.0.get_mut(param) {
            *place = info;
        }
        // Equal if the text is: nothing is said behind the last of which something is.
        while self.0.last().is_some_and(|i| *i == ParamInfo::default()) {
            self.0.pop();
        }
    }

    /// What is said, from the first parameter to the last of which something is.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ParamInfo> {
        self.0.iter()
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Function {
    /// What is wrong with what is said of parameters, in the words of an error.
    pub(crate) fn reflection_fault(&self) -> Option<String> {
        if matches!(self.kind, FuncKind::Subroutine) && !self.reflection.is_empty() {
            return Some("only a kernel's parameters have names and places".to_owned());
        }
        let params = &self.sig.params;
        if self.reflection.0.len() > params.len() {
            return Some("a name or a place of a parameter that is not there".to_owned());
        }
        let mut places = Vec::new();
        let mut pushed = false;
        for (n, (info, param)) in self.reflection.iter().zip(params).enumerate() {
            let wrong = |what: &str| Some(format!("parameter {n}: {what}"));
            match info.role {
                ParamRole::Argument => {}
                ParamRole::Resource(place, resource) => {
                    if !resource.fits(param.kind) {
                        return wrong("a resource of another kind than the parameter");
                    }
                    // An image and its sampler may be at one place.
                    places.push((place, resource == Resource::Sampler));
                }
                ParamRole::PushConstants => {
                    if param.kind != ArgKind::Value || pushed {
                        return wrong("push constants are one parameter by value");
                    }
                    pushed = true;
                }
                ParamRole::SizeOf(of) => {
                    let of = params.get(of as usize).map(|p| p.kind);
                    let buffer = matches!(of, Some(ArgKind::Ptr | ArgKind::Surface));
                    let bytes = param.ty.bytes();
                    if !buffer || param.kind != ArgKind::Value || bytes != 4 {
                        return wrong("the size of a buffer is a value of 32 bits");
                    }
                }
            }
        }
        places.sort_unstable();
        let twice = places.windows(2).find(|w| w.first() == w.last());
        twice.and_then(|w| w.first()).map(|(p, _)| {
            let BindingPlace {
                set,
                binding,
                element,
            } = p;
            format!("two parameters are at binding({set}, {binding}, {element})")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_nothing_behind_the_last() {
        let named = |name: &str| ParamInfo {
            name: name.to_owned(),
            ..ParamInfo::default()
        };
        let mut r = Reflection::default();
        r.set(2, named("c"));
        r.set(0, named("a"));
        assert_eq!(r.iter().len(), 3);
        assert_eq!(r.get(1), Some(&ParamInfo::default()));
        r.set(2, ParamInfo::default());
        assert_eq!(r.iter().len(), 1);
        r.set(0, ParamInfo::default());
        assert!(r.is_empty() && r == Reflection::default());
    }
}

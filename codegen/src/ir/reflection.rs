//! Reflection: names of a kernel's parameters, and their bindings among a shader's resources.
//!
//! No code depends on it. It goes into the zebin, where a runtime reads it to bind resources and to
//! fill in buffer sizes.

use super::function::{ArgKind, FuncKind, Function};

/// Parameter of a kernel as a host sees it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ParamInfo {
    /// Name in the source; empty if it has none.
    pub name: String,
    /// Means by which a host finds the parameter.
    pub role: ParamRole,
}

/// Means by which a host finds a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ParamRole {
    /// Argument, by its number.
    #[default]
    Argument,
    /// Resource of a shader, by its binding.
    Resource(BindingPlace, Resource),
    /// Push constants of a shader.
    PushConstants,
    /// Size in bytes, as `i32`, of the buffer that is the parameter of this number. The runtime
    /// fills it in.
    SizeOf(u32),
}

/// Binding of a shader's interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BindingPlace {
    /// Descriptor set; WGSL's group.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Element of an array of resources.
    pub element: u32,
}

/// Resource at a binding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Resource {
    /// A storage buffer.
    StorageBuffer {
        /// Least size in bytes: the fixed part, and one element of a trailing runtime array.
        least: u32,
        /// True if the shader only reads it.
        read_only: bool,
    },
    /// A uniform buffer.
    UniformBuffer {
        /// Least size in bytes.
        least: u32,
    },
    /// An image.
    Image,
    /// A sampler.
    Sampler,
}

impl Resource {
    /// Returns the least size of a buffer in bytes; 0 for other resources.
    pub const fn least(self) -> u32 {
        match self {
            Resource::StorageBuffer { least, .. } | Resource::UniformBuffer { least } => least,
            Resource::Image | Resource::Sampler => 0,
        }
    }

    /// Returns true if a parameter of this kind can be this resource.
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

/// Reflection of a kernel's parameters, up to the last one that has any.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Reflection(Vec<ParamInfo>);

impl Reflection {
    /// Returns the reflection of a parameter by its number.
    pub fn get(&self, param: usize) -> Option<&ParamInfo> {
        self.0.get(param)
    }

    /// Sets the reflection of a parameter.
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
        // Trailing defaults are dropped, so that equal texts compare equal.
        while self.0.last().is_some_and(|i| *i == ParamInfo::default()) {
            self.0.pop();
        }
    }

    /// Iterates from the first parameter to the last that has reflection.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ParamInfo> {
        self.0.iter()
    }

    /// Returns true if no parameter has reflection.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Function {
    /// Returns a message about the first fault in the reflection of the parameters.
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
                    // An image and its sampler may share a binding.
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
    fn drops_trailing_defaults() {
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

//! Reflection: names of a kernel's parameters, and their bindings among a shader's resources.
//!
//! No code depends on it. It goes into the zebin, where a runtime reads it to bind resources and to
//! fill in buffer sizes.

use super::function::{ArgKind, FuncKind, Function};
pub use gantry_zebin::{ArgRole as ParamRole, BindingPlace, Resource};

/// Parameter of a kernel as a host sees it.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ParamInfo {
    /// Name in the source; empty if it has none.
    pub name: String,
    /// Means by which a host finds the parameter.
    pub role: ParamRole,
}

/// Returns true if a parameter of this kind can be a resource.
pub(crate) const fn fits(resource: Resource, kind: ArgKind) -> bool {
    match resource {
        Resource::StorageBuffer { .. } | Resource::UniformBuffer { .. } => {
            matches!(kind, ArgKind::Ptr | ArgKind::Surface)
        }
        Resource::Image => matches!(kind, ArgKind::Image(..)),
        Resource::Sampler => matches!(kind, ArgKind::Sampler),
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
                    if !fits(resource, param.kind) {
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

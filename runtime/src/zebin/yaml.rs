//! Reading fields of `.ze_info` with errors that say where.

use super::ZebinError;
use yaml_rust2::Yaml;

/// A YAML node and its path from the root, for messages.
#[derive(Clone)]
pub(super) struct Node<'a> {
    yaml: &'a Yaml,
    path: String,
}

impl<'a> Node<'a> {
    pub(super) fn root(yaml: &'a Yaml) -> Self {
        Node {
            yaml,
            path: ".ze_info".to_owned(),
        }
    }

    pub(super) fn error(&self, what: &str) -> ZebinError {
        ZebinError::new(format!("{}: {what}", self.path))
    }

    /// The same node under a more telling path.
    pub(super) fn named(mut self, path: String) -> Self {
        self.path = path;
        self
    }

    /// A key's value, where it is there and not null.
    pub(super) fn get(&self, key: &str) -> Result<Option<Node<'a>>, ZebinError> {
        match self.yaml {
            Yaml::Hash(h) => Ok(h
                .iter()
                .find(|(k, _)| k.as_str() == Some(key))
                .filter(|(_, v)| !v.is_null())
                .map(|(_, v)| Node {
                    yaml: v,
                    path: format!("{}.{key}", self.path),
                })),
            Yaml::Null => Ok(None),
            _ => Err(self.error("expected a map")),
        }
    }

    /// A key's value.
    pub(super) fn need(&self, key: &str) -> Result<Node<'a>, ZebinError> {
        self.get(key)?
            .ok_or_else(|| self.error(&format!("no `{key}`")))
    }

    /// The elements of a list.
    pub(super) fn list(&self) -> Result<Vec<Node<'a>>, ZebinError> {
        match self.yaml {
            Yaml::Array(a) => Ok(a
                .iter()
                .enumerate()
                .map(|(i, yaml)| Node {
                    yaml,
                    path: format!("{}[{i}]", self.path),
                })
                .collect()),
            Yaml::Null => Ok(Vec::new()),
            _ => Err(self.error("expected a list")),
        }
    }

    /// The elements of a list under a key; none where the key is not there.
    pub(super) fn list_of(&self, key: &str) -> Result<Vec<Node<'a>>, ZebinError> {
        match self.get(key)? {
            None => Ok(Vec::new()),
            Some(n) => n.list(),
        }
    }

    /// A string; numbers count as their text.
    pub(super) fn string(&self) -> Result<String, ZebinError> {
        match self.yaml {
            Yaml::String(s) | Yaml::Real(s) => Ok(s.clone()),
            Yaml::Integer(i) => Ok(i.to_string()),
            Yaml::Boolean(b) => Ok(b.to_string()),
            _ => Err(self.error("expected a string")),
        }
    }

    /// An unsigned number.
    pub(super) fn u32(&self) -> Result<u32, ZebinError> {
        match self.yaml {
            Yaml::Integer(i) => u32::try_from(*i)
                .map_err(|_| self.error(&format!("{i} is not a number of 0 to 4294967295"))),
            _ => Err(self.error("expected a number")),
        }
    }

    /// A key's number, or what it is when absent.
    pub(super) fn u32_or(&self, key: &str, default: u32) -> Result<u32, ZebinError> {
        self.get(key)?.map_or(Ok(default), |n| n.u32())
    }

    /// A key's boolean; false when absent.
    pub(super) fn flag(&self, key: &str) -> Result<bool, ZebinError> {
        match self.get(key)? {
            None => Ok(false),
            Some(n) => match n.yaml {
                Yaml::Boolean(b) => Ok(*b),
                Yaml::Integer(i) => Ok(*i != 0),
                _ => Err(n.error("expected true or false")),
            },
        }
    }
}

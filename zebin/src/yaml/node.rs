//! Parser of YAML. Errors say which field they are in.

use crate::error::ZebinError;
use crate::limits::{Budget, Limits};
use std::collections::HashSet;
use yaml_rust2::Yaml;
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::TScalarStyle;

/// Limit on the nesting of lists and maps. Compilers use seven levels.
const MAX_DEPTH: usize = 64;

/// YAML value.
#[derive(Debug)]
pub(crate) enum YamlValue {
    Null,
    Bool(bool),
    Int(i64),
    /// String, or number with a fraction.
    Text(String),
    List(Vec<YamlValue>),
    /// Entries of a map, with distinct keys.
    Map(Vec<(String, YamlValue)>),
}

/// List or map that is still being read.
enum OpenCollection {
    List(Vec<YamlValue>),
    Map {
        entries: Vec<(String, YamlValue)>,
        key: Option<String>,
    },
}

/// Parses the first document of a text; returns `None` where there is none. `name` is the text's
/// name in messages.
///
/// Aliases are refused, since a short text with them stands for a long one. So is more than the
/// limits allow: the text is read no further than it is kept.
pub(crate) fn parse(
    text: &str,
    name: &str,
    limits: &Limits,
) -> Result<Option<YamlValue>, ZebinError> {
    let error = |what: &str| ZebinError::new(format!("{name}: {what}"));
    let mut parser = Parser::new_from_str(text);
    let mut values = Budget::new("values in .ze_info", limits.info_values);
    let mut open: Vec<OpenCollection> = Vec::new();
    let mut first = None;
    loop {
        let (event, _) = parser.next_token().map_err(|e| error(&e.to_string()))?;
        let value = match event {
            Event::StreamEnd => return Ok(first),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                values.take(1)?;
                if open.len() >= MAX_DEPTH {
                    return Err(error("nested too deeply"));
                }
                open.push(match event {
                    Event::SequenceStart(..) => OpenCollection::List(Vec::new()),
                    _ => OpenCollection::Map {
                        entries: Vec::new(),
                        key: None,
                    },
                });
                continue;
            }
            Event::Scalar(text, style, ..) => {
                values.take(1)?;
                scalar(text, style)
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(OpenCollection::List(list)) => YamlValue::List(list),
                Some(OpenCollection::Map { entries, .. }) => {
                    if let Some(key) = repeated(&entries) {
                        return Err(error(&format!("a second `{key}` in a map")));
                    }
                    YamlValue::Map(entries)
                }
                None => continue,
            },
            Event::Alias(_) => return Err(error("an alias (`*`), which no compiler writes")),
            _ => continue,
        };
        match open.last_mut() {
            Some(OpenCollection::List(list)) => list.push(value),
            Some(OpenCollection::Map { entries, key }) => match key.take() {
                Some(k) => entries.push((k, value)),
                None => match value.text() {
                    Some(text) => *key = Some(text),
                    None => return Err(error("a key that is a list or a map")),
                },
            },
            None => {
                first.get_or_insert(value);
            }
        }
    }
}

/// Parses a scalar. Quoted scalars are strings.
fn scalar(text: String, style: TScalarStyle) -> YamlValue {
    if style != TScalarStyle::Plain {
        return YamlValue::Text(text);
    }
    match Yaml::from_str(&text) {
        Yaml::Null => YamlValue::Null,
        Yaml::Boolean(b) => YamlValue::Bool(b),
        Yaml::Integer(i) => YamlValue::Int(i),
        _ => YamlValue::Text(text),
    }
}

/// Returns a key that occurs twice.
fn repeated(entries: &[(String, YamlValue)]) -> Option<&str> {
    let mut seen = HashSet::with_capacity(entries.len());
    let mut keys = entries.iter().map(|(k, _)| k.as_str());
    keys.find(|k| !seen.insert(*k))
}

impl YamlValue {
    /// Returns a scalar's text.
    fn text(&self) -> Option<String> {
        match self {
            YamlValue::Text(s) => Some(s.clone()),
            YamlValue::Int(i) => Some(i.to_string()),
            YamlValue::Bool(b) => Some(b.to_string()),
            YamlValue::Null => Some(String::new()),
            YamlValue::List(_) | YamlValue::Map(_) => None,
        }
    }
}

/// Value with its path from the root, for messages.
#[derive(Clone)]
pub(crate) struct Node<'a> {
    value: &'a YamlValue,
    path: String,
}

impl<'a> Node<'a> {
    pub(crate) fn root(value: &'a YamlValue, name: &str) -> Self {
        Node {
            value,
            path: name.to_owned(),
        }
    }

    pub(crate) fn error(&self, what: &str) -> ZebinError {
        ZebinError::new(format!("{}: {what}", self.path))
    }

    /// Returns the same node under a more telling path.
    pub(crate) fn named(mut self, path: String) -> Self {
        self.path = path;
        self
    }

    /// Returns a key's value, if it is there and not null.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Node<'a>>, ZebinError> {
        match self.value {
            YamlValue::Map(entries) => Ok(entries
                .iter()
                .find(|(k, _)| k == key)
                .filter(|(_, v)| !matches!(v, YamlValue::Null))
                .map(|(_, value)| Node {
                    value,
                    path: format!("{}.{key}", self.path),
                })),
            YamlValue::Null => Ok(None),
            _ => Err(self.error("expected a map")),
        }
    }

    /// Returns a key's value, or an error if it is missing.
    pub(crate) fn need(&self, key: &str) -> Result<Node<'a>, ZebinError> {
        self.get(key)?
            .ok_or_else(|| self.error(&format!("no `{key}`")))
    }

    /// Returns the elements of a list.
    pub(crate) fn list(&self) -> Result<Vec<Node<'a>>, ZebinError> {
        match self.value {
            YamlValue::List(list) => Ok(list
                .iter()
                .enumerate()
                .map(|(i, value)| Node {
                    value,
                    path: format!("{}[{i}]", self.path),
                })
                .collect()),
            YamlValue::Null => Ok(Vec::new()),
            _ => Err(self.error("expected a list")),
        }
    }

    /// Returns the elements of the list under a key, or none if the key is missing.
    pub(crate) fn list_of(&self, key: &str) -> Result<Vec<Node<'a>>, ZebinError> {
        match self.get(key)? {
            None => Ok(Vec::new()),
            Some(n) => n.list(),
        }
    }

    /// Returns a string; numbers count as their text.
    pub(crate) fn string(&self) -> Result<String, ZebinError> {
        self.value
            .text()
            .filter(|_| !matches!(self.value, YamlValue::Null))
            .ok_or_else(|| self.error("expected a string"))
    }

    /// Returns an unsigned number.
    pub(crate) fn u32(&self) -> Result<u32, ZebinError> {
        match self.value {
            YamlValue::Int(i) => u32::try_from(*i)
                .map_err(|_| self.error(&format!("{i} is not a number of 0 to 4294967295"))),
            _ => Err(self.error("expected a number")),
        }
    }

    /// Returns a number that may be negative.
    pub(crate) fn i32(&self) -> Result<i32, ZebinError> {
        match self.value {
            YamlValue::Int(i) => i32::try_from(*i)
                .map_err(|_| self.error(&format!("{i} is not a number of 32 bits"))),
            _ => Err(self.error("expected a number")),
        }
    }

    /// Returns a key's number, or a default if the key is missing.
    pub(crate) fn u32_or(&self, key: &str, default: u32) -> Result<u32, ZebinError> {
        self.get(key)?.map_or(Ok(default), |n| n.u32())
    }

    /// Returns a key's boolean; false if the key is missing.
    pub(crate) fn flag(&self, key: &str) -> Result<bool, ZebinError> {
        self.get(key)?.map_or(Ok(false), |n| n.bool())
    }

    /// Returns a boolean; numbers other than 0 are true.
    pub(crate) fn bool(&self) -> Result<bool, ZebinError> {
        match self.value {
            YamlValue::Bool(b) => Ok(*b),
            YamlValue::Int(i) => Ok(*i != 0),
            _ => Err(self.error("expected true or false")),
        }
    }
}

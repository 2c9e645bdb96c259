//! Reading `.ze_info`: its YAML as values, and their fields with errors that say where.

use super::ZebinError;
use crate::limits::{Budget, Limits};
use std::collections::HashSet;
use yaml_rust2::Yaml;
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::TScalarStyle;

/// How deep lists and maps may lie in each other. Compilers use seven levels.
const MAX_DEPTH: usize = 64;

/// A value.
#[derive(Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// A string, or a number with a fraction.
    Text(String),
    List(Vec<Value>),
    /// Keys are different from each other.
    Map(Vec<(String, Value)>),
}

/// A list or map that is not complete.
enum Open {
    List(Vec<Value>),
    Map {
        entries: Vec<(String, Value)>,
        key: Option<String>,
    },
}

/// The first document of a text, whose name is for messages; `None` where there is none. Aliases, by which a short text says a long one, are refused, and
/// so is more than the limits allow: the text is read as far as it is kept.
pub(super) fn parse(text: &str, name: &str, limits: &Limits) -> Result<Option<Value>, ZebinError> {
    let error = |what: &str| ZebinError::new(format!("{name}: {what}"));
    let mut parser = Parser::new_from_str(text);
    let mut values = Budget::new("values in .ze_info", limits.info_values);
    let mut open: Vec<Open> = Vec::new();
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
                    Event::SequenceStart(..) => Open::List(Vec::new()),
                    _ => Open::Map {
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
                Some(Open::List(list)) => Value::List(list),
                Some(Open::Map { entries, .. }) => {
                    if let Some(key) = repeated(&entries) {
                        return Err(error(&format!("a second `{key}` in a map")));
                    }
                    Value::Map(entries)
                }
                None => continue,
            },
            Event::Alias(_) => return Err(error("an alias (`*`), which no compiler writes")),
            _ => continue,
        };
        match open.last_mut() {
            Some(Open::List(list)) => list.push(value),
            Some(Open::Map { entries, key }) => match key.take() {
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

/// What a scalar is: quoted ones are strings.
fn scalar(text: String, style: TScalarStyle) -> Value {
    if style != TScalarStyle::Plain {
        return Value::Text(text);
    }
    match Yaml::from_str(&text) {
        Yaml::Null => Value::Null,
        Yaml::Boolean(b) => Value::Bool(b),
        Yaml::Integer(i) => Value::Int(i),
        _ => Value::Text(text),
    }
}

/// A key that is there twice.
fn repeated(entries: &[(String, Value)]) -> Option<&str> {
    let mut seen = HashSet::with_capacity(entries.len());
    let mut keys = entries.iter().map(|(k, _)| k.as_str());
    keys.find(|k| !seen.insert(*k))
}

impl Value {
    /// A scalar's text.
    fn text(&self) -> Option<String> {
        match self {
            Value::Text(s) => Some(s.clone()),
            Value::Int(i) => Some(i.to_string()),
            Value::Bool(b) => Some(b.to_string()),
            Value::Null => Some(String::new()),
            Value::List(_) | Value::Map(_) => None,
        }
    }
}

/// A value and its path from the root, for messages.
#[derive(Clone)]
pub(super) struct Node<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value, name: &str) -> Self {
        Node {
            value,
            path: name.to_owned(),
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
        match self.value {
            Value::Map(entries) => Ok(entries
                .iter()
                .find(|(k, _)| k == key)
                .filter(|(_, v)| !matches!(v, Value::Null))
                .map(|(_, value)| Node {
                    value,
                    path: format!("{}.{key}", self.path),
                })),
            Value::Null => Ok(None),
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
        match self.value {
            Value::List(list) => Ok(list
                .iter()
                .enumerate()
                .map(|(i, value)| Node {
                    value,
                    path: format!("{}[{i}]", self.path),
                })
                .collect()),
            Value::Null => Ok(Vec::new()),
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
        self.value
            .text()
            .filter(|_| !matches!(self.value, Value::Null))
            .ok_or_else(|| self.error("expected a string"))
    }

    /// An unsigned number.
    pub(super) fn u32(&self) -> Result<u32, ZebinError> {
        match self.value {
            Value::Int(i) => u32::try_from(*i)
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
            Some(n) => match n.value {
                Value::Bool(b) => Ok(*b),
                Value::Int(i) => Ok(*i != 0),
                _ => Err(n.error("expected true or false")),
            },
        }
    }
}

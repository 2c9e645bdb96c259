//! Text that kernels print: the printf buffer, read after a launch.
//!
//! The buffer begins with a dword that counts the bytes used so far, including itself. A kernel
//! adds to it atomically. Then come the calls. Each is the address of the format string, and for
//! each conversion the type of its argument and the argument, in whole dwords. Sources:
//! compute-runtime, `print_formatter.h`; intel-graphics-compiler, `OpenCLPrintfResolution`.

use super::memory::{Block, View};
use crate::limits::{Budget, Excess, Limits, within};
use gantry_isa_gen::printf::{Spec, Value};

/// Bytes of a printf buffer. Compilers know its size: calls past the end store nothing.
pub(super) const BUFFER_BYTES: usize = 4 << 20;
/// Bytes used in an empty buffer.
pub(super) const EMPTY: u32 = 4;
/// Limit on the length of a printed string, in bytes.
const MAX_STRING: usize = 16 << 10;

/// Type tags of arguments.
mod tag {
    pub(super) const BYTE: u32 = 1;
    pub(super) const SHORT: u32 = 2;
    pub(super) const INT: u32 = 3;
    pub(super) const FLOAT: u32 = 4;
    pub(super) const STRING: u32 = 5;
    pub(super) const LONG: u32 = 6;
    pub(super) const POINTER: u32 = 7;
    pub(super) const DOUBLE: u32 = 8;
    /// Vectors: the count as a dword, then the elements, each of which takes a dword at least.
    pub(super) const VECTOR_BYTE: u32 = 9;
    pub(super) const VECTOR_SHORT: u32 = 10;
    pub(super) const VECTOR_INT: u32 = 11;
    pub(super) const VECTOR_LONG: u32 = 12;
    pub(super) const VECTOR_FLOAT: u32 = 13;
    pub(super) const VECTOR_DOUBLE: u32 = 14;
}

/// BufferReader of a buffer.
struct BufferReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl BufferReader<'_> {
    /// Takes the next `n` bytes, zero-extended; `None` past the end.
    fn take(&mut self, n: usize) -> Option<u64> {
        let b = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        let mut v = [0; 8];
        v.iter_mut().zip(b).for_each(|(o, b)| *o = *b);
        Some(u64::from_le_bytes(v))
    }

    fn signed(&mut self, n: usize) -> Option<Value> {
        let shift = 64 - 8 * n as u32;
        Some(Value::Int((self.take(n)? << shift) as i64 >> shift))
    }

    fn float(&mut self, n: usize) -> Option<Value> {
        let bits = self.take(n)?;
        Some(Value::Float(if n == 4 {
            f64::from(f32::from_bits(bits as u32))
        } else {
            f64::from_bits(bits)
        }))
    }

    /// Takes the next argument's values: one, or a vector's.
    fn argument(&mut self, strings: &mut StringReader<'_>) -> Result<Option<Vec<Value>>, Excess> {
        let Some(ty) = self.take(4) else {
            return Ok(None);
        };
        let ty = ty as u32;
        if ty != tag::STRING {
            return Ok(self.numbers(ty));
        }
        let Some(address) = self.take(8) else {
            return Ok(None);
        };
        Ok(Some(vec![Value::String(strings.at(address)?)]))
    }

    /// Takes the numbers of an argument of this type.
    fn numbers(&mut self, ty: u32) -> Option<Vec<Value>> {
        let (float, size) = match ty {
            tag::BYTE | tag::VECTOR_BYTE => (false, 1),
            tag::SHORT | tag::VECTOR_SHORT => (false, 2),
            tag::INT | tag::VECTOR_INT => (false, 4),
            tag::LONG | tag::POINTER | tag::VECTOR_LONG => (false, 8),
            tag::FLOAT | tag::VECTOR_FLOAT => (true, 4),
            tag::DOUBLE | tag::VECTOR_DOUBLE => (true, 8),
            _ => return None,
        };
        let count = if ty >= tag::VECTOR_BYTE {
            self.take(4)? as usize
        } else {
            1
        };
        if count > 16 {
            return None;
        }
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(if float {
                self.float(size)?
            } else {
                self.signed(size)?
            });
        }
        self.at += 4usize.saturating_sub(size) * count;
        Some(values)
    }
}

/// Text of all calls.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PrintedText {
    pub(super) text: String,
    /// Limit that cut the text off.
    pub(super) excess: Option<Excess>,
}

/// Formats all calls in a buffer that begins at an offset of a block, in order. The bytes used
/// count from the block's start. `memory` holds the strings. A malformed call ends the text, and so
/// does one that passes the limits.
pub(super) fn text(buffer: &Block, at: u64, memory: &View<'_>, limits: &Limits) -> PrintedText {
    let used = (buffer.load(at, 4) as usize).min(buffer.len());
    let mut bytes = vec![0; used];
    buffer.read(0, &mut bytes);
    let mut printer = Printer {
        reader: BufferReader {
            bytes: &bytes,
            at: at as usize + EMPTY as usize,
        },
        strings: StringReader {
            memory,
            read: Budget::new("bytes of formats and strings to print", limits.printf_bytes),
        },
        out: Vec::new(),
        limits,
    };
    let excess = loop {
        match printer.call() {
            Ok(true) => {}
            Ok(false) => break None,
            Err(e) => break Some(e),
        }
    };
    let mut out = printer.out;
    out.truncate(limits.printf_bytes);
    PrintedText {
        text: String::from_utf8(out)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
        excess,
    }
}

/// Formatter of calls.
struct Printer<'a> {
    reader: BufferReader<'a>,
    strings: StringReader<'a>,
    out: Vec<u8>,
    limits: &'a Limits,
}

impl Printer<'_> {
    /// Formats the next call. Returns false at the end of the buffer, also within a call.
    fn call(&mut self) -> Result<bool, Excess> {
        let Some(address) = self.reader.take(8) else {
            return Ok(false);
        };
        let Some(format) = self.strings.at(address)? else {
            return Ok(false);
        };
        let mut rest = format.as_slice();
        while let Some((&c, after)) = rest.split_first() {
            rest = after;
            if c != b'%' {
                self.out.push(c);
                continue;
            }
            if let Some(after) = after.strip_prefix(b"%") {
                self.out.push(b'%');
                rest = after;
                continue;
            }
            let Some((spec, after)) = Spec::parse(after) else {
                self.out.push(c);
                continue;
            };
            let widest = usize::from(self.limits.printf_width);
            within(
                "characters in a printf conversion",
                spec.characters(),
                widest,
            )?;
            let Some(values) = self.reader.argument(&mut self.strings)? else {
                return Ok(false);
            };
            for (i, v) in values.iter().enumerate() {
                if i > 0 {
                    self.out.push(b',');
                }
                spec.print(&mut self.out, v);
            }
            rest = after;
            self.fits()?;
        }
        self.fits()?;
        Ok(true)
    }

    fn fits(&self) -> Result<(), Excess> {
        within(
            "bytes of printed text",
            self.out.len(),
            self.limits.printf_bytes,
        )
    }
}

/// BufferReader of strings, within a limit.
struct StringReader<'a> {
    memory: &'a View<'a>,
    read: Budget,
}

impl StringReader<'_> {
    /// Returns the string at an address, without its NUL; `None` where there is none.
    fn at(&mut self, address: u64) -> Result<Option<Vec<u8>>, Excess> {
        let Some((block, at)) = self.memory.find(address, 1) else {
            return Ok(None);
        };
        let most = (block.len() as u64 - at).min(MAX_STRING as u64);
        let mut s = Vec::new();
        let mut part = [0; 64];
        while (s.len() as u64) < most {
            let left = most - s.len() as u64;
            let part = part.get_mut(..left.min(64) as usize).unwrap_or_default();
            block.read(at + s.len() as u64, part);
            let end = part.iter().position(|c| *c == 0);
            s.extend(part.iter().take(end.unwrap_or(part.len())));
            self.read.take(end.map_or(part.len(), |n| n + 1))?;
            if end.is_some() {
                return Ok(Some(s));
            }
        }
        // A long string is cut off. One that the end of memory cuts off is none.
        Ok((s.len() == MAX_STRING).then_some(s))
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::{Mapped, Table};
    use super::*;
    use std::sync::Arc;

    const STRINGS: u64 = 0x1000;

    /// Formats a buffer with calls. A call is the offset of its format in `strings`, and its
    /// arguments' bytes.
    fn print(strings: &[u8], calls: &[(u64, &[u8])]) -> String {
        let printed = print_within(strings, calls, &Limits::default());
        assert_eq!(printed.excess, None);
        printed.text
    }

    fn print_within(strings: &[u8], calls: &[(u64, &[u8])], limits: &Limits) -> PrintedText {
        let block = Block::new(strings.len()).unwrap();
        block.write(0, strings);
        let strings = Mapped {
            base: STRINGS,
            block: Arc::new(block),
        };
        let table = Table::default();
        let view = View::new(&table, [Some(&strings), None]);
        let mut bytes = vec![0; 4];
        for (at, args) in calls {
            bytes.extend((STRINGS + at).to_le_bytes());
            bytes.extend(*args);
        }
        let used = bytes.len() as u32;
        bytes[..4].copy_from_slice(&used.to_le_bytes());
        let buffer = Block::new(4096).unwrap();
        buffer.write(0, &bytes);
        text(&buffer, 0, &view, limits)
    }

    fn arg(tag: u32, bytes: &[u8]) -> Vec<u8> {
        [&tag.to_le_bytes(), bytes].concat()
    }

    #[test]
    fn calls_follow_each_other() {
        let strings = b"a %d%%\n\0b %s|%v2hd\n\0str\0";
        let first = arg(tag::INT, &(-5i32).to_le_bytes());
        let second = [
            arg(tag::STRING, &(STRINGS + 20).to_le_bytes()),
            arg(
                tag::VECTOR_SHORT,
                &[2, 0, 0, 0, 1, 0, 0xff, 0xff, 0, 0, 0, 0],
            ),
        ]
        .concat();
        assert_eq!(
            print(strings, &[(0, &first), (8, &second), (0, &first)]),
            "a -5%\nb str|1,-1\na -5%\n"
        );
    }

    #[test]
    fn damage_ends_the_text() {
        let strings = b"a %d\n\0x\0";
        assert_eq!(print(strings, &[(0, &arg(99, &[]))]), "a ");
        assert_eq!(print(strings, &[(0, &arg(tag::INT, &[]))]), "a ");
        assert_eq!(print(strings, &[(1 << 40, &[]), (6, &[])]), "");
        assert_eq!(print(strings, &[(6, &[]), (6, &[])]), "xx");
        assert_eq!(
            print(strings, &[(0, &arg(tag::VECTOR_INT, &[200, 0, 0, 0]))]),
            "a "
        );
    }

    #[test]
    fn text_is_bounded() {
        let limits = Limits {
            printf_bytes: 100,
            printf_width: 50,
            ..Limits::default()
        };
        let strings = b"%30d\0%51d\0%.99999999999f\0%s%.0s\0............................\0";
        let (wide, precise, string, dots) = (5, 10, 25, 32);
        let int = arg(tag::INT, &[1, 0, 0, 0]);
        let print = |calls: &[(u64, &[u8])]| print_within(strings, calls, &limits);
        // Three calls fit, and the fourth in part.
        let four = print(&[(0, &int), (0, &int), (0, &int), (0, &int)]);
        assert_eq!(four.text.len(), 100);
        assert_eq!(
            four.excess.map(|e| e.to_string()).as_deref(),
            Some("120 bytes of printed text; the limit is 100")
        );
        let asked = |at: u64| print(&[(at, &int)]).excess.map(|e| (e.asked, e.limit));
        assert_eq!(asked(wide), Some((51, 50)));
        assert_eq!(asked(precise), Some((99_999_999_999, 50)));
        // Bytes that are read count too, even if few are printed.
        let s = arg(tag::STRING, &(STRINGS + dots).to_le_bytes());
        let two = [s.clone(), s].concat();
        let e = print(&[(string, &two), (string, &two)]).excess.unwrap();
        assert_eq!(e.what, "bytes of formats and strings to print");
    }

    #[test]
    fn strings_end_where_memory_does() {
        let at = |strings: &[u8], limit| {
            let block = Block::new(strings.len()).unwrap();
            block.write(0, strings);
            let strings = Mapped {
                base: STRINGS,
                block: Arc::new(block),
            };
            let table = Table::default();
            let view = View::new(&table, [Some(&strings), None]);
            let mut s = StringReader {
                memory: &view,
                read: Budget::new("bytes", limit),
            };
            s.at(STRINGS + 1).map(|s| s.map(|s| s.len()))
        };
        let long = vec![b'x'; 3 * MAX_STRING];
        assert_eq!(at(&long, 1 << 20), Ok(Some(MAX_STRING)));
        assert!(at(&long, 1000).is_err());
        assert_eq!(at(&long[..100], 1 << 20), Ok(None));
        let mut ended = long[..100].to_vec();
        ended[99] = 0;
        assert_eq!(at(&ended, 1 << 20), Ok(Some(98)));
        assert_eq!(at(b"x", 100), Ok(None));
    }
}

//! What kernels print: the printf buffer, read after a launch.
//!
//! The buffer begins with a dword, the bytes used so far with that dword among them; a kernel adds to it atomically. Then
//! come the calls: the address of the format string, and for each conversion the type of its argument and the argument, in
//! whole dwords. Source: compute-runtime, `print_formatter.h`; `OpenCLPrintfResolution` of intel-graphics-compiler.

mod format;

use super::memory::{Block, View};
use format::{Spec, Value};

/// Bytes of a printf buffer. Compilers know its size: calls past the end store nothing.
pub(super) const BUFFER_BYTES: usize = 4 << 20;
/// The bytes used in an empty buffer.
pub(super) const EMPTY: u32 = 4;
/// The longest string that is printed, in bytes.
const MAX_STRING: usize = 16 << 10;

/// Types of arguments.
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

/// Reads a buffer: `used` and the calls after it.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next `n` bytes, zero-extended; `None` past the end.
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

    /// The next argument's values: one, or a vector's.
    fn argument(&mut self, string: impl Fn(u64) -> Option<Vec<u8>>) -> Option<Vec<Value>> {
        let ty = self.take(4)? as u32;
        let (float, size) = match ty {
            tag::BYTE | tag::VECTOR_BYTE => (false, 1),
            tag::SHORT | tag::VECTOR_SHORT => (false, 2),
            tag::INT | tag::VECTOR_INT => (false, 4),
            tag::LONG | tag::POINTER | tag::VECTOR_LONG => (false, 8),
            tag::FLOAT | tag::VECTOR_FLOAT => (true, 4),
            tag::DOUBLE | tag::VECTOR_DOUBLE => (true, 8),
            tag::STRING => {
                let address = self.take(8)?;
                return Some(vec![Value::String(string(address))]);
            }
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

/// The text of all calls in a buffer that begins at an offset of a block, in order; the bytes used count from the block's
/// start. `memory` holds the strings. A call that makes no sense ends it.
pub(super) fn text(buffer: &Block, at: u64, memory: &View) -> String {
    let used = (buffer.load(at, 4) as usize).min(buffer.len());
    let mut bytes = vec![0; used];
    buffer.read(0, &mut bytes);
    let mut reader = Reader {
        bytes: &bytes,
        at: at as usize + EMPTY as usize,
    };
    let string = |address| string_at(memory, address);
    let mut out = Vec::new();
    while let Some(format) = reader.take(8).and_then(string) {
        if call(&mut out, &format, &mut reader, &string).is_none() {
            break;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Prints one call.
fn call(
    out: &mut Vec<u8>,
    format: &[u8],
    reader: &mut Reader<'_>,
    string: &impl Fn(u64) -> Option<Vec<u8>>,
) -> Option<()> {
    let mut rest = format;
    while let Some((&c, after)) = rest.split_first() {
        if c != b'%' {
            out.push(c);
            rest = after;
            continue;
        }
        if let Some(after) = after.strip_prefix(b"%") {
            out.push(b'%');
            rest = after;
            continue;
        }
        let Some((spec, after)) = Spec::parse(after) else {
            out.push(c);
            rest = after;
            continue;
        };
        for (i, v) in reader.argument(string)?.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            spec.print(out, v);
        }
        rest = after;
    }
    Some(())
}

/// The string at an address, without its NUL.
fn string_at(memory: &View, address: u64) -> Option<Vec<u8>> {
    let mut s = Vec::new();
    for i in 0..MAX_STRING as u64 {
        let (block, at) = memory.find(address.checked_add(i)?, 1)?;
        match block.load(at, 1) as u8 {
            0 => break,
            c => s.push(c),
        }
    }
    Some(s)
}

#[cfg(test)]
mod tests {
    use super::super::memory::Mapped;
    use super::*;
    use std::sync::Arc;

    const STRINGS: u64 = 0x1000;

    /// What a buffer with these calls prints. A call is the offset of its format in `strings`, and its arguments' bytes.
    fn print(strings: &[u8], calls: &[(u64, &[u8])]) -> String {
        let block = Block::new(strings.len()).unwrap();
        block.write(0, strings);
        let view = View::new(vec![Mapped {
            base: STRINGS,
            block: Arc::new(block),
        }]);
        let mut bytes = vec![0; 4];
        for (at, args) in calls {
            bytes.extend((STRINGS + at).to_le_bytes());
            bytes.extend(*args);
        }
        let used = bytes.len() as u32;
        bytes[..4].copy_from_slice(&used.to_le_bytes());
        let buffer = Block::new(4096).unwrap();
        buffer.write(0, &bytes);
        text(&buffer, 0, &view)
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
}

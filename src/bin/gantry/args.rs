//! Forms of `gantry run --arg`.

use crate::images::{self, ImageForm, ImageOutput};
use crate::{Failure, input};
use gantry::filetests::data::Kind;
use gantry::isa::diag::{Are, Count};
use gantry::runtime::zebin::ArgKind;
use gantry::runtime::{Arg, Buffer, Device, Sampler};
use std::path::PathBuf;

/// Kernel argument as the command line gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ArgForm {
    /// Buffer: filled from a file or zeroed, and optionally written to a file after the launch.
    Buffer {
        /// Initial contents.
        from: InitialContents,
        /// File that it is written to.
        to: Option<PathBuf>,
    },
    /// SLM in bytes.
    Local(u32),
    /// Value. `packed` is the number of significant bytes where a 3-vector does not fill four
    /// elements.
    Value {
        /// Bytes of the value.
        bytes: Vec<u8>,
        /// Number of bytes without the fourth element of a 3-vector.
        packed: usize,
    },
    /// Value of any size.
    Bytes(Vec<u8>),
    /// Image.
    Image(ImageForm),
    /// Sampler.
    Sampler(Sampler),
}

/// Initial contents of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum InitialContents {
    /// Bytes of a file.
    File(PathBuf),
    /// Number of zero bytes.
    Zeros(usize),
}

impl ArgForm {
    /// Parses an `--arg`.
    pub(crate) fn parse(text: &str) -> Result<ArgForm, Failure> {
        ArgForm::of_option(&format!("--arg {text}"), text)
    }

    /// Parses an argument of an option, which errors begin with.
    pub(crate) fn of_option(option: &str, text: &str) -> Result<ArgForm, Failure> {
        let wrong = |what: &str| Failure::usage(format!("{option}: {what}"));
        let (form, rest) = text
            .split_once(':')
            .ok_or_else(|| wrong("an argument is FORM:..., as `in:FILE` or `f32:2.5`"))?;
        let bytes = |n: &str| {
            n.parse::<u32>()
                .map_err(|_| wrong(&format!("`{n}` is no number of bytes")))
        };
        let buffer = |from, to: Option<&str>| ArgForm::Buffer {
            from,
            to: to.map(PathBuf::from),
        };
        match form {
            "in" => Ok(buffer(InitialContents::File(rest.into()), None)),
            "out" => {
                let (file, n) = rest
                    .rsplit_once(':')
                    .ok_or_else(|| wrong("the form is out:FILE:BYTES"))?;
                Ok(buffer(
                    InitialContents::Zeros(bytes(n)? as usize),
                    Some(file),
                ))
            }
            "inout" => {
                let (file, out) = rest
                    .split_once(':')
                    .ok_or_else(|| wrong("the form is inout:FILE:OUTFILE"))?;
                Ok(buffer(InitialContents::File(file.into()), Some(out)))
            }
            "zero" => Ok(buffer(InitialContents::Zeros(bytes(rest)? as usize), None)),
            "local" => Ok(ArgForm::Local(bytes(rest)?)),
            "bytes" => {
                let bytes = from_hex(rest)
                    .ok_or_else(|| wrong("pairs of hexadecimal digits are expected"))?;
                Ok(ArgForm::Bytes(bytes))
            }
            "image2d" => ImageForm::png(rest)
                .map(ArgForm::Image)
                .map_err(|e| wrong(&e)),
            "image" => ImageForm::raw(rest)
                .map(ArgForm::Image)
                .map_err(|e| wrong(&e)),
            "sampler" => images::sampler(rest)
                .map(ArgForm::Sampler)
                .map_err(|e| wrong(&e)),
            _ => number(form, rest).map_err(|e| wrong(&e)),
        }
    }
}

/// Parses a number: `f32:1.5`, `i16x4:1,2,3,4`.
fn number(form: &str, text: &str) -> Result<ArgForm, String> {
    let unknown = || {
        format!(
            "`{form}` is no form of argument; there are in, out, inout, zero, local, bytes, image2d, image, sampler, and \
             i8 .. i64, u8 .. u64, f16, f32, f64 with or without a lane count (f32x4)"
        )
    };
    let (base, lanes) = match form.split_once('x') {
        Some((b, n)) => (
            b,
            n.parse()
                .ok()
                .filter(|n| [2, 3, 4, 8, 16].contains(n))
                .ok_or_else(unknown)?,
        ),
        None => (form, 1),
    };
    let kind = Kind::from_name(base).ok_or_else(unknown)?;
    let numbers: Vec<&str> = text.split(',').map(str::trim).collect();
    if numbers.len() != lanes {
        return Err(format!(
            "{form} takes {}, {} given",
            Count(lanes, "number"),
            Are(numbers.len())
        ));
    }
    let mut bytes = Vec::new();
    for n in numbers {
        bytes.extend(kind.parse(n)?.to_le_bytes().into_iter().take(kind.bytes()));
    }
    let packed = bytes.len();
    if lanes == 3 {
        bytes.resize(4 * kind.bytes(), 0);
    }
    Ok(ArgForm::Value { bytes, packed })
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).map(|d| d as u8))
        .collect::<Option<_>>()?;
    match digits.len() % 2 {
        0 => Some(
            digits
                .chunks(2)
                .map(|d| d.iter().fold(0, |v, d| v << 4 | d))
                .collect(),
        ),
        _ => None,
    }
}

/// Argument created for a device, and its output after the launch.
pub(crate) struct DeviceArg {
    pub(crate) arg: Arg,
    pub(crate) after: Option<FileOutput>,
}

/// Output to a file after a launch.
pub(crate) enum FileOutput {
    /// Bytes of a buffer.
    Buffer(Buffer, PathBuf),
    /// Image.
    Image(ImageOutput),
}

impl FileOutput {
    /// Writes the file.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        match self {
            FileOutput::Buffer(buffer, path) => {
                input::write(path, &buffer.read::<u8>().map_err(Failure::new)?)
            }
            FileOutput::Image(saved) => saved.write(),
        }
    }
}

/// Creates an argument. `kind` is the kind that the kernel takes, if there is such an argument.
pub(crate) fn make(
    form: &ArgForm,
    device: &Device,
    kind: Option<ArgKind>,
) -> Result<DeviceArg, Failure> {
    let plain = |arg| DeviceArg { arg, after: None };
    match form {
        ArgForm::Local(n) => Ok(plain(Arg::Local(*n))),
        ArgForm::Value { bytes, packed } => {
            let exact = matches!(kind, Some(ArgKind::Value { size }) if size as usize == *packed);
            let bytes = bytes.get(..*packed).filter(|_| exact).unwrap_or(bytes);
            Ok(plain(Arg::Value(bytes.to_vec())))
        }
        ArgForm::Buffer { from, to } => {
            let buffer = match from {
                InitialContents::File(path) => device.buffer_from(&input::read(path)?),
                InitialContents::Zeros(n) => device.buffer(*n),
            }
            .map_err(Failure::new)?;
            Ok(DeviceArg {
                arg: Arg::from(&buffer),
                after: to.clone().map(|to| FileOutput::Buffer(buffer, to)),
            })
        }
        ArgForm::Image(form) => {
            let ty = match kind {
                Some(ArgKind::Image(ty)) => ty,
                _ => None,
            };
            let (image, saved) = form.make(device, ty)?;
            Ok(DeviceArg {
                arg: Arg::Image(image),
                after: saved.map(FileOutput::Image),
            })
        }
        ArgForm::Bytes(bytes) => Ok(plain(Arg::bytes(bytes))),
        ArgForm::Sampler(s) => Ok(plain(Arg::Sampler(*s))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> (Vec<u8>, usize) {
        match ArgForm::parse(text) {
            Ok(ArgForm::Value { bytes, packed }) => (bytes, packed),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn values() {
        assert_eq!(value("i16:-2"), (vec![0xfe, 0xff], 2));
        assert_eq!(value("f32:1.0").0, 1f32.to_le_bytes());
        assert_eq!(value("u8x3:1,2,3"), (vec![1, 2, 3, 0], 3));
        assert!(
            matches!(ArgForm::parse("bytes:00ff10"), Ok(ArgForm::Bytes(b)) if b == [0, 255, 16])
        );
    }

    #[test]
    fn buffers() {
        let form = |t| ArgForm::parse(t).ok();
        let buffer = |from, to: Option<&str>| {
            Some(ArgForm::Buffer {
                from,
                to: to.map(PathBuf::from),
            })
        };
        assert_eq!(
            form("in:a.bin"),
            buffer(InitialContents::File("a.bin".into()), None)
        );
        assert_eq!(
            form("out:a.bin:64"),
            buffer(InitialContents::Zeros(64), Some("a.bin"))
        );
        assert_eq!(
            form("inout:a:b"),
            buffer(InitialContents::File("a".into()), Some("b"))
        );
        assert_eq!(form("zero:8"), buffer(InitialContents::Zeros(8), None));
        assert_eq!(form("local:8"), Some(ArgForm::Local(8)));
    }

    #[test]
    fn mistakes() {
        for bad in [
            "5",
            "out:a",
            "out:a:x",
            "inout:a",
            "zero:-1",
            "f33:1",
            "f32:x",
            "f32x4:1,2",
            "f32x5:1,2,3,4,5",
            "bytes:0",
            "bytes:xy",
            "image2d:",
            "image:4x4:RGBA",
            "sampler:none:near",
            "i8:300",
        ] {
            assert!(ArgForm::parse(bad).is_err(), "{bad}");
        }
    }
}

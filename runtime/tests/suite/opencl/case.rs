//! Launches of kernels, and the comparison that their results must pass.

use super::cl;
use crate::rng::Rng;
use gantry_runtime::{ImageDesc, ImageFormat, Sampler};
use half::f16;

/// Type of a buffer's elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElementType {
    Int { bytes: usize, signed: bool },
    F16,
    F32,
    F64,
}

impl ElementType {
    /// Returns the bytes of an element.
    pub fn size(self) -> usize {
        match self {
            ElementType::Int { bytes, .. } => bytes,
            ElementType::F16 => 2,
            ElementType::F32 => 4,
            ElementType::F64 => 8,
        }
    }
}

/// Number that buffers hold.
pub trait Element: Copy + Default + 'static {
    /// Its type.
    const KIND: ElementType;
    /// Generates a value from random bits: all values for integers, ordinary and special ones for
    /// floats.
    fn any(r: &mut Rng) -> Self;
    /// Returns the nearest value of the type.
    fn from_f64(v: f64) -> Self;
    /// Appends the device's bytes of a value.
    fn put(self, out: &mut Vec<u8>);
    /// Reads a value from the device's bytes.
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($($t:ty, $kind:expr, $any:expr, $from:expr;)*) => {$(
        impl Element for $t {
            const KIND: ElementType = $kind;
            fn any(r: &mut Rng) -> Self {
                ($any)(r)
            }
            fn from_f64(v: f64) -> Self {
                ($from)(v)
            }
            fn put(self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn take(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

const fn int(bytes: usize, signed: bool) -> ElementType {
    ElementType::Int { bytes, signed }
}

element! {
    u8, int(1, false), |r: &mut Rng| r.wild_i32() as u8, |v| v as u8;
    i8, int(1, true), |r: &mut Rng| r.wild_i32() as i8, |v| v as i8;
    u16, int(2, false), |r: &mut Rng| r.wild_i32() as u16, |v| v as u16;
    i16, int(2, true), |r: &mut Rng| r.wild_i32() as i16, |v| v as i16;
    u32, int(4, false), |r: &mut Rng| r.wild_i32() as u32, |v| v as u32;
    i32, int(4, true), |r: &mut Rng| r.wild_i32(), |v| v as i32;
    u64, int(8, false), |r: &mut Rng| r.wild_i64() as u64, |v| v as u64;
    i64, int(8, true), |r: &mut Rng| r.wild_i64(), |v| v as i64;
    f16, ElementType::F16, |r: &mut Rng| f16::from_f32(r.wild_f32()), f16::from_f64;
    f32, ElementType::F32, |r: &mut Rng| r.wild_f32(), |v| v as f32;
    f64, ElementType::F64, |r: &mut Rng| f64::from(r.wild_f32()), |v| v;
}

/// Generates any value, including special ones.
pub fn any<T: Element>(r: &mut Rng, _: usize) -> T {
    T::any(r)
}

/// Generates zeros.
pub fn zero<T: Element>(_: &mut Rng, _: usize) -> T {
    T::default()
}

/// Generates values from `lo` up to `hi` (excluded).
pub fn within<T: Element>(lo: f64, hi: f64) -> impl Fn(&mut Rng, usize) -> T {
    move |r, _| T::from_f64(lo + r.unit() * (hi - lo))
}

/// Generates values as [`within`] does, but of either sign.
pub fn either<T: Element>(lo: f64, hi: f64) -> impl Fn(&mut Rng, usize) -> T {
    move |r, _| {
        let v = lo + r.unit() * (hi - lo);
        T::from_f64(if r.below(2) == 0 { v } else { -v })
    }
}

/// Generates each element's own index.
pub fn index<T: Element>(_: &mut Rng, i: usize) -> T {
    T::from_f64(i as f64)
}

/// Allowed difference between a result and the expected value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// None: every bit counts, except that all NaNs are equal.
    Exact,
    /// Units in the last place of the value, or of `scale` where the value is smaller than that.
    /// The result of a sum may be far smaller than its terms.
    Ulp { ulps: f64, scale: f64 },
    /// Difference of integers that were rounded from floats.
    Off(u64),
}

/// Argument of a kernel.
#[derive(Clone, Debug)]
pub enum Arg {
    /// Buffer with its initial contents, and the tolerance of its contents afterwards.
    Buffer {
        kind: ElementType,
        data: Vec<u8>,
        tolerance: Tolerance,
    },
    /// Value.
    Value(Vec<u8>),
    /// Local memory, in bytes.
    Local(u32),
    /// Image, compared as a buffer of its components.
    Image {
        format: ImageFormat,
        desc: ImageDesc,
        kind: ElementType,
        data: Vec<u8>,
        tolerance: Tolerance,
    },
    /// Sampler.
    Sampler(Sampler),
}

impl Arg {
    /// Returns the elements of a buffer or an image, and their tolerance.
    pub fn compared(&self) -> Option<(ElementType, &[u8], Tolerance)> {
        match self {
            Arg::Buffer {
                kind,
                data,
                tolerance,
            }
            | Arg::Image {
                kind,
                data,
                tolerance,
                ..
            } => Some((*kind, data, *tolerance)),
            _ => None,
        }
    }
}

/// Contents of the buffers before a launch, and expected contents after it.
pub struct Memory {
    buffers: Vec<Vec<u8>>,
}

impl Memory {
    /// Returns the elements of a buffer. Buffers and images are numbered together.
    pub fn get<T: Element>(&self, buffer: usize) -> Vec<T> {
        self.buffers[buffer]
            .chunks_exact(T::KIND.size())
            .map(T::take)
            .collect()
    }

    /// Sets the expected contents of a buffer.
    pub fn set<T: Element>(&mut self, buffer: usize, values: impl IntoIterator<Item = T>) {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|v| v.put(&mut bytes));
        assert_eq!(bytes.len(), self.buffers[buffer].len());
        self.buffers[buffer] = bytes;
    }

    /// Sets the expected contents of a buffer from each element's index.
    pub fn fill<T: Element>(&mut self, buffer: usize, value: impl FnMut(usize) -> T) {
        let n = self.buffers[buffer].len() / T::KIND.size();
        self.set(buffer, (0..n).map(value));
    }
}

/// Oracle for a kernel's results.
#[derive(Clone, Copy)]
pub enum Oracle {
    /// pocl.
    Pocl,
    /// Function that turns the buffers' contents into the expected ones, for a width.
    Here(fn(&mut Memory, u32)),
}

/// Reason why a launch is not run.
#[derive(Clone, Copy, Debug)]
pub struct Skip {
    /// Devices; empty means all.
    pub devices: &'static [&'static str],
    /// Widths; empty means all.
    pub widths: &'static [u32],
    /// Reason.
    pub reason: &'static str,
}

/// Launch of a kernel.
#[derive(Clone)]
pub struct Case {
    /// File that the kernel is in.
    pub file: &'static str,
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Label that distinguishes launches of the kernel.
    pub label: &'static str,
    /// Arguments.
    pub args: Vec<Arg>,
    /// Grid.
    pub range: cl::Range,
    /// Oracle for the results.
    pub oracle: Oracle,
    /// True if it prints. The text is compared with pocl's.
    pub prints: bool,
    /// Only width that it is for, if there is one.
    pub only: Option<u32>,
    /// Devices and widths on which it is not run, though it is meant to be.
    pub skips: Vec<Skip>,
    /// Devices for which Intel's compiler generates wrong code. Its binaries are not run there;
    /// ours are.
    pub theirs: Option<Skip>,
    rng: Rng,
}

impl Case {
    /// Creates a launch of one work-item and no arguments, compared with pocl.
    pub fn new(file: &'static str, kernel: &'static str) -> Case {
        // The kernel's name is the seed.
        let seed = kernel
            .bytes()
            .fold(7, |s: u64, b| s.wrapping_mul(31).wrapping_add(b.into()));
        Case {
            file,
            kernel,
            label: "",
            args: Vec::new(),
            range: cl::Range {
                global: [1; 3],
                local: [1; 3],
                offset: [0; 3],
            },
            oracle: Oracle::Pocl,
            prints: false,
            only: None,
            skips: Vec::new(),
            theirs: None,
            rng: Rng(seed),
        }
    }

    /// Sets a label that tells what is special about this launch.
    pub fn label(mut self, label: &'static str) -> Case {
        self.label = label;
        self
    }

    /// Sets the work-items of the grid and of a group. The last group may be smaller.
    pub fn line(self, global: u32, local: u32) -> Case {
        self.grid([global, 1, 1], [local, 1, 1])
    }

    /// Sets the work-items of the grid and of a group, in three dimensions.
    pub fn grid(mut self, global: [u32; 3], local: [u32; 3]) -> Case {
        self.range.global = global;
        self.range.local = local;
        self
    }

    /// Sets the first global id.
    pub fn offset(mut self, offset: [u32; 3]) -> Case {
        self.range.offset = offset;
        self
    }

    /// Adds a buffer of `n` elements, each generated by `fill` from the case's generator and its
    /// index. It is compared afterwards, exactly by default, whether the kernel writes it or not.
    pub fn buffer<T: Element>(mut self, n: usize, fill: impl Fn(&mut Rng, usize) -> T) -> Case {
        let data = self.filled(n, fill);
        self.args.push(Arg::Buffer {
            kind: T::KIND,
            data,
            tolerance: Tolerance::Exact,
        });
        self
    }

    /// Adds an image, whose components are generated as a buffer's elements are.
    pub fn image<T: Element>(
        mut self,
        format: ImageFormat,
        desc: ImageDesc,
        fill: impl Fn(&mut Rng, usize) -> T,
    ) -> Case {
        assert_eq!(format.channel().bytes() as usize, T::KIND.size());
        let components = desc.texels() as usize * format.order().components() as usize;
        let data = self.filled(components, fill);
        self.args.push(Arg::Image {
            format,
            desc,
            kind: T::KIND,
            data,
            tolerance: Tolerance::Exact,
        });
        self
    }

    fn filled<T: Element>(&mut self, n: usize, fill: impl Fn(&mut Rng, usize) -> T) -> Vec<u8> {
        let mut data = Vec::new();
        for i in 0..n {
            fill(&mut self.rng, i).put(&mut data);
        }
        data
    }

    /// Adds a sampler.
    pub fn sampler(mut self, sampler: Sampler) -> Case {
        self.args.push(Arg::Sampler(sampler));
        self
    }

    /// Adds a value, or a vector of several.
    pub fn value<T: Element, const N: usize>(mut self, values: [T; N]) -> Case {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|v| v.put(&mut bytes));
        self.args.push(Arg::Value(bytes));
        self
    }

    /// Adds a scalar.
    pub fn scalar<T: Element>(self, value: T) -> Case {
        self.value([value])
    }

    /// Adds a structure by value.
    pub fn structure(mut self, bytes: Vec<u8>) -> Case {
        self.args.push(Arg::Value(bytes));
        self
    }

    /// Adds local memory for `n` elements.
    pub fn local<T: Element>(mut self, n: usize) -> Case {
        self.args.push(Arg::Local((n * T::KIND.size()) as u32));
        self
    }

    /// Allows the last argument to differ by units in the last place.
    pub fn ulps(self, ulps: f64) -> Case {
        self.ulps_of(ulps, 0.0)
    }

    /// Allows the last argument to differ by units in the last place of the value or of `scale`,
    /// whichever is larger.
    pub fn ulps_of(self, ulps: f64, scale: f64) -> Case {
        self.tolerance(Tolerance::Ulp { ulps, scale })
    }

    /// Allows the last argument's integers to differ by `n`.
    pub fn off_by(self, n: u64) -> Case {
        self.tolerance(Tolerance::Off(n))
    }

    fn tolerance(mut self, allowed: Tolerance) -> Case {
        if let Some(Arg::Buffer { tolerance, .. } | Arg::Image { tolerance, .. }) =
            self.args.last_mut()
        {
            *tolerance = allowed;
        }
        self
    }

    /// Compares with the results of a function instead of pocl's.
    pub fn expect(mut self, expected: fn(&mut Memory, u32)) -> Case {
        self.oracle = Oracle::Here(expected);
        self
    }

    /// Compares the printed text too.
    pub fn prints(mut self) -> Case {
        self.prints = true;
        self
    }

    /// Restricts the launch to one width.
    pub fn only(mut self, width: u32) -> Case {
        self.only = Some(width);
        self
    }

    /// Skips these devices and widths (all of them where a list is empty).
    pub fn skip(
        mut self,
        devices: &'static [&'static str],
        widths: &'static [u32],
        reason: &'static str,
    ) -> Case {
        self.skips.push(Skip {
            devices,
            widths,
            reason,
        });
        self
    }

    /// Skips Intel's binary on devices for which Intel's compiler generates other code than OpenCL
    /// defines.
    pub fn theirs(mut self, devices: &'static [&'static str], reason: &'static str) -> Case {
        self.theirs = Some(Skip {
            devices,
            widths: &[],
            reason,
        });
        self
    }

    /// Returns the reason why Intel's binary is not run on a device at a width.
    pub fn skipped_theirs(&self, device: &str, width: u32) -> Option<&'static str> {
        let theirs = self.theirs.filter(|s| s.devices.contains(&device));
        theirs.map(|s| s.reason).or(self.skipped(device, width))
    }

    /// Returns the reason why it is not run on a device at a width.
    pub fn skipped(&self, device: &str, width: u32) -> Option<&'static str> {
        let meant = |s: &&Skip| {
            (s.devices.is_empty() || s.devices.contains(&device))
                && (s.widths.is_empty() || s.widths.contains(&width))
        };
        self.skips.iter().find(meant).map(|s| s.reason)
    }

    /// Returns its name in reports.
    pub fn name(&self) -> String {
        match self.label {
            "" => format!("{}/{}", self.file, self.kernel),
            label => format!("{}/{} ({label})", self.file, self.kernel),
        }
    }

    /// Returns the contents of buffers and images that a function expects.
    pub fn expected(&self, compute: fn(&mut Memory, u32), width: u32) -> Vec<Vec<u8>> {
        let buffers = self.args.iter().filter_map(Arg::compared);
        let mut memory = Memory {
            buffers: buffers.map(|(_, data, _)| data.to_vec()).collect(),
        };
        compute(&mut memory, width);
        memory.buffers
    }
}

//! What a kernel is launched with, and how its results are judged.

use super::cl;
use crate::rng::Rng;
use gantry_runtime::{ImageDesc, ImageFormat, Sampler};
use half::f16;

/// What an element of a buffer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Int { bytes: usize, signed: bool },
    F16,
    F32,
    F64,
}

impl Kind {
    /// Bytes of one.
    pub fn size(self) -> usize {
        match self {
            Kind::Int { bytes, .. } => bytes,
            Kind::F16 => 2,
            Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }
}

/// A number that buffers hold.
pub trait Element: Copy + Default + 'static {
    /// What it is.
    const KIND: Kind;
    /// From random bits: all values for integers, ordinary and special ones for floats.
    fn any(r: &mut Rng) -> Self;
    /// The nearest.
    fn from_f64(v: f64) -> Self;
    /// As the device has it.
    fn put(self, out: &mut Vec<u8>);
    /// From the device's bytes.
    fn take(bytes: &[u8]) -> Self;
}

macro_rules! element {
    ($($t:ty, $kind:expr, $any:expr, $from:expr;)*) => {$(
        impl Element for $t {
            const KIND: Kind = $kind;
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

const fn int(bytes: usize, signed: bool) -> Kind {
    Kind::Int { bytes, signed }
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
    f16, Kind::F16, |r: &mut Rng| f16::from_f32(r.wild_f32()), f16::from_f64;
    f32, Kind::F32, |r: &mut Rng| r.wild_f32(), |v| v as f32;
    f64, Kind::F64, |r: &mut Rng| f64::from(r.wild_f32()), |v| v;
}

/// Any value, special ones among them.
pub fn any<T: Element>(r: &mut Rng, _: usize) -> T {
    T::any(r)
}

/// Nothing but zeros.
pub fn zero<T: Element>(_: &mut Rng, _: usize) -> T {
    T::default()
}

/// Values from `lo` up to `hi` (excluded).
pub fn within<T: Element>(lo: f64, hi: f64) -> impl Fn(&mut Rng, usize) -> T {
    move |r, _| T::from_f64(lo + r.unit() * (hi - lo))
}

/// Values as within, but of either sign.
pub fn either<T: Element>(lo: f64, hi: f64) -> impl Fn(&mut Rng, usize) -> T {
    move |r, _| {
        let v = lo + r.unit() * (hi - lo);
        T::from_f64(if r.below(2) == 0 { v } else { -v })
    }
}

/// Each element's own index.
pub fn index<T: Element>(_: &mut Rng, i: usize) -> T {
    T::from_f64(i as f64)
}

/// How far a result may be from what it should be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Tolerance {
    /// Every bit; NaNs are all the same.
    Exact,
    /// So many units in the last place of the value, or of `scale` where the value is smaller than that: the result of
    /// a sum may be far smaller than what was summed.
    Ulp { ulps: f64, scale: f64 },
    /// So many, of integers that were rounded from floats.
    Off(u64),
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A buffer: what it holds at first, and how its contents afterwards are judged.
    Buffer {
        kind: Kind,
        data: Vec<u8>,
        tolerance: Tolerance,
    },
    /// By value.
    Value(Vec<u8>),
    /// Local memory, in bytes.
    Local(u32),
    /// An image, judged as a buffer of its components.
    Image {
        format: ImageFormat,
        desc: ImageDesc,
        kind: Kind,
        data: Vec<u8>,
        tolerance: Tolerance,
    },
    /// A sampler.
    Sampler(Sampler),
}

impl Arg {
    /// The elements of a buffer or an image, and how they are judged.
    pub fn judged(&self) -> Option<(Kind, &[u8], Tolerance)> {
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

/// What the buffers hold before a launch, and what they should hold after it.
pub struct Memory {
    buffers: Vec<Vec<u8>>,
}

impl Memory {
    /// The elements of a buffer, counted among the buffers and images.
    pub fn get<T: Element>(&self, buffer: usize) -> Vec<T> {
        self.buffers[buffer]
            .chunks_exact(T::KIND.size())
            .map(T::take)
            .collect()
    }

    /// Says what a buffer should hold.
    pub fn set<T: Element>(&mut self, buffer: usize, values: impl IntoIterator<Item = T>) {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|v| v.put(&mut bytes));
        assert_eq!(bytes.len(), self.buffers[buffer].len());
        self.buffers[buffer] = bytes;
    }

    /// Says what an element should be from its index.
    pub fn fill<T: Element>(&mut self, buffer: usize, value: impl FnMut(usize) -> T) {
        let n = self.buffers[buffer].len() / T::KIND.size();
        self.set(buffer, (0..n).map(value));
    }
}

/// Who says what a kernel computes.
#[derive(Clone, Copy)]
pub enum Judge {
    /// pocl.
    Pocl,
    /// This function: it turns what the buffers held into what they should hold, for a width.
    Here(fn(&mut Memory, u32)),
}

/// Why something is not run.
#[derive(Clone, Copy, Debug)]
pub struct Skip {
    /// The devices; empty means all.
    pub devices: &'static [&'static str],
    /// The widths; empty means all.
    pub widths: &'static [u32],
    /// Why.
    pub reason: &'static str,
}

/// A launch of a kernel.
#[derive(Clone)]
pub struct Case {
    /// The file that the kernel is in.
    pub file: &'static str,
    /// The kernel.
    pub kernel: &'static str,
    /// Told apart from other launches of the kernel.
    pub label: &'static str,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// Its grid.
    pub range: cl::Range,
    /// Who judges.
    pub judge: Judge,
    /// Whether it prints, and what it prints is judged by pocl.
    pub prints: bool,
    /// The only width that it is for, if there is one.
    pub only: Option<u32>,
    /// Where it is not run, though it is meant to be.
    pub skips: Vec<Skip>,
    /// Where Intel's compiler makes something else of it: its binaries are not run there, ours are.
    pub theirs: Option<Skip>,
    rng: Rng,
}

impl Case {
    /// A launch of one work-item and no arguments, judged by pocl.
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
            judge: Judge::Pocl,
            prints: false,
            only: None,
            skips: Vec::new(),
            theirs: None,
            rng: Rng(seed),
        }
    }

    /// Says what is special about this launch.
    pub fn label(mut self, label: &'static str) -> Case {
        self.label = label;
        self
    }

    /// So many work-items in groups of so many. The last group may be smaller.
    pub fn line(self, global: u32, local: u32) -> Case {
        self.grid([global, 1, 1], [local, 1, 1])
    }

    /// So many work-items in groups of so many, in three dimensions.
    pub fn grid(mut self, global: [u32; 3], local: [u32; 3]) -> Case {
        self.range.global = global;
        self.range.local = local;
        self
    }

    /// The first global id.
    pub fn offset(mut self, offset: [u32; 3]) -> Case {
        self.range.offset = offset;
        self
    }

    /// A buffer of so many elements, each made by `fill` from the case's generator and its index. It is compared
    /// afterwards, exactly if nothing else is said, whether the kernel writes it or not.
    pub fn buffer<T: Element>(mut self, n: usize, fill: impl Fn(&mut Rng, usize) -> T) -> Case {
        let data = self.filled(n, fill);
        self.args.push(Arg::Buffer {
            kind: T::KIND,
            data,
            tolerance: Tolerance::Exact,
        });
        self
    }

    /// An image; each component is made as an element of a buffer is.
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

    /// A sampler.
    pub fn sampler(mut self, sampler: Sampler) -> Case {
        self.args.push(Arg::Sampler(sampler));
        self
    }

    /// A value, or a vector of several.
    pub fn value<T: Element, const N: usize>(mut self, values: [T; N]) -> Case {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|v| v.put(&mut bytes));
        self.args.push(Arg::Value(bytes));
        self
    }

    /// A scalar.
    pub fn scalar<T: Element>(self, value: T) -> Case {
        self.value([value])
    }

    /// A structure by value.
    pub fn structure(mut self, bytes: Vec<u8>) -> Case {
        self.args.push(Arg::Value(bytes));
        self
    }

    /// Local memory for so many elements.
    pub fn local<T: Element>(mut self, n: usize) -> Case {
        self.args.push(Arg::Local((n * T::KIND.size()) as u32));
        self
    }

    /// The last argument may differ by so many units in the last place.
    pub fn ulps(self, ulps: f64) -> Case {
        self.ulps_of(ulps, 0.0)
    }

    /// The last argument may differ by so many units in the last place of the value or of `scale`, whichever is larger.
    pub fn ulps_of(self, ulps: f64, scale: f64) -> Case {
        self.tolerance(Tolerance::Ulp { ulps, scale })
    }

    /// The last argument's integers may differ by so many.
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

    /// Judged by this function instead of pocl.
    pub fn expect(mut self, judge: fn(&mut Memory, u32)) -> Case {
        self.judge = Judge::Here(judge);
        self
    }

    /// It prints, and the text is compared too.
    pub fn prints(mut self) -> Case {
        self.prints = true;
        self
    }

    /// For one width only.
    pub fn only(mut self, width: u32) -> Case {
        self.only = Some(width);
        self
    }

    /// Not run on these devices, or at these widths (all of them where a list is empty).
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

    /// What Intel's compiler makes of it does something else on some devices.
    pub fn theirs(mut self, devices: &'static [&'static str], reason: &'static str) -> Case {
        self.theirs = Some(Skip {
            devices,
            widths: &[],
            reason,
        });
        self
    }

    /// Why Intel's binary is not run on a device at a width.
    pub fn skipped_theirs(&self, device: &str, width: u32) -> Option<&'static str> {
        let theirs = self.theirs.filter(|s| s.devices.contains(&device));
        theirs.map(|s| s.reason).or(self.skipped(device, width))
    }

    /// Why it is not run on a device at a width.
    pub fn skipped(&self, device: &str, width: u32) -> Option<&'static str> {
        let meant = |s: &&Skip| {
            (s.devices.is_empty() || s.devices.contains(&device))
                && (s.widths.is_empty() || s.widths.contains(&width))
        };
        self.skips.iter().find(meant).map(|s| s.reason)
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        match self.label {
            "" => format!("{}/{}", self.file, self.kernel),
            label => format!("{}/{} ({label})", self.file, self.kernel),
        }
    }

    /// What a judge of this process says the buffers and images should hold.
    pub fn expected(&self, judge: fn(&mut Memory, u32), width: u32) -> Vec<Vec<u8>> {
        let buffers = self.args.iter().filter_map(Arg::judged);
        let mut memory = Memory {
            buffers: buffers.map(|(_, data, _)| data.to_vec()).collect(),
        };
        judge(&mut memory, width);
        memory.buffers
    }
}

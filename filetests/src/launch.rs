//! `; run:` lines: a launch and the expected contents of its arguments.
//!
//! ```text
//! ; run: %saxpy global=20 local=8 args=[f32[0..20], f32[1;20], f32 2.0] == [_, f32[1, 3, 5], _]
//! ; run: %hello global=2 prints="hello 0\nhello 1\n"
//! ; run: %spin args=[f32[0]] error: endless loop
//! // run: add groups=2 binds=[0,0: f32[0..3], 0,1: f32[1;3], push: i32 3] == [_, f32[1, 2, 3], _]
//! ```

use crate::data::{Data, Kind, Tolerance};
use gantry_codegen::interp::{self, Addressing, Compare, Component, MipFilter, Sampler};
use gantry_codegen::ir::{BindingPlace, ImageShape, ParamRole};
use gantry_isa_gen::diag::{Are, Count};
use std::fmt;

/// Argument of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// Buffer with initial contents: `f32[1, 2]`.
    Buffer(Data),
    /// Value: `i32 3`, `f32x4(1, 2, 3, 4)`.
    Value(Data),
    /// Image with initial contents: `image2d(4,2) rgba_unorm8 u8[0..32]`.
    Image(ImageArg, Data),
    /// Sampler: `sampler edge linear norm`, and with all that it can have:
    /// `sampler edge/repeat/mirror linear/nearest norm less mip linear lod 64..512`.
    Sampler(Sampler),
    /// SLM of a size in bytes: `slm 256`.
    Slm(u32),
    /// Null pointer: `null`.
    Null,
}

/// Description of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageArg {
    /// Type of the image.
    pub shape: ImageShape,
    /// Texels along each coordinate, 1 along those that it lacks.
    pub extent: [u32; 3],
    /// Samples of a texel.
    pub samples: u32,
    /// Levels of detail.
    pub levels: u32,
    /// Components of a texel: 1, 2 or 4.
    pub components: u32,
    /// Storage type of a component.
    pub component: Component,
}

/// Returns an image's sizes in their order in the text: along each coordinate, with samples last.
fn sizes(shape: ImageShape, [x, y, z]: [u32; 3], samples: u32) -> [u32; 4] {
    match shape {
        ImageShape::D2Msaa => [x, y, samples, 1],
        _ => [x, y, z, samples],
    }
}

/// Returns the number of sizes in the text. Those of cubes are width, height and faces.
fn count(shape: ImageShape) -> usize {
    if shape.is_cube() {
        3
    } else {
        shape.coordinates()
    }
}

impl ImageArg {
    /// Returns the image for the interpreter.
    pub fn at(&self, address: u64) -> interp::Image {
        interp::Image {
            shape: self.shape,
            extent: self.extent,
            samples: self.samples,
            levels: self.levels,
            components: self.components,
            component: self.component,
            address,
        }
    }
}

impl fmt::Display for ImageArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.extent;
        let sizes = sizes(self.shape, [x, y, z], self.samples);
        let sizes = sizes.iter().take(count(self.shape));
        let extent: Vec<String> = sizes.map(u32::to_string).collect();
        let (shape, extent) = (self.shape.name(), extent.join(","));
        let order = name_of(self.components, &COMPONENTS);
        let stored = name_of(self.component, &STORED);
        let levels = match self.levels {
            0 | 1 => String::new(),
            n => format!("levels {n} "),
        };
        write!(f, "{shape}({extent}) {levels}{order}_{stored}")
    }
}

/// Formats a sampler as an argument.
pub fn sampler_text(s: &Sampler) -> String {
    let filter = |linear| if linear { "linear" } else { "nearest" };
    let modes = s.addressing.map(|mode| name_of(mode, &ADDRESSING));
    let mut addressing = modes.join("/");
    if modes == [modes[0]; 3] {
        addressing = modes[0].to_owned();
    }
    let mut out = format!("sampler {addressing} {}", filter(s.mag));
    if s.min != s.mag {
        out += &format!("/{}", filter(s.min));
    }
    if s.normalized {
        out += " norm";
    }
    if s.compare != Compare::Never {
        out += &format!(" {}", s.compare.name());
    }
    if s.mip != MipFilter::Nearest {
        out += &format!(" mip {}", name_of(s.mip, &MIPS));
    }
    if s.lod != [0, Sampler::MAX_LOD] {
        out += &format!(" lod {}..{}", s.lod[0], s.lod[1]);
    }
    out
}

fn name_of<T: PartialEq>(v: T, list: &[(&'static str, T)]) -> &'static str {
    let found = list.iter().find(|(_, x)| *x == v);
    found.map_or("", |(name, _)| name)
}

const COMPONENTS: [(&str, u32); 3] = [("r", 1), ("rg", 2), ("rgba", 4)];

const STORED: [(&str, Component); 9] = [
    ("unorm8", Component::Unorm8),
    ("sint8", Component::Sint8),
    ("sint16", Component::Sint16),
    ("sint32", Component::Sint32),
    ("uint8", Component::Uint8),
    ("uint16", Component::Uint16),
    ("uint32", Component::Uint32),
    ("f16", Component::F16),
    ("f32", Component::F32),
];

const FILTERS: [(&str, bool); 2] = [("nearest", false), ("linear", true)];

const MIPS: [(&str, MipFilter); 3] = [
    ("none", MipFilter::None),
    ("nearest", MipFilter::Nearest),
    ("linear", MipFilter::Linear),
];

const ADDRESSING: [(&str, Addressing); 4] = [
    ("border", Addressing::Border),
    ("edge", Addressing::Edge),
    ("repeat", Addressing::Repeat),
    ("mirror", Addressing::Mirror),
];

/// Binding of a shader's argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// Set, binding and element: `0,1` and `0,1,3`.
    At(BindingPlace),
    /// Push constants: `push`.
    Pushed,
}

impl Slot {
    /// Returns true if a parameter has this binding.
    pub fn is(self, role: ParamRole) -> bool {
        match (self, role) {
            (Slot::At(place), ParamRole::Resource(at, _)) => place == at,
            (Slot::Pushed, ParamRole::PushConstants) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slot::At(at) => match at.element {
                0 => write!(f, "{},{}", at.set, at.binding),
                n => write!(f, "{},{},{n}", at.set, at.binding),
            },
            Slot::Pushed => f.write_str("push"),
        }
    }
}

/// Expected result of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expect {
    /// Contents of buffers in the order of the arguments; `None` (`_`) where nothing is expected.
    Args(Vec<Option<Data>>),
    /// Error whose message contains this.
    Error(String),
}

/// Parsed `; run:` line.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Name of the kernel, without its `%`.
    pub kernel: String,
    /// Work-items.
    pub global: [u32; 3],
    /// Work-groups, in place of `global`.
    pub groups: Option<[u32; 3]>,
    /// Work-items of a group; `None` leaves it to the kernel.
    pub local: Option<[u32; 3]>,
    /// Global id of the first work-item.
    pub offset: [u32; 3],
    /// Tolerance of floats.
    pub tolerance: Tolerance,
    /// Arguments. They are in the order of the kernel's parameters without sizes that launches fill
    /// in, or bound by `places`.
    pub args: Vec<Arg>,
    /// Binding of each argument; empty where they are in order.
    pub places: Vec<Slot>,
    /// Text that it is expected to print, if that is compared.
    pub prints: Option<String>,
    /// Expected result.
    pub expect: Expect,
}

impl Run {
    /// Names an argument in messages: its binding, or its number.
    pub(crate) fn name(&self, n: usize) -> String {
        match self.places.get(n) {
            Some(slot) => format!("at {slot}"),
            None => format!("argument {n}"),
        }
    }

    /// Parses the text after `run:`.
    ///
    /// # Errors
    /// The text is malformed. The message has the remaining text.
    pub fn parse(text: &str) -> Result<Run, String> {
        let mut p = Parser { rest: text };
        p.eat("%");
        let kernel = p.word();
        if kernel.is_empty() {
            return Err(format!("expected a kernel at `{}`", p.rest));
        }
        let mut run = Run {
            kernel,
            global: [1; 3],
            groups: None,
            local: None,
            offset: [0; 3],
            tolerance: Tolerance::default(),
            args: Vec::new(),
            places: Vec::new(),
            prints: None,
            expect: Expect::Args(Vec::new()),
        };
        loop {
            if run.prints.is_some() && p.rest.trim().is_empty() {
                return Ok(run);
            }
            if p.eat("==") {
                let expect = p.list(|p| Ok(if p.eat("_") { None } else { Some(p.buffer()?) }))?;
                if expect.len() != run.args.len() {
                    return Err(format!(
                        "{} given and {} expected",
                        Count(run.args.len(), "argument"),
                        expect.len()
                    ));
                }
                if expect.iter().all(Option::is_none) && run.prints.is_none() {
                    return Err(
                        "nothing is expected: at least one argument must not be `_`".to_owned()
                    );
                }
                run.expect = Expect::Args(expect);
                return p.end().map(|()| run);
            }
            let key = p.word();
            match key.as_str() {
                "error" => {
                    p.token(":")?;
                    run.expect = Expect::Error(p.rest.trim().to_owned());
                    return Ok(run);
                }
                "global" => run.global = p.dims(1)?,
                "local" => run.local = Some(p.dims(1)?),
                "offset" => run.offset = p.dims(0)?,
                "prints" => {
                    p.token("=")?;
                    run.prints = Some(p.quoted()?);
                }
                "tol" => {
                    p.token("=")?;
                    let text = p.number();
                    let t: f64 = text
                        .parse()
                        .map_err(|_| format!("`{text}` is no tolerance"))?;
                    run.tolerance = Tolerance(t);
                }
                "groups" => run.groups = Some(p.dims(1)?),
                "args" => {
                    p.token("=")?;
                    run.args = p.list(Parser::arg)?;
                    run.places.clear();
                }
                "binds" => {
                    p.token("=")?;
                    let bound = p.list(|p| Ok((p.slot()?, p.arg()?)))?;
                    (run.places, run.args) = bound.into_iter().unzip();
                }
                _ => {
                    return Err(format!(
                        "expected `global=`, `local=`, `offset=`, `groups=`, `tol=`, `args=`, `binds=`, `prints=`, `==` or `error:` at `{key}{}`",
                        p.rest
                    ));
                }
            }
        }
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(r) => {
                self.rest = r;
                true
            }
            None => false,
        }
    }

    fn token(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) {
            Ok(())
        } else {
            Err(format!("expected `{token}` at `{}`", self.rest))
        }
    }

    fn end(&self) -> Result<(), String> {
        match self.rest.trim() {
            "" => Ok(()),
            more => Err(format!("unexpected `{more}`")),
        }
    }

    fn take(&mut self, of: impl Fn(char) -> bool) -> String {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn word(&mut self) -> String {
        self.take(|c| c.is_alphanumeric() || c == '_')
    }

    /// Takes a number, or any word in its place. The dots of a range are not part of it.
    fn number(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let end = self
            .rest
            .find([',', ']', ')', ';', ' '])
            .unwrap_or(self.rest.len());
        let end = self.rest.find("..").map_or(end, |r| r.min(end));
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn integer(&mut self) -> Result<u32, String> {
        let text = self.number();
        text.parse()
            .map_err(|_| format!("`{text}` is no unsigned number"))
    }

    fn dims(&mut self, missing: u32) -> Result<[u32; 3], String> {
        self.token("=")?;
        let mut dims = [missing; 3];
        for (i, d) in dims.iter_mut().enumerate() {
            if i > 0 && !self.eat(",") {
                break;
            }
            *d = self.integer()?;
        }
        Ok(dims)
    }

    /// Takes quoted text with the escapes of the IR's strings.
    fn quoted(&mut self) -> Result<String, String> {
        self.token("\"")?;
        let mut end = None;
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    end = Some(at);
                    break;
                }
                '\\' => {
                    chars.next();
                }
                _ => {}
            }
        }
        let inside = end.and_then(|at| self.rest.split_at_checked(at));
        let (text, rest) = inside.ok_or("a text without its end")?;
        let bytes = gantry_codegen::text::unquote(text)?;
        self.rest = rest.get(1..).unwrap_or("");
        String::from_utf8(bytes).map_err(|_| "a text that is no UTF-8".to_owned())
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        self.token("[")?;
        let mut out = Vec::new();
        while !self.eat("]") {
            if !out.is_empty() {
                self.token(",")?;
            }
            out.push(item(self)?);
        }
        Ok(out)
    }

    fn kind(&mut self) -> Result<Kind, String> {
        let name = self.word();
        Kind::from_name(&name).ok_or_else(|| format!("`{name}` is no kind of number"))
    }

    fn buffer(&mut self) -> Result<Data, String> {
        let kind = self.kind()?;
        self.token("[")?;
        self.numbers(kind, "]")
    }

    /// Takes a binding: `0,1:`, `0,1,3:` or `push:`.
    fn slot(&mut self) -> Result<Slot, String> {
        if self.eat("push") {
            self.token(":")?;
            return Ok(Slot::Pushed);
        }
        let number = |p: &mut Self| {
            let text = p.take(|c| c.is_ascii_digit());
            let none = || format!("expected `SET,BINDING:` or `push:` at `{text}{}`", p.rest);
            text.parse().map_err(|_| none())
        };
        let set = number(self)?;
        self.token(",")?;
        let binding = number(self)?;
        let element = if self.eat(",") { number(self)? } else { 0 };
        self.token(":")?;
        Ok(Slot::At(BindingPlace {
            set,
            binding,
            element,
        }))
    }

    fn arg(&mut self) -> Result<Arg, String> {
        if self.eat("null") {
            return Ok(Arg::Null);
        }
        if self.eat("slm") {
            return Ok(Arg::Slm(self.integer()?));
        }
        let name = self.word();
        if let Some(shape) = ImageShape::from_name(&name) {
            return self.image(shape);
        }
        if name == "sampler" {
            return self.sampler();
        }
        let (base, lanes) = match name.split_once('x') {
            Some((b, l)) => (b, l.parse::<usize>().ok()),
            None => (name.as_str(), None),
        };
        let kind =
            Kind::from_name(base).ok_or_else(|| format!("`{name}` is no kind of argument"))?;
        if let Some(lanes) = lanes {
            self.token("(")?;
            let data = self.numbers(kind, ")")?;
            return if data.bits.len() == lanes {
                Ok(Arg::Value(data))
            } else {
                Err(format!(
                    "`{name}` takes {}, {} given",
                    Count(lanes, "number"),
                    Are(data.bits.len())
                ))
            };
        }
        if self.eat("[") {
            return Ok(Arg::Buffer(self.numbers(kind, "]")?));
        }
        let text = self.number();
        Ok(Arg::Value(Data {
            kind,
            bits: vec![kind.parse(&text)?],
        }))
    }

    /// Looks up a word in a list.
    fn one_of<T: Copy>(&self, word: &str, list: &[(&str, T)]) -> Result<T, String> {
        let found = list.iter().find(|(n, _)| *n == word);
        found.map(|(_, v)| *v).ok_or_else(|| {
            let names: Vec<&str> = list.iter().map(|(n, _)| *n).collect();
            format!("`{word}` is none of {}", names.join(", "))
        })
    }

    /// Takes an image: `(4,2) rgba_unorm8 u8[0..32]`.
    fn image(&mut self, shape: ImageShape) -> Result<Arg, String> {
        let mut extent = [1; 4];
        self.token("(")?;
        for (i, e) in extent.iter_mut().enumerate().take(count(shape)) {
            if i > 0 {
                self.token(",")?;
            }
            *e = self.integer()?;
        }
        self.token(")")?;
        let (extent, samples) = match (shape, extent) {
            (ImageShape::D2Msaa, [x, y, samples, _]) => ([x, y, 1], samples),
            (_, [x, y, z, samples]) => ([x, y, z], samples),
        };
        let levels = if self.eat("levels") {
            self.integer()?
        } else {
            1
        };
        let format = self.word();
        let (order, stored) = format.split_once('_').unwrap_or((&format, ""));
        let image = ImageArg {
            shape,
            extent,
            samples,
            levels,
            components: self.one_of(order, &COMPONENTS)?,
            component: self.one_of(stored, &STORED)?,
        };
        let data = self.buffer()?;
        let want = image.at(0).byte_len();
        if data.to_bytes().len() as u64 == want {
            Ok(Arg::Image(image, data))
        } else {
            Err(format!("the image has {want} bytes, others are given"))
        }
    }

    /// Takes a sampler: `edge linear norm`. Coordinates that differ in their mode have one each
    /// (`edge/repeat/mirror`), and so do magnified and minified texels (`linear/nearest`).
    fn sampler(&mut self) -> Result<Arg, String> {
        let mut addressing = [Addressing::Border; 3];
        for n in 0..3 {
            if n == 0 || self.eat("/") {
                let mode = self.word();
                let mode = self.one_of(&mode, &ADDRESSING)?;
                addressing.iter_mut().skip(n).for_each(|a| *a = mode);
            }
        }
        let mag = self.word();
        let mag = self.one_of(&mag, &FILTERS)?;
        let min = if self.eat("/") {
            let min = self.word();
            self.one_of(&min, &FILTERS)?
        } else {
            mag
        };
        let mut out = Sampler {
            addressing,
            min,
            normalized: self.eat("norm"),
            compare: self.compare(),
            ..Sampler::new(addressing[0], mag)
        };
        if self.eat("mip") {
            let mip = self.word();
            out.mip = self.one_of(&mip, &MIPS)?;
        }
        if self.eat("lod") {
            let least = self.integer()?;
            self.token("..")?;
            let most = self.integer()?;
            if least > most || most > u32::from(Sampler::MAX_LOD) {
                let most_of_all = Sampler::MAX_LOD;
                return Err(format!(
                    "levels of detail are 0 to {most_of_all}, in 256ths, the least first"
                ));
            }
            out.lod = [least, most].map(|n| n as u16);
        }
        Ok(Arg::Sampler(out))
    }

    /// Takes the comparison of a sampler; it has none if none follows.
    fn compare(&mut self) -> Compare {
        let mut rest = Parser { rest: self.rest };
        let found = Compare::from_name(&rest.word());
        if found.is_some() {
            self.rest = rest.rest;
        }
        found.unwrap_or_default()
    }

    /// Takes numbers up to a closing mark: `1`, `7;3` (three sevens), `0..4` (0, 1, 2, 3).
    fn numbers(&mut self, kind: Kind, close: &str) -> Result<Data, String> {
        const MOST: i64 = 1 << 20;
        let mut bits = Vec::new();
        while !self.eat(close) {
            if !bits.is_empty() {
                self.token(",")?;
            }
            let text = self.number();
            if self.eat("..") {
                let end = self.number();
                let range = |t: &str| {
                    t.parse::<i64>()
                        .map_err(|_| format!("`{t}` is no end of a range"))
                };
                let (first, last) = (range(&text)?, range(&end)?);
                if !(0..=MOST).contains(&last.saturating_sub(first)) {
                    return Err(format!("`{first}..{last}` is no range"));
                }
                for v in first..last {
                    bits.push(kind.from_int(v)?);
                }
            } else if self.eat(";") {
                let n = self.integer()?;
                if i64::from(n) > MOST {
                    return Err(format!("{n} elements are too many"));
                }
                let v = kind.parse(&text)?;
                bits.extend(std::iter::repeat_n(v, n as usize));
            } else {
                bits.push(kind.parse(&text)?);
            }
        }
        Ok(Data { kind, bits })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "test code")]
mod tests {
    use super::*;

    #[test]
    fn a_whole_line() {
        let r = Run::parse(
            "%saxpy global=20,2 local=8 tol=1e-5 args=[f32[0..3, 7;2, -1.5], i32 -3, f32x2(1, 2), slm 64, null] \
             == [f32[1, 2], _, _, _, _]",
        )
        .unwrap();
        assert_eq!(
            (r.kernel.as_str(), r.global, r.local),
            ("saxpy", [20, 2, 1], Some([8, 1, 1]))
        );
        assert_eq!(r.tolerance, Tolerance(1e-5));
        let Arg::Buffer(b) = &r.args[0] else {
            unreachable!()
        };
        assert_eq!(b.to_string(), "f32[0, 1, 2, 7, 7, -1.5]");
        let Arg::Value(v) = &r.args[1] else {
            unreachable!()
        };
        assert_eq!(v.to_bytes(), [0xfd, 0xff, 0xff, 0xff]);
        assert_eq!(r.args[3..], [Arg::Slm(64), Arg::Null]);
        let Expect::Args(e) = &r.expect else {
            unreachable!()
        };
        assert_eq!(e[0].as_ref().unwrap().to_string(), "f32[1, 2]");
        assert!(e[1].is_none());
    }

    #[test]
    fn an_error_is_expected() {
        let r = Run::parse("%f args=[f32[0]] error: out of bounds, at thread 0").unwrap();
        assert_eq!(
            r.expect,
            Expect::Error("out of bounds, at thread 0".to_owned())
        );
    }

    #[test]
    fn mistakes_are_errors() {
        for bad in [
            "",
            "saxpy",
            "%f",
            "%f args=[i32 1] == [_]",
            "%f args=[i32[1]] == []",
            "%f args=[i32[1] == [i32[1]]",
            "%f args=[q32[1]] == [i32[1]]",
            "%f args=[i32x3(1)] == [i32[1]]",
            "%f args=[i32[0..99999999999]] == [i32[1]]",
            "%f args=[i32[1;9999999]] == [i32[1]]",
            "%f global=x args=[i32[1]] == [i32[1]]",
            "%f args=[i32[1]] == [i32[1]] more",
        ] {
            assert!(Run::parse(bad).is_err(), "{bad}");
        }
    }
}

//! Conversions of `printf` in C and OpenCL C: flags, width, precision, vectors, lengths. Used both
//! to format what kernels print and to compile calls.

/// Argument value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Integer, of which the low bits of the conversion's length count.
    Int(i64),
    /// Float.
    Float(f64),
    /// String, or `None` if the address holds none.
    String(Option<Vec<u8>>),
}

/// Length modifier of an integer conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// `hh`.
    Char,
    /// `h`.
    Short,
    /// No modifier, or `hl`.
    Int,
    /// `l`, `ll`.
    Long,
}

/// Conversion specification, the text after `%`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    length: Length,
    /// Number of vector elements, 0 without `v`.
    vector: usize,
    conversion: u8,
}

impl Spec {
    /// Parses a conversion from the text after `%`. Returns it and the remaining text, or `None` if
    /// there is no conversion.
    pub fn parse(mut text: &[u8]) -> Option<(Spec, &[u8])> {
        let mut spec = Spec {
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: 0,
            precision: None,
            length: Length::Int,
            vector: 0,
            conversion: 0,
        };
        while let Some((c, rest)) = text.split_first() {
            match c {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            text = rest;
        }
        (spec.width, text) = number(text);
        if let Some(rest) = text.strip_prefix(b".") {
            let (precision, rest) = number(rest);
            spec.precision = Some(precision);
            text = rest;
        }
        if let Some(rest) = text.strip_prefix(b"v") {
            (spec.vector, text) = number(rest);
        }
        for (name, length) in [
            (&b"hh"[..], Length::Char),
            (b"hl", Length::Int),
            (b"h", Length::Short),
            (b"ll", Length::Long),
            (b"l", Length::Long),
            // Modifiers of C that OpenCL C does not have but programs use; these sizes have 64
            // bits.
            (b"z", Length::Long),
            (b"t", Length::Long),
            (b"j", Length::Long),
        ] {
            if let Some(rest) = text.strip_prefix(name) {
                spec.length = length;
                text = rest;
                break;
            }
        }
        let (&c, rest) = text.split_first()?;
        spec.conversion = c;
        b"diouxXaAeEfFgGcsp".contains(&c).then_some((spec, rest))
    }

    /// Returns the conversion letter.
    pub fn conversion(&self) -> char {
        self.conversion.into()
    }

    /// Returns the length of the integer.
    pub fn length(&self) -> Length {
        self.length
    }

    /// Returns the number of vector elements, 0 without `v`.
    pub fn vector(&self) -> usize {
        self.vector
    }

    /// Returns the minimum number of characters: the greater of width and precision.
    pub fn characters(&self) -> usize {
        self.width.max(self.precision.unwrap_or(0))
    }

    /// Prints a value. Width and precision are at most `u16::MAX`.
    pub fn print(&self, out: &mut Vec<u8>, value: &Value) {
        let int = match value {
            Value::Int(v) => *v,
            Value::Float(f) => *f as i64,
            Value::String(_) => 0,
        };
        let float = match value {
            Value::Int(v) => *v as f64,
            Value::Float(f) => *f,
            Value::String(_) => 0.0,
        };
        match self.conversion {
            b's' => {
                let text = match value {
                    Value::String(Some(s)) => s.as_slice(),
                    _ => b"(null)",
                };
                let n = self.precision.unwrap_or(text.len()).min(text.len());
                self.pad(out, "", text.get(..n).unwrap_or(text), false);
            }
            b'c' => self.pad(out, "", &[int as u8], false),
            b'p' if int == 0 => self.pad(out, "", b"(nil)", false),
            b'p' => self.pad(out, "0x", format!("{int:x}").as_bytes(), false),
            b'd' | b'i' => {
                let v = match self.length {
                    Length::Char => i64::from(int as i8),
                    Length::Short => i64::from(int as i16),
                    Length::Int => i64::from(int as i32),
                    Length::Long => int,
                };
                self.digits(out, self.sign(v < 0), v.unsigned_abs().to_string());
            }
            b'u' | b'o' | b'x' | b'X' => {
                let v = match self.length {
                    Length::Char => u64::from(int as u8),
                    Length::Short => u64::from(int as u16),
                    Length::Int => u64::from(int as u32),
                    Length::Long => int as u64,
                };
                let (prefix, text) = match self.conversion {
                    b'u' => ("", v.to_string()),
                    b'o' if self.alternate && v != 0 => ("", format!("0{v:o}")),
                    b'o' => ("", format!("{v:o}")),
                    b'x' => ("0x", format!("{v:x}")),
                    _ => ("0X", format!("{v:X}")),
                };
                let prefix = if self.alternate && v != 0 { prefix } else { "" };
                self.digits(out, prefix, text);
            }
            _ => self.float(out, float),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// Prints the digits of an integer, at least as many as the precision.
    fn digits(&self, out: &mut Vec<u8>, prefix: &str, text: String) {
        let text = match self.precision {
            Some(0) if text == "0" => String::new(),
            Some(p) => format!("{text:0>p$}"),
            None => text,
        };
        self.pad(out, prefix, text.as_bytes(), self.precision.is_none());
    }

    /// Pads prefix and text to the conversion's width. `zeros` allows padding with zeros.
    fn pad(&self, out: &mut Vec<u8>, prefix: &str, text: &[u8], zeros: bool) {
        let fill = self.width.saturating_sub(prefix.len() + text.len());
        let zeros = zeros && self.zero && !self.left;
        let fill_with = |out: &mut Vec<u8>, c: u8, on: bool| {
            if on {
                out.resize(out.len() + fill, c);
            }
        };
        fill_with(out, b' ', !self.left && !zeros);
        out.extend(prefix.as_bytes());
        fill_with(out, b'0', zeros);
        out.extend(text);
        fill_with(out, b' ', self.left);
    }

    fn float(&self, out: &mut Vec<u8>, f: f64) {
        let upper = self.conversion.is_ascii_uppercase();
        let sign = self.sign(f.is_sign_negative());
        let case = |s: String| if upper { s.to_uppercase() } else { s };
        let a = f.abs();
        if !a.is_finite() {
            let text = if a.is_nan() { "nan" } else { "inf" };
            self.pad(out, sign, case(text.to_owned()).as_bytes(), false);
            return;
        }
        let p = self.precision.unwrap_or(6);
        let text = match self.conversion.to_ascii_lowercase() {
            b'f' => self.point(format!("{a:.p$}"), p),
            b'e' => exponent(a, p, self.alternate),
            b'g' => self.shortest(a, p.max(1)),
            _ => {
                let sign = format!("{sign}{}", if upper { "0X" } else { "0x" });
                let text = case(hex(a, self.precision, self.alternate));
                self.pad(out, &sign, text.as_bytes(), true);
                return;
            }
        };
        self.pad(out, sign, case(text).as_bytes(), true);
    }

    /// Appends a point to a whole number, if the alternate form requires one.
    fn point(&self, mut text: String, precision: usize) -> String {
        if precision == 0 && self.alternate {
            text.push('.');
        }
        text
    }

    /// `%g`: formats as `%e` or `%f` with `p` digits, whichever is shorter.
    fn shortest(&self, a: f64, p: usize) -> String {
        let x: i64 = if a == 0.0 {
            0
        } else {
            let e = format!("{a:.*e}", p - 1);
            e.rsplit('e')
                .next()
                .and_then(|x| x.parse().ok())
                .unwrap_or(0)
        };
        if x < -4 || x >= p as i64 {
            let text = exponent(a, p - 1, self.alternate);
            return match text.split_once('e') {
                Some((digits, e)) if !self.alternate => format!("{}e{e}", strip(digits)),
                _ => text,
            };
        }
        let after = (p as i64 - 1 - x).max(0) as usize;
        let text = self.point(format!("{a:.after$}"), after);
        if self.alternate {
            text
        } else {
            strip(&text).to_owned()
        }
    }
}

/// Parses a decimal number, 0 if there is none, and returns the remaining text.
fn number(text: &[u8]) -> (usize, &[u8]) {
    let end = text
        .iter()
        .position(|c| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let n = digits.iter().fold(0usize, |n, d| {
        n.saturating_mul(10).saturating_add(usize::from(d - b'0'))
    });
    (n, rest)
}

/// Removes the zeros at the end of a fraction.
fn strip(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// `%e`: formats with an exponent that has a sign and at least two digits.
fn exponent(a: f64, p: usize, point: bool) -> String {
    let text = format!("{a:.p$e}");
    let (digits, e) = text.split_once('e').unwrap_or((&text, "0"));
    let e: i32 = e.parse().unwrap_or(0);
    let sign = if e < 0 { '-' } else { '+' };
    let point = if p == 0 && point { "." } else { "" };
    format!("{digits}{point}e{sign}{:02}", e.abs())
}

/// `%a` without its `0x`: formats with one digit before the point and `precision` digits after it,
/// or as few as the number needs.
fn hex(a: f64, precision: Option<usize>, point: bool) -> String {
    let bits = a.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let mut fraction = bits & ((1 << 52) - 1);
    let mut lead = u64::from(field != 0);
    let e = if a == 0.0 { 0 } else { field.max(1) - 1023 };
    let mut digits = 13;
    if let Some(p) = precision.filter(|p| *p < 13) {
        // Round to nearest, ties to even.
        let cut = 4 * (13 - p) as u32;
        let whole = lead << 52 | fraction;
        let (kept, lost) = (whole >> cut, whole & ((1 << cut) - 1));
        let half = 1u64 << (cut - 1);
        let up = lost > half || lost == half && kept & 1 == 1;
        let kept = kept + u64::from(up);
        digits = p;
        lead = kept >> (4 * p);
        fraction = kept & ((1 << (4 * p)) - 1);
    }
    let mut text = if digits > 0 {
        format!("{fraction:0digits$x}")
    } else {
        String::new()
    };
    match precision {
        None => text.truncate(text.trim_end_matches('0').len()),
        Some(p) => text = format!("{text:0<p$}"),
    }
    let dot = if text.is_empty() && !point { "" } else { "." };
    format!("{lead}{dot}{text}p{e:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(spec: &str, v: &Value) -> String {
        let (s, rest) = Spec::parse(&spec.as_bytes()[1..]).unwrap();
        assert!(rest.is_empty(), "{spec}");
        let mut out = Vec::new();
        s.print(&mut out, v);
        String::from_utf8(out).unwrap()
    }

    // Expected values: the GNU C library.
    #[test]
    fn integers() {
        for (spec, v, want) in [
            ("%d", -42i64, "-42"),
            ("%5d", 42, "   42"),
            ("%-5d", 42, "42   "),
            ("%05d", -42, "-0042"),
            ("%+d", 7, "+7"),
            ("% d", 7, " 7"),
            ("%.3d", 7, "007"),
            ("%8.3d", -7, "    -007"),
            ("%08.3d", 7, "     007"),
            ("%hhd", -3, "-3"),
            ("%hhd", 300, "44"),
            ("%hd", 70000, "4464"),
            ("%ld", -5000000000, "-5000000000"),
            ("%lld", 5, "5"),
            ("%zu", -1, "18446744073709551615"),
            ("%td", -1, "-1"),
            ("%5jx", 255, "   ff"),
            ("%v4hld", 5, "5"),
            ("%u", -1, "4294967295"),
            ("%hu", -1, "65535"),
            ("%lu", -1, "18446744073709551615"),
            ("%x", 255, "ff"),
            ("%#x", 255, "0xff"),
            ("%#X", 255, "0XFF"),
            ("%#o", 8, "010"),
            ("%o", 0, "0"),
            ("%#x", 0, "0"),
            ("%.0d", 0, ""),
            ("%lx", 0x0123_4567_89ab_cdef, "123456789abcdef"),
            ("%08x", 48879, "0000beef"),
            ("%c", 122, "z"),
            ("%3c", 122, "  z"),
            ("%-3c", 122, "z  "),
            ("%p", 4096, "0x1000"),
            ("%p", 0, "(nil)"),
            ("%20p", 4096, "              0x1000"),
            ("%+u", 5, "5"),
            ("%i", 9, "9"),
        ] {
            assert_eq!(print(spec, &Value::Int(v)), want, "{spec} of {v}");
        }
    }

    #[test]
    fn floats() {
        for (spec, v, want) in [
            ("%f", 3.25, "3.250000"),
            ("%5.2f", 3.25, " 3.25"),
            ("%-9.1f", 2.25, "2.2      "),
            ("%09.3f", -1.5, "-0001.500"),
            ("%+f", 0.0, "+0.000000"),
            ("%.0f", 2.5, "2"),
            ("%#.0f", 2.0, "2."),
            ("%e", 1.5, "1.500000e+00"),
            ("%E", 1234.5, "1.234500E+03"),
            ("%.0e", 15.0, "2e+01"),
            ("%#.0e", 15.0, "2.e+01"),
            ("%.3e", 0.0, "0.000e+00"),
            ("%e", 1e-300, "1.000000e-300"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 1e-05, "1e-05"),
            ("%g", 100000.0, "100000"),
            ("%g", 1000000.0, "1e+06"),
            ("%g", 0.0, "0"),
            ("%.3g", 1234.5, "1.23e+03"),
            ("%#g", 1.5, "1.50000"),
            ("%G", 1e-10, "1E-10"),
            ("%.10g", 1.1, "1.1"),
            ("%a", 1.0, "0x1p+0"),
            ("%a", 0.1, "0x1.999999999999ap-4"),
            ("%A", -2.75, "-0X1.6P+1"),
            ("%.2a", 1.999, "0x2.00p+0"),
            ("%.0a", 1.5, "0x2p+0"),
            ("%a", 0.0, "0x0p+0"),
            ("%#a", 1.0, "0x1.p+0"),
            ("%.15a", 1.5, "0x1.800000000000000p+0"),
            ("%20a", 1.0, "              0x1p+0"),
            ("%020a", 1.0, "0x000000000000001p+0"),
            ("%f", f64::INFINITY, "inf"),
            ("%5f", f64::NEG_INFINITY, " -inf"),
            ("%F", f64::NAN, "NAN"),
            ("%010f", f64::INFINITY, "       inf"),
            ("%a", 5e-324, "0x0.0000000000001p-1022"),
            ("%e", 9.9999999, "1.000000e+01"),
            ("%g", 9.9999999, "10"),
            ("%g", 123456.0, "123456"),
            ("%.1a", 1.97, "0x2.0p+0"),
        ] {
            assert_eq!(print(spec, &Value::Float(v)), want, "{spec} of {v}");
        }
    }

    #[test]
    fn strings() {
        for (spec, v, want) in [
            ("%s", "abc", "abc"),
            ("%5s", "abc", "  abc"),
            ("%-5s", "abc", "abc  "),
            ("%.2s", "abc", "ab"),
            ("%5.1s", "abc", "    a"),
            ("%05s", "abc", "  abc"),
        ] {
            let v = Value::String(Some(v.as_bytes().to_vec()));
            assert_eq!(print(spec, &v), want, "{spec}");
        }
        assert_eq!(print("%s", &Value::String(None)), "(null)");
        assert_eq!(print("%s", &Value::Int(7)), "(null)");
    }

    #[test]
    fn invalid_conversions_are_none() {
        for text in ["", "y", "5", "-", "5.", "v4", "l"] {
            assert!(Spec::parse(text.as_bytes()).is_none(), "{text}");
        }
        assert_eq!(
            Spec::parse(b"99999999999999999999d").map(|s| s.0.width),
            Some(usize::MAX)
        );
    }
}

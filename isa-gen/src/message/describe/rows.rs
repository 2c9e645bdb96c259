//! Listings of messages from the rows of `gantry_meta::messages`: each field with its meaning,
//! checks of its value, and the words of the summary.

use super::DescReader;
use crate::sfid::Sfid;

/// Messages of a port.
pub(super) struct PortRows {
    sfid: Sfid,
    /// Generations with the port, as bits of columns.
    gens: u16,
    /// Lowest bit and number of bits of type numbers.
    number: (u8, u8),
    rows: &'static [DescRow],
}

/// Message, or what a listing says of other descriptors of the port.
struct DescRow {
    gens: u16,
    /// Type number.
    number: Option<u8>,
    /// Other bits that distinguish it, and their value.
    selects: &'static [(Bits, u32)],
    /// Fields and checks: indices in [`STEPS`].
    steps: &'static [u16],
    text: &'static [Part],
    coordinates: Coordinates,
}

/// Parts of a field, the most significant first: lowest bit and number of bits. The first has no
/// bits if there is one part only.
type Bits = [(u8, u8); 2];

/// Field of a listing, and checks of its value.
pub(super) struct DescStep {
    gens: u16,
    /// Name of the field, or `None` if it is only checked.
    name: Option<&'static str>,
    of: Bits,
    /// Lowest bit and number of bits that are listed.
    pub(super) at: (u8, u8),
    pub(super) meaning: Meaning,
    checks: &'static [DescCheck],
}

/// Meaning of a value.
pub(super) enum Meaning {
    /// Nothing but the value.
    Plain,
    /// Same for every value.
    Always(&'static str),
    /// Name of each value, `?` beyond.
    Names(&'static [&'static str]),
    /// Number between two texts.
    Number(&'static str, &'static str),
    /// Surface by its index.
    Surface,
}

/// Error or warning about values.
struct DescCheck {
    gens: u16,
    values: &'static [u32],
    /// True if `values` are those that are right.
    not: bool,
    at: (u8, u8),
    error: bool,
    text: &'static str,
}

/// Part of the summary.
enum Part {
    Text(&'static str),
    /// Words for each value, none beyond.
    Words(Bits, &'static [&'static str]),
    Number(Bits),
}

/// Channels whose coordinates are the addresses.
enum Coordinates {
    None,
    /// Half of the channels of a full message.
    Half,
    /// Half of them if a bit is set, else all.
    HalfIf(u8),
}

include!(concat!(env!("OUT_DIR"), "/message_listing.rs"));

/// Lists the message. Returns false if the platform has no such port.
pub(super) fn read(r: &mut DescReader<'_>) -> bool {
    let column = 1 << r.traits.column;
    let port = |p: &&PortRows| p.sfid == r.sfid && p.gens & column != 0;
    let Some(port) = PORTS.iter().find(port) else {
        return false;
    };
    let number = r.bits(port.number.0, port.number.1) as u8;
    let is_it = |row: &&DescRow| {
        row.number.is_none_or(|n| n == number)
            && row.gens & column != 0
            && row.selects.iter().all(|(of, v)| value(r, *of) == *v)
    };
    let Some(row) = port.rows.iter().find(is_it) else {
        return true;
    };
    if r.listing {
        let steps = row.steps.iter().map(|&n| &STEPS[usize::from(n)]);
        for s in steps.filter(|s| s.gens & column != 0) {
            step(r, s);
        }
    }
    for part in row.text {
        match *part {
            Part::Text(text) => r.out.text.push_str(text),
            Part::Words(of, words) => {
                let word = words.get(value(r, of) as usize).copied();
                r.out.text.push_str(word.unwrap_or_default());
            }
            Part::Number(of) => {
                let v = value(r, of);
                r.append(format_args!("{v}"));
            }
        }
    }
    let full = r.traits.full_exec;
    let channels = match row.coordinates {
        Coordinates::None => return true,
        Coordinates::HalfIf(bit) if !r.bit(bit) => full,
        Coordinates::Half | Coordinates::HalfIf(_) => full / 2,
    };
    r.coordinates(r.exec.min(channels), 32);
    true
}

fn value(r: &DescReader<'_>, of: Bits) -> u32 {
    of.iter().fold(
        0,
        |v, &(lo, len)| if len < 32 { v << len } else { 0 } | r.bits(lo, len),
    )
}

/// Lists a field, and checks its value.
pub(super) fn step(r: &mut DescReader<'_>, s: &DescStep) {
    let column = 1u16 << r.traits.column;
    let v = value(r, s.of);
    let (lo, len) = s.at;
    if let Some(name) = s.name {
        let listed = r.bits(lo, len);
        r.value(name, lo, len, listed, |_| s.meaning.of(v));
    }
    for c in s.checks {
        if c.gens & column != 0 && c.values.contains(&v) != c.not {
            r.find(c.error, c.at.0, c.at.1, c.text);
        }
    }
}

impl Meaning {
    /// Returns the words of a value.
    pub(super) fn of(&self, v: u32) -> String {
        match *self {
            Meaning::Plain => String::new(),
            Meaning::Always(text) => text.to_owned(),
            Meaning::Names(names) => (*names.get(v as usize).unwrap_or(&"?")).to_owned(),
            Meaning::Number(before, after) => format!("{before}{v}{after}"),
            Meaning::Surface => match v {
                254 => format!("surface {v} (SLM)"),
                255 => format!("surface {v} (coherent stateless)"),
                253 => format!("surface {v} (incoherent stateless)"),
                252 => format!("surface {v} (bindless)"),
                _ => format!("surface {v}"),
            },
        }
    }
}

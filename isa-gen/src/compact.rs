//! The 8-byte form: tables give the bits that it leaves out.

use crate::codec::bits::{deposit, extract, gather, peek, scatter};
use crate::op::{Format, MathFn};
use crate::platform::Platform;
use crate::table::{CompactForm, Field, PlatformTables};

const COMPACTED: (u8, u8) = (29, 29);
const IMM: (u8, u8) = (127, 96);
const IMM_FILE: u64 = 3;

fn form(tables: &PlatformTables, format: Format) -> &CompactForm {
    let [basic, ternary] = &tables.compact;
    if format == Format::Ternary {
        ternary
    } else {
        basic
    }
}

/// Whether a source is an immediate, by the bits of a native word.
fn has_imm(tables: &PlatformTables, word: u128) -> bool {
    let Some((layout, _)) = tables.format(Format::Binary) else {
        return false;
    };
    [Field::Src0File, Field::Src1File]
        .into_iter()
        .any(|f| peek(layout, word, f) == IMM_FILE)
}

/// The native bits of a compacted instruction. The compaction bit itself is clear in them.
pub(crate) fn expand(platform: Platform, format: Format, compact: u64) -> u128 {
    let tables = PlatformTables::of(platform);
    let form = form(tables, format);
    let narrow = u128::from(compact);
    let mut word = 0;
    let run = |imm: bool, word: &mut u128| {
        for t in form.tables.iter().filter(|t| t.unless_imm == imm) {
            let entry = t.entries.get(extract(narrow, t.index) as usize);
            *word = scatter(*word, t.to, entry.copied().unwrap_or(0));
        }
        for c in form.copies.iter().filter(|c| c.unless_imm == imm) {
            *word = deposit(*word, c.to, extract(narrow, c.from));
        }
    };
    run(false, &mut word);
    if !form.imm.is_empty() && has_imm(tables, word) {
        let imm = gather(narrow, form.imm);
        let width: u32 = form
            .imm
            .iter()
            .map(|p| u32::from(p.0.saturating_sub(p.1)) + 1)
            .sum();
        let up = 64u32.saturating_sub(width);
        word = deposit(word, IMM, (((imm << up) as i64) >> up) as u64);
    } else {
        run(true, &mut word);
    }
    word
}

/// The bits of a native word that mean something. A one-source instruction has those of source 1 too, but whatever a
/// table puts there does no harm.
fn meaningful(platform: Platform, format: Format, word: u128, imm: bool) -> u128 {
    const SRC1_TYPE: u128 = 0x3f << 89;
    const SRC1: u128 = 0xffff_ffff << 96;
    // Beside an immediate source 0 there is not even its own region.
    const SRC0: u128 = 0xffff_ffff << 64;
    let tables = PlatformTables::of(platform);
    let sources = match (format, tables.format(format)) {
        (Format::Math, Some((layout, _))) => {
            let code = peek(layout, word, Field::MathFn) as u8;
            MathFn::from_code(platform, code).map_or(2, MathFn::sources)
        }
        _ => format.sources(),
    };
    match (sources, imm) {
        (1, true) => !SRC0,
        (1, false) => !(SRC1_TYPE | SRC1),
        _ => u128::MAX,
    }
}

/// The 8-byte form of a native instruction, where it has one.
///
/// ```
/// use gantry_isa_gen::{Platform, compact::compact};
/// // nop has none.
/// assert_eq!(compact(Platform::Gen9, &[0x7e, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
/// ```
pub fn compact(platform: Platform, native: &[u8; 16]) -> Option<[u8; 8]> {
    let tables = PlatformTables::of(platform);
    let word = u128::from_le_bytes(*native);
    let op = tables.ops.get((word & 0x7f) as usize).copied().flatten()?;
    let format = op.info(platform)?.format;
    if !matches!(
        format,
        Format::Unary | Format::Binary | Format::Math | Format::Ternary
    ) {
        return None;
    }
    let form = form(tables, format);
    let imm = !form.imm.is_empty() && has_imm(tables, word);
    let care = meaningful(platform, format, word, imm);
    let mut narrow = deposit(0, COMPACTED, 1);
    for t in form.tables.iter().filter(|t| !(imm && t.unless_imm)) {
        let fits = |entry: u64| {
            let mut w = scatter(word, t.to, entry);
            if imm {
                // The immediate lies over some of the bits that tables give.
                w = deposit(w, IMM, extract(word, IMM));
            }
            (w ^ word) & care == 0 && (form.imm.is_empty() || has_imm(tables, w) == imm)
        };
        let index = t.entries.iter().position(|e| fits(*e))?;
        narrow = deposit(narrow, t.index, index as u64);
    }
    for c in form.copies.iter().filter(|c| !(imm && c.unless_imm)) {
        narrow = deposit(narrow, c.from, extract(word, c.to));
    }
    if imm {
        narrow = scatter(narrow, form.imm, extract(word, IMM));
    }
    let narrow = narrow as u64;
    ((expand(platform, format, narrow) ^ word) & care == 0).then(|| narrow.to_le_bytes())
}

//! Instruction options and scoreboard annotations, in braces at the end of a line.

use super::columns::Line;
use super::cursor::{Cursor, Parsed};
use crate::inst::{Inst, InstOpts};
use crate::platform::Platform;
use crate::reg::Register;
use crate::swsb::{Distance, Pipe, Swsb, Token, TokenKind};

/// Options in the order of the text. The scoreboard annotation follows them.
const OPTS: [(InstOpts, &str); 14] = [
    (InstOpts::ACC_WR_EN, "AccWrEn"),
    (InstOpts::ATOMIC, "Atomic"),
    (InstOpts::BREAKPOINT, "Breakpoint"),
    (InstOpts::COMPACTED, "Compacted"),
    (InstOpts::EOT, "EOT"),
    (InstOpts::NO_DD_CHK, "NoDDChk"),
    (InstOpts::NO_DD_CLR, "NoDDClr"),
    (InstOpts::NO_PREEMPT, "NoPreempt"),
    (InstOpts::NO_SRC_DEP_SET, "NoSrcDepSet"),
    (InstOpts::SWITCH, "Switch"),
    (InstOpts::SERIALIZE, "Serialize"),
    (InstOpts::EX_BSO, "ExBSO"),
    (InstOpts::CPS, "CPS"),
    (InstOpts::NO_ACC_SB_SET, "NoAccSBSet"),
];

/// Options that select the default.
const IGNORED: [&str; 2] = ["NoCompact", "Uncompacted"];

/// Returns true if there are options or an annotation to write.
pub(super) fn any<R: Register>(i: &Inst<R>) -> bool {
    !i.opts.is_empty() || !i.swsb.is_empty()
}

/// Writes the braces, unless they would be empty.
pub(super) fn print<R: Register>(line: &mut Line<'_>, i: &Inst<R>) {
    if !any(i) {
        return;
    }
    let mut before = " {";
    for (o, name) in &OPTS {
        if i.opts.contains(*o) {
            line.put(before);
            line.put(name);
            before = ",";
        }
    }
    if let Some(Distance { pipe, n }) = i.swsb.distance {
        line.put(before);
        line.put(pipe.letter());
        line.put("@");
        line.number(n.into());
        before = ",";
    }
    if let Some(Token { sbid, kind }) = i.swsb.token {
        line.put(before);
        line.put("$");
        line.number(sbid.into());
        line.put(kind.suffix());
    }
    line.put("}");
}

/// Parses the braces, if they come next.
pub(super) fn parse(c: &mut Cursor<'_>, platform: Platform) -> Parsed<(InstOpts, Swsb)> {
    let mut opts = InstOpts::empty();
    let mut swsb = Swsb::NONE;
    if !c.eat("{") {
        return Ok((opts, swsb));
    }
    while !c.eat("}") {
        c.skip_blanks();
        let start = c.pos();
        if c.sees("$") {
            let token = token(c, platform)?;
            if swsb.token.replace(token).is_some() {
                return c.error_from(start, "a second scoreboard token");
            }
        } else {
            let word = c.word();
            if c.sees("@") {
                let distance = distance(c, platform, start, word)?;
                if swsb.distance.replace(distance).is_some() {
                    return c.error_from(start, "a second scoreboard distance");
                }
            } else {
                match OPTS.iter().find(|(_, n)| *n == word) {
                    Some((o, _)) => opts.insert(*o),
                    None if IGNORED.contains(&word) => {}
                    None => {
                        return c.error_from(start, format!("unknown instruction option `{word}`"));
                    }
                }
            }
        }
        if !c.eat(",") && !c.sees("}") {
            return c.error("expected `,` or `}`");
        }
    }
    Ok((opts, swsb))
}

fn needs_swsb(c: &Cursor<'_>, platform: Platform, start: usize) -> Parsed<()> {
    if platform.features().swsb {
        return Ok(());
    }
    c.error_from(start, format!("{platform} has no software scoreboard"))
}

/// Parses a token: `$3`, `$3.dst` or `$3.src`.
fn token(c: &mut Cursor<'_>, platform: Platform) -> Parsed<Token> {
    let start = c.pos();
    c.eat("$");
    needs_swsb(c, platform, start)?;
    let most = platform.features().sb_tokens.max(1) - 1;
    let sbid = c.number("a scoreboard token", most)? as u8;
    let mut kind = TokenKind::Set;
    if c.eat_close(".") {
        let at = c.pos();
        let word = c.word();
        kind = match word {
            "dst" => TokenKind::Dst,
            "src" => TokenKind::Src,
            _ => return c.error_from(at, "expected `dst` or `src`"),
        };
    }
    Ok(Token { sbid, kind })
}

/// Parses a distance such as `@1` or `F@1`, after the letter.
fn distance(
    c: &mut Cursor<'_>,
    platform: Platform,
    start: usize,
    letter: &str,
) -> Parsed<Distance> {
    let Some(pipe) = Pipe::from_letter(letter) else {
        return c.error_from(start, format!("unknown pipe `{letter}`"));
    };
    c.eat("@");
    needs_swsb(c, platform, start)?;
    let n = c.number("a scoreboard distance", 7)? as u8;
    if n == 0 {
        return c.error_from(start, "a scoreboard distance is 1 to 7");
    }
    Ok(Distance { pipe, n })
}

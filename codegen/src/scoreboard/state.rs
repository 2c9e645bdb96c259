//! Open accesses of out-of-order instructions, by token.

use super::facts::ChunkAccess;
use gantry_isa_gen::swsb::TokenKind;
use smallvec::SmallVec;

/// Bytes that an instruction with a token may still have to write or to read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct OpenAccess {
    pub(super) token: u8,
    pub(super) write: bool,
    pub(super) chunk: u16,
    /// Function that executes the instruction.
    pub(super) function: u8,
    pub(super) mask: u64,
}

impl OpenAccess {
    /// Returns everything but the bytes.
    fn key(&self) -> (u8, bool, u16, u8) {
        (self.token, self.write, self.chunk, self.function)
    }
}

/// Open accesses, sorted. Each key occurs once.
pub(super) type OpenAccesses = Vec<OpenAccess>;

/// Merges other open accesses. Returns true if any is new.
pub(super) fn join(to: &mut OpenAccesses, more: &[OpenAccess]) -> bool {
    let mut out = Vec::with_capacity(to.len().max(more.len()));
    let mut new = false;
    let (mut a, mut b) = (to.iter().peekable(), more.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x.key() == y.key() => {
                new |= y.mask & !x.mask != 0;
                out.push(OpenAccess {
                    mask: x.mask | y.mask,
                    ..**x
                });
                a.next();
                b.next();
            }
            (Some(x), y) if y.is_none_or(|y| x.key() < y.key()) => {
                out.push(**x);
                a.next();
            }
            (_, Some(y)) => {
                new = true;
                out.push(**y);
                b.next();
            }
            (_, None) => break,
        }
    }
    *to = out;
    new
}

/// Set of tokens, as bits.
pub(super) type Tokens = u32;

/// Open accesses at a point of a block.
pub(super) struct ScoreboardState {
    by_chunk: Vec<SmallVec<[OpenAccess; 2]>>,
    /// Chunks in which each token has open accesses, possibly with duplicates.
    of_token: Vec<Vec<u16>>,
    /// Time at which a token was set in this block, from 1. 0 is before it.
    age: Vec<u32>,
    /// Function for which a token was set in this block, if its instruction certainly executes. An
    /// instruction without running channels implies nothing about those before it.
    function: Vec<Option<u8>>,
    now: u32,
}

impl ScoreboardState {
    pub(super) fn new(chunks: usize, tokens: usize) -> ScoreboardState {
        ScoreboardState {
            by_chunk: vec![SmallVec::new(); chunks],
            of_token: vec![Vec::new(); tokens],
            age: vec![0; tokens],
            function: vec![None; tokens],
            now: 0,
        }
    }

    /// Starts a block.
    pub(super) fn enter(&mut self, opens: &[OpenAccess]) {
        for token in 0..self.of_token.len() {
            self.end(token as u8, TokenKind::Dst);
            self.age[token] = 0;
        }
        self.now = 0;
        for o in opens {
            self.add(*o);
        }
    }

    /// Returns the open accesses.
    pub(super) fn leave(&self) -> OpenAccesses {
        let mut out = OpenAccesses::new();
        for (token, chunks) in self.of_token.iter().enumerate() {
            let mut chunks = chunks.clone();
            chunks.sort_unstable();
            chunks.dedup();
            for c in chunks {
                let here = self.by_chunk.get(usize::from(c)).into_iter().flatten();
                out.extend(here.filter(|o| usize::from(o.token) == token));
            }
        }
        out.sort_unstable();
        out
    }

    fn add(&mut self, open: OpenAccess) {
        let Some(here) = self.by_chunk.get_mut(usize::from(open.chunk)) else {
            return;
        };
        if let Some(o) = here.iter_mut().find(|o| o.key() == open.key()) {
            o.mask |= open.mask;
            return;
        }
        here.push(open);
        if let Some(chunks) = self.of_token.get_mut(usize::from(open.token)) {
            chunks.push(open.chunk);
        }
    }

    /// Returns the tokens whose instructions must have ended, and those whose instructions must
    /// have read, before an access to these bytes. Instructions of one function read in order.
    pub(super) fn needs(&self, touches: &[ChunkAccess], function: Option<u8>) -> [Tokens; 2] {
        let (mut ended, mut read) = (0, 0);
        for t in touches {
            let here = self
                .by_chunk
                .get(usize::from(t.chunk))
                .into_iter()
                .flatten();
            for o in here.filter(|o| o.mask & t.mask != 0) {
                if o.write {
                    ended |= 1 << o.token;
                } else if t.write && function != Some(o.function) {
                    read |= 1 << o.token;
                }
            }
        }
        [ended, read & !ended]
    }

    /// Returns the tokens with nothing open.
    pub(super) fn free(&self) -> Tokens {
        let free = |(n, c): (usize, &Vec<u16>)| u32::from(c.is_empty()) << n;
        self.of_token.iter().enumerate().map(free).sum()
    }

    /// Returns the last set of some tokens.
    pub(super) fn latest(&self, tokens: Tokens) -> Option<u8> {
        bits(tokens).max_by_key(|t| self.age.get(usize::from(*t)))
    }

    /// Returns the first set of some tokens.
    pub(super) fn earliest(&self, tokens: Tokens) -> Option<u8> {
        bits(tokens).min_by_key(|t| self.age.get(usize::from(*t)))
    }

    /// Marks a token's instruction as ended, or as having read. Earlier instructions of the same
    /// function have then read too.
    pub(super) fn wait(&mut self, token: u8, kind: TokenKind) {
        let at = usize::from(token);
        let (Some(&age), Some(&function)) = (self.age.get(at), self.function.get(at)) else {
            return;
        };
        self.end(token, kind);
        let Some(function) = function.filter(|_| age > 0) else {
            return;
        };
        for earlier in 0..self.of_token.len() {
            if self.age[earlier] < age && !self.of_token[earlier].is_empty() {
                self.close(earlier, |o| !o.write && o.function == function);
            }
        }
    }

    fn end(&mut self, token: u8, kind: TokenKind) {
        self.close(usize::from(token), |o| kind != TokenKind::Src || !o.write);
    }

    /// Closes accesses of a token.
    fn close(&mut self, token: usize, closes: impl Fn(&OpenAccess) -> bool) {
        let Some(chunks) = self.of_token.get_mut(token) else {
            return;
        };
        let by_chunk = &mut self.by_chunk;
        chunks.retain(|c| {
            let Some(here) = by_chunk.get_mut(usize::from(*c)) else {
                return false;
            };
            here.retain(|o| usize::from(o.token) != token || !closes(o));
            here.iter().any(|o| usize::from(o.token) == token)
        });
    }

    /// Sets a token for an instruction, which waits until the token's last one has ended. `file` is
    /// the first chunk that hardware tracks.
    pub(super) fn set(
        &mut self,
        token: u8,
        (function, sure): (u8, bool),
        touches: &[ChunkAccess],
        file: u16,
    ) {
        self.wait(token, TokenKind::Dst);
        self.now += 1;
        let at = usize::from(token);
        if let (Some(age), Some(f)) = (self.age.get_mut(at), self.function.get_mut(at)) {
            (*age, *f) = (self.now, sure.then_some(function));
        }
        for t in touches.iter().filter(|t| t.chunk < file) {
            self.add(OpenAccess {
                token,
                write: t.write,
                chunk: t.chunk,
                function,
                mask: t.mask,
            });
        }
    }
}

/// Iterates over tokens.
pub(super) fn bits(tokens: Tokens) -> impl Iterator<Item = u8> {
    (0..u32::BITS as u8).filter(move |t| tokens >> t & 1 == 1)
}

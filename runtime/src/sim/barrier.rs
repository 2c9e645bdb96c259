//! Barriers of a thread group: who has signalled, and who may go on.
//!
//! The facts are those of the gateway's barrier message in the PRMs of each generation ("Message
//! Gateway"), and of the payloads that Intel's compiler writes.

use gantry_isa_gen::Platform;

/// Barriers of a group: the group's own (0) and the named ones.
const COUNT: usize = 32;

/// Content of a barrier message: dword 2 of its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Signal {
    /// Id of the barrier in its group.
    id: u8,
    produces: bool,
    consumes: bool,
    /// Producers and consumers that the barrier waits for; `None` for all threads of the group.
    expected: Option<[u32; 2]>,
}

impl Signal {
    /// Decodes the dword. Before Xe-HP it names one of the hardware's barriers, of which a group
    /// has one. If bit 15 is set, bits 14:9 count the threads. From Xe-HP on, bits 7:0 are the
    /// group's barrier and 15:14 the role (0 both, 1 producer, 2 consumer). Bits 23:16 count
    /// producers and 31:24 consumers.
    pub(super) fn read(platform: Platform, dword: u32) -> Signal {
        let field = |lo: u32, len: u32| dword >> lo & ((1 << len) - 1);
        if platform >= Platform::XeHp {
            let role = field(14, 2);
            return Signal {
                id: field(0, 8) as u8,
                produces: role != 2,
                consumes: role != 1,
                expected: Some([field(16, 8), field(24, 8)]),
            };
        }
        Signal {
            id: 0,
            produces: true,
            consumes: true,
            expected: (field(15, 1) == 1).then(|| [field(9, 6); 2]),
        }
    }
}

/// State of a barrier in its current phase.
#[derive(Clone, Copy, Default)]
struct BarrierState {
    /// Producers and consumers that it waits for, once a thread has signalled.
    expected: Option<[u32; 2]>,
    arrived: [u32; 2],
    /// Number of complete phases.
    done: u32,
}

/// Barriers of a group.
pub(super) struct Barriers {
    /// Number of threads of the group.
    threads: u32,
    /// Number of barriers that the kernel declares. A group is given no more.
    count: u32,
    states: [BarrierState; COUNT],
}

/// Barriers that a thread has signalled as a consumer and not yet waited for. For each barrier it
/// has the phase's number from 1 on, or 0.
#[derive(Clone, Copy, Default)]
pub(super) struct Joined([u32; COUNT]);

impl Barriers {
    pub(super) fn new(threads: u32, count: u32) -> Barriers {
        Barriers {
            threads,
            count,
            states: [BarrierState::default(); COUNT],
        }
    }

    /// Signals a barrier for a thread.
    pub(super) fn signal(&mut self, joined: &mut Joined, s: Signal) -> Result<(), String> {
        if u32::from(s.id) >= self.count {
            return Err(format!(
                "barrier {} of a kernel whose `barrier_count` is {}",
                s.id, self.count
            ));
        }
        let id = usize::from(s.id);
        let (Some(state), Some(joined)) = (self.states.get_mut(id), joined.0.get_mut(id)) else {
            return Err(format!("barrier {id} of a group, which has {COUNT}"));
        };
        let expected = s.expected.unwrap_or([self.threads; 2]);
        let [producers, consumers] = expected;
        if expected.contains(&0) {
            return Err(format!(
                "barrier {id} waits for {producers} producers and {consumers} consumers"
            ));
        }
        let now = *state.expected.get_or_insert(expected);
        if now != expected {
            let [p, c] = now;
            return Err(format!(
                "barrier {id} is signalled for {producers} producers and {consumers} consumers, and was for {p} and {c}"
            ));
        }
        if s.consumes {
            if *joined > state.done {
                return Err(format!(
                    "barrier {id} is signalled again before it has been waited for"
                ));
            }
            *joined = state.done + 1;
        }
        let [p, c] = &mut state.arrived;
        *p += u32::from(s.produces);
        *c += u32::from(s.consumes);
        if *p > producers || *c > consumers {
            return Err(format!(
                "barrier {id} waits for {producers} producers and {consumers} consumers, and {p} and {c} have signalled"
            ));
        }
        if state.arrived == expected {
            *state = BarrierState {
                done: state.done + 1,
                ..BarrierState::default()
            };
        }
        Ok(())
    }

    /// Returns true if a thread that has signalled a barrier must wait for others.
    pub(super) fn must_wait(&self, joined: &Joined, id: u32) -> bool {
        let at = id as usize;
        match (self.states.get(at), joined.0.get(at)) {
            (Some(state), Some(phase)) => *phase > state.done,
            _ => false,
        }
    }

    /// Passes a barrier, for a thread that need not wait.
    pub(super) fn pass(&self, joined: &mut Joined, id: u32) -> Result<(), String> {
        match joined.0.get_mut(id as usize) {
            Some(0) => Err(format!(
                "waiting for barrier {id} without a barrier message before it never ends"
            )),
            Some(phase) => {
                *phase = 0;
                Ok(())
            }
            None => Err(format!("barrier {id} of a group, which has {COUNT}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const XE: Platform = Platform::XeHpc;

    fn payload(id: u32, role: u32, producers: u32, consumers: u32) -> Signal {
        Signal::read(XE, id | role << 14 | producers << 16 | consumers << 24)
    }

    #[test]
    fn a_group_meets_again_and_again() {
        let mut b = Barriers::new(2, 2);
        let mut t = [Joined::default(); 2];
        let all = Signal::read(Platform::Gen9, 0x0f00_0000);
        for _ in 0..3 {
            assert!(b.pass(&mut t[0], 0).is_err());
            b.signal(&mut t[0], all).unwrap();
            assert!(b.must_wait(&t[0], 0));
            b.signal(&mut t[1], all).unwrap();
            // The last thread to arrive may arrive again before the first has gone on.
            assert!(!b.must_wait(&t[1], 0));
            b.pass(&mut t[1], 0).unwrap();
            b.signal(&mut t[1], all).unwrap();
            assert!(b.must_wait(&t[1], 0));
            assert!(!b.must_wait(&t[0], 0));
            b.pass(&mut t[0], 0).unwrap();
            b.signal(&mut t[0], all).unwrap();
            for t in &mut t {
                assert!(!b.must_wait(t, 0));
                b.pass(t, 0).unwrap();
            }
        }
    }

    #[test]
    fn producers_need_not_wait() {
        let mut b = Barriers::new(4, 6);
        let mut t = [Joined::default(); 3];
        b.signal(&mut t[0], payload(5, 2, 2, 1)).unwrap();
        b.signal(&mut t[1], payload(5, 1, 2, 1)).unwrap();
        assert!(b.must_wait(&t[0], 5));
        b.signal(&mut t[2], payload(5, 1, 2, 1)).unwrap();
        assert!(!b.must_wait(&t[0], 5));
        b.pass(&mut t[0], 5).unwrap();
        // A thread that is only a producer does not wait.
        assert!(b.pass(&mut t[1], 5).unwrap_err().contains("never ends"));
    }

    #[test]
    fn disagreement_is_an_error() {
        let mut b = Barriers::new(2, 2);
        let mut t = [Joined::default(); 2];
        b.signal(&mut t[0], payload(1, 0, 2, 2)).unwrap();
        let e = b.signal(&mut t[1], payload(1, 0, 3, 3)).unwrap_err();
        assert!(e.contains("and was for 2 and 2"), "{e}");
        let e = b.signal(&mut t[0], payload(1, 0, 2, 2)).unwrap_err();
        assert!(e.contains("before it has been waited for"), "{e}");
        let e = b.signal(&mut t[0], payload(0, 0, 0, 0)).unwrap_err();
        assert!(e.contains("0 producers"), "{e}");
        let e = b.signal(&mut t[0], payload(2, 0, 2, 2)).unwrap_err();
        assert_eq!(e, "barrier 2 of a kernel whose `barrier_count` is 2");
        let e = Barriers::new(2, 100).signal(&mut t[0], payload(40, 0, 2, 2));
        assert!(
            e.unwrap_err()
                .contains("barrier 40 of a group, which has 32")
        );
    }
}

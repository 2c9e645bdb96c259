//! Knowledge that some channel runs, which a call needs: the hardware skips a call without
//! channels.

use crate::mir::JoinPoint;
use cranelift_entity::packed_option::PackedOption;

/// Maximum number of join points that are told apart.
const POINTS: usize = 4;

/// Places where some channel is for certain: it runs, or it waits at one of these join points.
/// Without join points, some channel runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Running {
    points: [PackedOption<JoinPoint>; POINTS],
    /// True if nothing is known.
    unknown: bool,
}

impl Running {
    fn unknown() -> Running {
        Running {
            unknown: true,
            ..Running::default()
        }
    }

    /// Returns true if some channel runs.
    pub(super) fn is_certain(self) -> bool {
        self == Running::default()
    }

    /// Returns what is known after channels leave, for a join point or for good.
    pub(super) fn leave(mut self, to: Option<JoinPoint>) -> Running {
        if self.points.contains(&to.into()) && to.is_some() {
            return self;
        }
        let free = self.points.iter_mut().find(|p| p.is_none());
        match (to, free) {
            (Some(to), Some(free)) if !self.unknown => {
                *free = to.into();
                self
            }
            _ => Running::unknown(),
        }
    }

    /// Returns what is known after all channels of a join point resume.
    pub(super) fn join(mut self, at: JoinPoint) -> Running {
        for p in &mut self.points {
            if p.expand() == Some(at) {
                *p = None.into();
            }
        }
        self
    }

    /// Returns what is known if one of two holds.
    pub(super) fn or(self, other: Running) -> Running {
        if other.unknown {
            return other;
        }
        let points = other.points.iter().filter_map(|p| p.expand());
        points.fold(self, |all, p| all.leave(Some(p)))
    }

    /// Returns true if this holds where another one does.
    pub(super) fn covers(self, other: Running) -> bool {
        let points = other.points.iter();
        let has = |p: &PackedOption<JoinPoint>| p.is_none() || self.points.contains(p);
        self.unknown || !other.unknown && points.clone().all(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_run_again_where_all_that_left_are_back() {
        let [a, b] = [0, 1].map(JoinPoint::from_u32);
        let start = Running::default();
        assert!(start.is_certain() && start.covers(start));
        let left = start.leave(Some(a));
        assert!(!left.is_certain() && left.covers(start) && !start.covers(left));
        assert!(left.join(a).is_certain());
        let both = left.or(start.leave(Some(b)));
        assert!(!both.join(a).is_certain() && both.join(b).join(a).is_certain());
        let gone = start.leave(None);
        assert!(!gone.join(a).is_certain() && gone.covers(both) && !both.covers(gone));
        assert!(!start.or(gone).is_certain() && !gone.or(start).is_certain());
    }

    #[test]
    fn more_points_than_are_told_apart_are_unknown() {
        let points = (0..=POINTS as u32).map(JoinPoint::from_u32);
        let all = points
            .clone()
            .fold(Running::default(), |r, p| r.leave(Some(p)));
        assert!(!points.fold(all, Running::join).is_certain());
    }
}

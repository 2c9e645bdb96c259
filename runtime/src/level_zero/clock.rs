//! Clock of a GPU: its timer's ticks, which wrap, as nanoseconds since the first that was seen.

use crate::control::Span;
use std::time::Duration;

/// Clock of a GPU.
pub(super) struct Clock {
    /// Ticks that the timer counts before it wraps, less one.
    mask: u64,
    /// Ticks of a second.
    hz: u64,
    /// Ticks since the first that were seen, none of them lost, and the host's time then.
    last: Option<(i128, Duration)>,
    /// First tick.
    first: i128,
}

impl Clock {
    /// Creates the clock of a timer of so many bits. Its resolution is in ticks of a second, or in
    /// nanoseconds of a tick, as drivers of several versions of Level Zero say it.
    pub(super) fn new(resolution: u64, bits: u32) -> Clock {
        // No timer has less than 100,000 ticks a second, or ticks that long.
        let hz = match resolution {
            0 => 0,
            1..100_000 => 1_000_000_000 / resolution,
            hz => hz,
        };
        let mask = match bits {
            0 => 0,
            1..64 => (1 << bits) - 1,
            _ => u64::MAX,
        };
        Clock {
            mask,
            hz,
            last: None,
            first: 0,
        }
    }

    /// Returns the time between two readings of the timer. `host` is the host's time now, from any
    /// begin, which tells how often the timer has wrapped since the last call.
    ///
    /// Returns `None` for readings that no timer gives: the driver did not take them.
    pub(super) fn span(&mut self, [start, end]: [u64; 2], host: Duration) -> Option<Span> {
        let Clock { mask, hz, .. } = *self;
        let [start, end] = [start & mask, end & mask];
        let ticks = end.wrapping_sub(start) & mask;
        let unset = [0, mask];
        if hz == 0 || ticks > mask / 2 || (ticks == 0 && unset.contains(&start)) {
            return None;
        }
        let wrap = i128::from(mask) + 1;
        let end = match self.last {
            None => i128::from(end),
            Some((last, at)) => {
                let since = host.saturating_sub(at).as_nanos() as i128;
                let expected = last + since * i128::from(hz) / 1_000_000_000;
                // The reading of this value that is nearest to the expected one.
                let ahead = (i128::from(end) - expected).rem_euclid(wrap);
                expected
                    + if ahead > wrap / 2 {
                        ahead - wrap
                    } else {
                        ahead
                    }
            }
        };
        let start = end - i128::from(ticks);
        if self.last.is_none() {
            self.first = start;
        }
        if self.last.is_none_or(|(last, _)| last < end) {
            self.last = Some((end, host));
        }
        let nanoseconds = |tick: i128| {
            let since = (tick - self.first).max(0) * 1_000_000_000 / i128::from(hz);
            u64::try_from(since).unwrap_or(u64::MAX)
        };
        Some(Span {
            start: nanoseconds(start),
            end: nanoseconds(end),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_timer_that_wraps_goes_on() {
        // 32 bits at 12.5 MHz wrap in 343 seconds.
        let mut c = Clock::new(12_500_000, 32);
        let span = |start, end| Some(Span { start, end });
        assert_eq!(c.span([1000, 2000], at(0)), span(0, 80_000));
        // The end is behind the wrap: 0x1_0000_0000 - 1000 ticks from the first on.
        let late = c.span([u32::MAX.into(), 9], at(343)).unwrap();
        assert_eq!(late.end - late.start, 800);
        assert_eq!(late.end, ((1u64 << 32) + 9 - 1000) * 80);
        // Several wraps while nothing was asked.
        let later = c.span([9, 19], at(343 + 1031)).unwrap();
        assert_eq!(later.end, (4 * (1u64 << 32) + 19 - 1000) * 80);
        // One that ended before, and is asked for later.
        let before = c.span([9, 14], at(343 + 1031)).unwrap();
        assert_eq!(later.end - before.end, 5 * 80);
    }

    #[test]
    fn readings_that_were_not_taken_are_no_time() {
        let mut c = Clock::new(83, 36);
        for none in [[0, 0], [u64::MAX, u64::MAX], [10, 9]] {
            assert_eq!(c.span(none, at(0)), None, "{none:?}");
        }
        // A resolution of nanoseconds a tick.
        let t = c.span([100, 1100], at(0)).unwrap();
        assert!((83_000..83_001).contains(&(t.end - t.start)), "{t:?}");
        assert_eq!(Clock::new(0, 36).span([1, 2], at(0)), None);
        assert!(Clock::new(1, 64).span([1, 2], at(0)).is_some());
    }
}

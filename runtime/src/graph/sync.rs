//! Locks and threads of the graph: the standard ones, or in this crate's unit tests those of
//! `shuttle`, which runs the same code in many orders.

#[cfg(not(test))]
pub(super) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
#[cfg(not(test))]
pub(super) use std::thread;

#[cfg(test)]
pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard};
#[cfg(test)]
pub(super) use shuttle::thread;
#[cfg(test)]
pub(super) use std::sync::PoisonError;

/// Number of times that a thread looks for work before it waits: some 20 microseconds.
#[cfg(not(test))]
pub(super) const SPINS: usize = 1000;
#[cfg(test)]
pub(super) const SPINS: usize = 2;

#[cfg(test)]
pub(super) use shuttle::thread::yield_now as spin;
/// Lets some time pass between two looks.
#[cfg(not(test))]
pub(super) use std::hint::spin_loop as spin;

/// Locks, also after a panic elsewhere: every change under a lock is complete.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Synchronisation between threads: the usual types, or those of loom, which tries every interleaving (`--cfg
//! loom`, see `model.rs`).

#[cfg(not(loom))]
pub use self::machine::*;
#[cfg(loom)]
pub use self::modelled::*;

#[cfg(not(loom))]
mod machine {
    pub use crossbeam_deque::{Steal, Stealer, Worker as Deque};
    pub use parking_lot::{Condvar, Mutex};
    pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

    /// Waits until `condition` holds, or for `at_most`.
    pub fn wait_until(wakeup: &Condvar, lock: &Mutex<bool>, at_most: Option<std::time::Duration>) {
        let mut notified = lock.lock();
        match at_most {
            None => wakeup.wait_while(&mut notified, |notified| !*notified),
            Some(at_most) => {
                wakeup.wait_while_for(&mut notified, |notified| !*notified, at_most);
            }
        }
        *notified = false;
    }
}

#[cfg(loom)]
mod modelled {
    pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
    use loom::sync::{Arc, MutexGuard};
    use std::collections::VecDeque;

    /// Like that of parking_lot.
    #[derive(Debug, Default)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no panic in a model")
        }
    }

    /// Like that of parking_lot.
    #[derive(Debug, Default)]
    pub struct Condvar(loom::sync::Condvar);

    impl Condvar {
        pub fn notify_one(&self) -> bool {
            self.0.notify_one();
            true
        }
    }

    pub fn wait_until(wakeup: &Condvar, lock: &Mutex<bool>, _: Option<std::time::Duration>) {
        let mut notified = lock.lock();
        while !*notified {
            notified = wakeup.0.wait(notified).expect("no panic in a model");
        }
        *notified = false;
    }

    /// The contract of crossbeam's deque, with a lock.
    #[derive(Debug, Clone)]
    pub struct Deque<T>(Arc<Mutex<VecDeque<T>>>);

    #[derive(Debug, Clone)]
    pub struct Stealer<T>(Arc<Mutex<VecDeque<T>>>);

    pub enum Steal<T> {
        Empty,
        Success(T),
        #[allow(dead_code, reason = "a lock never asks to try again")]
        Retry,
    }

    impl<T> Deque<T> {
        pub fn new_lifo() -> Self {
            Self(Arc::new(Mutex::new(VecDeque::new())))
        }

        pub fn stealer(&self) -> Stealer<T> {
            Stealer(Arc::clone(&self.0))
        }

        pub fn push(&self, value: T) {
            self.0.lock().push_back(value);
        }

        pub fn pop(&self) -> Option<T> {
            self.0.lock().pop_back()
        }
    }

    impl<T> Stealer<T> {
        pub fn steal(&self) -> Steal<T> {
            self.0.lock().pop_front().map_or(Steal::Empty, Steal::Success)
        }

        pub fn is_empty(&self) -> bool {
            self.0.lock().is_empty()
        }
    }
}

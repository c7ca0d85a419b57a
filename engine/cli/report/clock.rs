//! The processor time of a thread.

use inselberg_comm::ThreadClock;

/// The clock of the calling thread's processor time; `None` if the system has none.
#[cfg(unix)]
pub fn thread_clock() -> Option<ThreadClock> {
    use rustix::time::{ClockId, clock_gettime};
    Some(|| {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        std::time::Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
    })
}

/// None.
#[cfg(not(unix))]
pub fn thread_clock() -> Option<ThreadClock> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn it_goes_on_with_work_and_not_with_sleep() {
        let clock = thread_clock().expect("this system has one");
        let before = clock();
        std::thread::sleep(Duration::from_millis(30));
        let slept = clock() - before;
        assert!(slept < Duration::from_millis(20), "{slept:?}");
        let mut n = 0u64;
        while clock() - before < slept + Duration::from_millis(2) {
            n = std::hint::black_box(n + 1);
        }
        assert!(n > 0);
    }
}

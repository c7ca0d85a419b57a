//! Where tasks wait for a worker.

use crate::sync::{AtomicUsize, Mutex, Ordering::Relaxed, Ordering::SeqCst, Steal, Stealer};
use crate::thread_pool::Distance;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The tasks whose home is one worker, the most urgent first. Any thread may add and take tasks.
#[derive(Debug, Default)]
pub struct HomeTasks {
    tasks: Mutex<Tasks>,
    /// An approximate number of tasks; only the locked list is exact.
    len: AtomicUsize,
}

/// A task with its priority. The greatest is the most urgent; between equals, the lower number is more
/// urgent.
type Urgent = (u64, Reverse<u32>);

#[derive(Debug, Default)]
struct Tasks {
    /// Tasks that were added in bulk, the most urgent last.
    sorted: Vec<Urgent>,
    /// Tasks that were added later.
    heap: BinaryHeap<Urgent>,
}

impl HomeTasks {
    /// Adds tasks with their priorities. Costs at most a sort of them.
    pub fn put(&self, tasks: impl IntoIterator<Item = (u64, u32)>) {
        let mut inside = self.tasks.lock();
        let Tasks { sorted, heap } = &mut *inside;
        let new = tasks.into_iter().map(|(priority, task)| (priority, Reverse(task)));
        if sorted.is_empty() {
            sorted.extend(new);
            sorted.sort_unstable();
        } else {
            heap.extend(new);
        }
        self.len.store(sorted.len() + heap.len(), SeqCst);
    }

    /// The most urgent task.
    pub fn take(&self) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        let mut inside = self.tasks.lock();
        let Tasks { sorted, heap } = &mut *inside;
        let task = if heap.peek() > sorted.last() { heap.pop() } else { sorted.pop() };
        self.len.store(sorted.len() + heap.len(), Relaxed);
        task.map(|(_, Reverse(task))| task)
    }

    pub fn is_empty(&self) -> bool {
        self.len.load(SeqCst) == 0
    }
}

/// The part of a worker that others see: its home tasks, and the end of its deque from which they steal.
#[derive(Debug)]
pub struct WorkerQueue {
    pub inbox: HomeTasks,
    pub stealer: Stealer<u32>,
    /// The other workers, nearest first.
    pub others: Vec<(usize, Distance)>,
}

impl WorkerQueue {
    /// Takes a task on behalf of another worker.
    pub fn steal(&self) -> Option<u32> {
        loop {
            match self.stealer.steal() {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return self.inbox.take(),
                Steal::Retry => {}
            }
        }
    }

    pub fn has_work(&self) -> bool {
        !self.inbox.is_empty() || !self.stealer.is_empty()
    }
}

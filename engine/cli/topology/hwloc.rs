//! Reads the machine with hwloc. Only this file uses hwloc.

use super::{Cache, Machine, Pu, PuSet, TopologyError};
use hwloc2::{CpuBindFlags, CpuSet, ObjectType, Topology, TopologyFlag, TopologyObject};
use parking_lot::Mutex;
use std::fmt;
use std::path::Path;

/// The machine of this process; binds threads to parts of it.
pub struct Hardware {
    // Binding a thread needs a topology of its own.
    topology: Mutex<Topology>,
    machine: Machine,
    allowed: PuSet,
}

impl Hardware {
    /// Reads the machine and the processors that the launcher, the job and the control group leave to this
    /// process.
    ///
    /// # Errors
    /// hwloc fails.
    pub fn read() -> Result<Self, TopologyError> {
        let whole = vec![TopologyFlag::IncludeDisallowed];
        let topology = Topology::with_flags(whole).ok_or(TopologyError::Unreadable)?;
        let mut machine = machine_of(&topology).ok_or(TopologyError::Unreadable)?;
        machine.set_speeds(Path::new("/sys/devices/system/cpu"));
        // Where the system does not report it, all processors are allowed.
        let allowed = topology.get_cpubind(CpuBindFlags::CPUBIND_THREAD).map(pu_set);
        let allowed = allowed.unwrap_or_default().intersection(&machine.all());
        let allowed = if allowed.is_empty() { machine.all() } else { allowed };
        Ok(Self { topology: Mutex::new(topology), machine, allowed })
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The processors that this process was allowed to use when the machine was read.
    pub fn allowed(&self) -> &PuSet {
        &self.allowed
    }

    /// Binds the current thread to these processors.
    ///
    /// # Errors
    /// The system does not bind threads, or not to these processors.
    pub fn bind(&self, pus: &PuSet) -> Result<(), TopologyError> {
        let set: CpuSet = pus.iter().collect();
        self.topology
            .lock()
            .set_cpubind(set, CpuBindFlags::CPUBIND_THREAD)
            .map_err(|hwloc2::CpuBindError::Generic(_, reason)| TopologyError::Refused(pus.clone(), reason))
    }

    /// The processors that the current thread is bound to; `None` if the system does not report them.
    pub fn bound(&self) -> Option<PuSet> {
        self.topology.lock().get_cpubind(CpuBindFlags::CPUBIND_THREAD).map(pu_set)
    }
}

impl fmt::Debug for Hardware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, allowed, .. } = self;
        f.debug_struct("Hardware").field("machine", machine).field("allowed", allowed).finish_non_exhaustive()
    }
}

/// `None` if hwloc lists no processor.
fn machine_of(topology: &Topology) -> Option<Machine> {
    let mut machine = Machine::default();
    // By depth, since hwloc2 panics for kinds of objects that are beside the tree, as NUMA nodes are.
    let depth = topology.depth_for_type(&ObjectType::PU).ok()?;
    for leaf in topology.objects_at_depth(depth) {
        add(&mut machine, leaf);
    }
    machine.pus.sort_by_key(|pu| (pu.node, pu.cache, pu.core, pu.index));
    (!machine.pus.is_empty()).then_some(machine)
}

fn add(machine: &mut Machine, leaf: &TopologyObject) {
    let core = above(leaf).find(|o| matches!(o.object_type(), ObjectType::Core));
    let cache =
        above(leaf).filter_map(|o| Some((o.logical_index(), cache_of(o)?))).max_by_key(|(_, c)| c.level);
    let node = first_node(leaf).unwrap_or(0);
    machine.nodes.entry(node).or_insert_with(|| memory_of_node(leaf));
    if let Some((index, cache)) = cache {
        machine.caches.insert(index, cache);
    }
    machine.pus.push(Pu {
        index: leaf.os_index(),
        // Without cores every processor is one.
        core: core.map_or(leaf.logical_index(), TopologyObject::logical_index),
        cache: cache.map(|(index, _)| index),
        node,
        speed: 0,
    });
}

/// The objects around an object, from the inside out.
fn above(object: &TopologyObject) -> impl Iterator<Item = &TopologyObject> {
    std::iter::successors(object.parent(), |o| o.parent())
}

fn cache_of(object: &TopologyObject) -> Option<Cache> {
    let level = match object.object_type() {
        ObjectType::L1Cache => 1,
        ObjectType::L2Cache => 2,
        ObjectType::L3Cache => 3,
        ObjectType::L4Cache => 4,
        ObjectType::L5Cache => 5,
        _ => return None,
    };
    Some(Cache { level, bytes: object.cache_attributes().map_or(0, |a| a.size()) })
}

fn first_node(object: &TopologyObject) -> Option<u32> {
    object.nodeset().and_then(|nodes| nodes.into_iter().next())
}

/// The memory of the largest object that has this processor's nodes and no others, in bytes.
fn memory_of_node(leaf: &TopologyObject) -> u64 {
    let nodes = leaf.nodeset();
    above(leaf).take_while(|o| o.nodeset() == nodes).last().map_or(0, TopologyObject::total_memory)
}

fn pu_set(set: CpuSet) -> PuSet {
    // An infinite set has all processors, also those beyond the machine.
    if set.last() < 0 { PuSet::default() } else { set.into_iter().collect() }
}

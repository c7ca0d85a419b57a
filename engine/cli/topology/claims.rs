//! Cores that this process has for itself among processes of this program.
//!
//! A claim is a Unix socket with an abstract name, one per core. The system gives a name to one process only,
//! and frees it when that process ends, however it ends. Nothing is ever sent, and no file remains.

use super::{Machine, PuSet};

/// The claimed cores, until the value is dropped.
#[derive(Debug)]
pub struct Claims(#[allow(dead_code, reason = "held, not read")] Vec<Claim>);

impl Claims {
    /// All cores of these processors; `None` if another process has one, or if the system has no such names.
    pub fn of(machine: &Machine, pus: &PuSet) -> Option<Self> {
        let first_of = |core: u32| machine.pus.iter().filter(|pu| pu.core == core).map(|pu| pu.index).min();
        let claims = machine.cores_of(pus).into_iter().filter_map(first_of).map(claim);
        claims.collect::<Option<Vec<_>>>().map(Self)
    }
}

#[cfg(target_os = "linux")]
type Claim = std::os::unix::net::UnixDatagram;

/// Processes in containers with networks of their own do not see each other.
#[cfg(target_os = "linux")]
fn claim(first_pu: u32) -> Option<Claim> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(format!("inselberg core {first_pu}"));
    Claim::bind_addr(&address.ok()?).ok()
}

#[cfg(not(target_os = "linux"))]
type Claim = std::convert::Infallible;

#[cfg(not(target_os = "linux"))]
fn claim(_: u32) -> Option<Claim> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::super::Pu;
    use super::*;

    #[test]
    fn a_core_has_one_owner_until_it_is_dropped() {
        // Numbers that no machine has.
        let pu = |index, core| Pu { index, core, cache: None, node: 0, speed: 0 };
        let pus = vec![pu(900_000, 0), pu(900_001, 1), pu(900_002, 0), pu(900_003, 1)];
        let machine = Machine { pus, ..Machine::default() };
        let set = |pus: &[u32]| pus.iter().copied().collect::<PuSet>();
        let first = Claims::of(&machine, &set(&[900_002]));
        assert!(first.is_some());
        assert!(Claims::of(&machine, &set(&[900_001, 900_000])).is_none(), "the other thread of that core");
        assert!(Claims::of(&machine, &set(&[900_001])).is_some(), "a refused claim keeps nothing");
        drop(first);
        assert!(Claims::of(&machine, &machine.all()).is_some());
    }
}

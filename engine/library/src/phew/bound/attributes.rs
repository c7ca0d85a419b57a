//! The attributes of a catalogue about its unbinding.

use crate::bound::{BoundRequest, PotentialChoice};
use crate::particles::{MemberType, text_of};
use crate::phew::bound::gas::GasCells;
use crate::phew::bound::input::BoundInput;
use crate::tables::AttributeList;
use inselberg_io::Snapshot;
use inselberg_io::catalogue::Attribute;

/// The attributes of an unbinding. All begin with `unbind_`, by which a new cut drops them
/// ([`OF_MEMBERS`](crate::phew::params::OF_MEMBERS)).
pub fn attributes(
    potential: PotentialChoice,
    request: &BoundRequest,
    input: &BoundInput,
    gas: Option<&GasCells>,
) -> Vec<(String, Attribute)> {
    let mut list = AttributeList::new();
    list.text("unbind_potential", potential.name());
    if potential == PotentialChoice::Ramses {
        // RAMSES's rules have no choice of types and no softening.
        return list.into_attributes();
    }
    list.text("unbind_potential_from", &text_of(request.potential_from));
    let of_type = |member_type: MemberType| match softening(request, input.snapshot, member_type) {
        _ if member_type == MemberType::Gas && gas.is_some() => "gas=side of the cell".into(),
        Some((length, source)) => format!("{}={length} ({source})", member_type.name()),
        None => format!("{}={}", member_type.name(), input.places.size_name()),
    };
    list.text("unbind_softening", &MemberType::ALL.map(of_type).join(", "));
    if let Some(gas) = gas {
        let counts = request.thermal_energy && gas.has_pressure();
        list.int("unbind_thermal_energy", counts.into());
        if counts {
            list.real("unbind_adiabatic_index", gas.adiabatic_index);
            list.text("unbind_adiabatic_index_source", gas.adiabatic_index_source);
        }
    }
    list.into_attributes()
}

/// The softening length of the particles of a type and where it comes from; `None`: the size of its place.
pub fn softening(
    request: &BoundRequest,
    snapshot: &dyn Snapshot,
    member_type: MemberType,
) -> Option<(f64, &'static str)> {
    let given = request.softening.of(member_type).map(|length| (length, "given"));
    given.or_else(|| Some((snapshot.softening(member_type.family())?, "input")))
}

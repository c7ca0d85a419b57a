//! The attributes of a catalogue of groups.

use crate::fof::params::Linking;
use crate::fof::request::FofRequest;
use crate::tables::ASSUMED_UNITS;
use crate::tables::{AttributeList, input_notes};
use inselberg_io::catalogue::Attribute;
use inselberg_io::particles::{KIND_NAMES, N_KINDS, ParticleHeader};

/// Version of the layout of the tables.
const LAYOUT: i64 = 1;

/// The provenance of a catalogue of groups.
pub struct GroupsProvenance<'a> {
    /// The header of the input.
    pub about: &'a ParticleHeader,
    /// What a user may not expect of the input.
    pub notes: &'a [String],
    /// The parameters.
    pub request: &'a FofRequest,
    /// The sides of the periodic box.
    pub sides: Option<[f64; 3]>,
    /// The linking length.
    pub linking_length: f64,
    /// Totals by name.
    pub totals: &'a [(&'static str, u64)],
    /// Numbers of threads and ranks, by name.
    pub run: [(&'static str, u64); 2],
}

/// All attributes, in the order of writing. The parameters of the search have the names that SWIFT uses.
pub fn group_attributes(of: &GroupsProvenance) -> Vec<(String, Attribute)> {
    let mut list = AttributeList::new();
    list.text("program", "inselberg");
    list.text("version", env!("CARGO_PKG_VERSION"));
    list.int("layout", LAYOUT);
    list.text("output_type", "FOF");
    list.text("input_format", of.about.format);
    list.real("time", of.about.time);
    // 0 stands for a box that nobody knows; the layout has no other mark for it.
    let sides = of.sides.or(of.about.sides).unwrap_or([0.0; 3]);
    list.reals("sides", &sides);
    list.reals("periodic", &[f64::from(u8::from(of.sides.is_some())); 3]);
    if let Some(units) = &of.about.units {
        list.units(units);
    }
    if !of.about.assumed_units.is_empty() {
        list.text(ASSUMED_UNITS, &of.about.assumed_units.join(", "));
    }
    list.extend(input_notes(of.notes));
    if let Some(cosmology) = &of.about.cosmology {
        list.cosmology(cosmology);
    }
    parameters(&mut list, of);
    for (name, total) in of.totals {
        list.int(name, *total as i64);
    }
    for (name, value) in of.run {
        list.int(name, value as i64);
    }
    list.into_attributes()
}

fn parameters(list: &mut AttributeList, of: &GroupsProvenance) {
    let request = of.request;
    list.real("linking_length", of.linking_length);
    let (absolute, ratio) = match request.params.linking {
        Linking::Length(length) => (length, None),
        Linking::Ratio(ratio) => (-1.0, Some(ratio)),
    };
    list.real("absolute_linking_length", absolute);
    if let Some(ratio) = ratio {
        list.real("linking_length_ratio", ratio);
    }
    list.int("min_group_size", request.params.min_size as i64);
    list.text("linking_types", &kinds(&request.linking));
    list.text("attaching_types", &kinds(&request.attaching));
    list.int("group_id_default", request.params.id_of_none as i64);
    list.int("group_id_offset", request.params.first_id as i64);
    list.int("seed_black_holes_enabled", request.params.seed_mass.is_some().into());
    if let Some(mass) = request.params.seed_mass {
        list.real("black_hole_seed_halo_mass_Msun", mass);
    }
    unbinding(list, of);
}

/// How potentials of groups were computed, where they were.
fn unbinding(list: &mut AttributeList, of: &GroupsProvenance) {
    let Some(potential) = of.request.params.bound.unbinding() else { return };
    list.text("potential", potential.name());
    let lengths = of.request.params.softening_of(of.about, of.linking_length);
    let takes_part = |kind: &usize| of.request.linking[*kind] || of.request.attaching[*kind];
    let of_kind = |kind: usize| format!("{}={} ({})", KIND_NAMES[kind], lengths[kind].0, lengths[kind].1);
    list.text("softening", &(0..N_KINDS).filter(takes_part).map(of_kind).collect::<Vec<_>>().join(", "));
}

fn kinds(kinds: &[bool; N_KINDS]) -> String {
    format!("[{}]", kinds.map(|kind| if kind { "1" } else { "0" }).join(", "))
}

//! The types of the members of clumps.

use inselberg_io::Family;
use inselberg_io::particles::{DARK_MATTER, GAS, STAR};
use inselberg_kernels::bound::SourceTypes;

/// The type of a member of a clump: a particle or a gas cell. Numbers are those of Gadget and SWIFT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum MemberType {
    /// Gas: cells, or particles of a particle code.
    Gas = 0,
    /// Dark matter.
    DarkMatter = 1,
    /// Stars and stellar debris.
    Stars = 4,
    /// Anything else with a mass.
    Other = 5,
}

impl MemberType {
    /// All types.
    pub const ALL: [Self; 4] = [Self::Gas, Self::DarkMatter, Self::Stars, Self::Other];

    /// Its name in options and attributes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gas => "gas",
            Self::DarkMatter => "dark-matter",
            Self::Stars => "stars",
            Self::Other => "other",
        }
    }

    /// The type of a name; `None` if no type has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|member_type| member_type.name() == name)
    }

    /// The type of the particles of a family; `None` for tracers, which have no mass.
    pub(crate) fn from_family(family: Family) -> Option<Self> {
        match family {
            Family::Gas => Some(Self::Gas),
            Family::DarkMatter => Some(Self::DarkMatter),
            Family::Star | Family::Debris => Some(Self::Stars),
            Family::Cloud | Family::Other => Some(Self::Other),
            Family::Tracer => None,
        }
    }

    /// A family of particles of the type.
    pub(crate) fn family(self) -> Family {
        match self {
            Self::Gas => Family::Gas,
            Self::DarkMatter => Family::DarkMatter,
            Self::Stars => Family::Star,
            Self::Other => Family::Other,
        }
    }

    /// Its place in [`Self::ALL`].
    pub(crate) fn place(self) -> usize {
        Self::ALL.iter().position(|member_type| *member_type == self).expect("all types are listed")
    }
}

/// The family of the particles of a kind.
pub fn family_of(kind: u8) -> Family {
    match kind {
        GAS => Family::Gas,
        DARK_MATTER => Family::DarkMatter,
        STAR => Family::Star,
        _ => Family::Other,
    }
}

/// The types in a text: `all`, or names separated by commas. `None` if a name is unknown.
pub fn source_types(text: &str) -> Option<SourceTypes> {
    if text == "all" {
        return Some(SourceTypes::ALL);
    }
    let numbers: Option<Vec<u8>> =
        text.split(',').map(|name| MemberType::from_name(name.trim()).map(|found| found as u8)).collect();
    numbers.map(|numbers| SourceTypes::only(&numbers))
}

/// The text of types: `all`, or their names separated by commas.
pub fn text_of(sources: SourceTypes) -> String {
    let names = MemberType::ALL.into_iter().filter(|found| sources.holds(*found as u8));
    let names: Vec<&str> = names.map(MemberType::name).collect();
    if names.len() == MemberType::ALL.len() { "all".into() } else { names.join(",") }
}

//! Softening lengths that SWIFT, Gadget-4 and AREPO write among their parameters.
//!
//! All are as in a Plummer sphere. The comoving length is used until it exceeds the greatest physical one.

use super::names::number_or_text;
use crate::ReadResult;
use crate::hdf5_file::Hdf5File;
use crate::particles::{DARK_MATTER, N_KINDS};

/// The group of the parameters of a run.
const PARAMETERS: &str = "Parameters";

/// By kind, in comoving lengths of the code; `a` is the expansion factor of a cosmological run. SWIFT gives
/// dark matter one length and all kinds with baryons another one. Its background particles and neutrinos have
/// no common one.
pub fn of_swift(source: &Hdf5File, a: Option<f64>) -> ReadResult<[Option<f64>; N_KINDS]> {
    let of = |what: &str| {
        let number = |name: String| source.text(PARAMETERS, &name)?.parse::<f64>().ok();
        let comoving = number(format!("Gravity:comoving_{what}_softening"));
        length(comoving, number(format!("Gravity:max_physical_{what}_softening")), a)
    };
    let (dark, baryons) = (of("DM"), of("baryon"));
    const NO_COMMON: [usize; 2] = [2, 6];
    Ok(std::array::from_fn(|kind| match kind {
        kind if kind == usize::from(DARK_MATTER) => dark,
        kind if NO_COMMON.contains(&kind) => None,
        _ => baryons,
    }))
}

/// The names of Gadget-2's particle types in its parameters, which EAGLE writes out.
const GADGET_2_NAMES: [&str; 6] = ["Gas", "Halo", "Disk", "Bulge", "Stars", "Bndry"];
/// The groups with parameters of a run.
const PARAMETER_GROUPS: [&str; 2] = [PARAMETERS, "RuntimePars"];
/// GIZMO's extent of the kernel of each type: the spline with the central potential of a Plummer sphere
/// extends to 2.8 times its length.
const KERNEL_EXTENTS: &str = "Fixed_ForceSoftening_Keplerian_Kernel_Extent";
const EXTENT_OF_PLUMMER: f64 = 2.8;

/// By kind, in the comoving lengths of the file. Gadget-4 numbers classes of softening, AREPO calls them
/// types, Gadget-2 and EAGLE name the types, and GIZMO states the extents at the time of the snapshot.
pub fn of_gadget(source: &Hdf5File, a: Option<f64>) -> ReadResult<[Option<f64>; N_KINDS]> {
    // Without expansion Gadget uses its comoving lengths.
    let at =
        |comoving, physical| if a.is_some() { length(comoving, physical, a) } else { positive(comoving) };
    let extents = source.numbers("Header", KERNEL_EXTENTS)?.unwrap_or_default();
    let mut lengths = [None; N_KINDS];
    for (kind, found) in lengths.iter_mut().enumerate() {
        *found = positive(extents.get(kind).copied()).map(|extent| extent / EXTENT_OF_PLUMMER);
        for group in PARAMETER_GROUPS {
            let number = |name: String| number_or_text(source, group, &name);
            if let Some(name) = GADGET_2_NAMES.get(kind) {
                let comoving = number(format!("Softening{name}"))?;
                *found = found.or(at(comoving, number(format!("Softening{name}MaxPhys"))?));
            }
            for class in ["Class", "Type"] {
                let Some(of_kind) = number(format!("Softening{class}OfPartType{kind}"))? else { continue };
                let comoving = number(format!("SofteningComoving{class}{of_kind}"))?;
                *found = at(comoving, number(format!("SofteningMaxPhys{class}{of_kind}"))?);
            }
        }
    }
    Ok(lengths)
}

fn length(comoving: Option<f64>, physical: Option<f64>, a: Option<f64>) -> Option<f64> {
    let (comoving, physical) = (positive(comoving), positive(physical));
    match (a, comoving, physical) {
        (None, _, physical) => physical,
        (Some(a), Some(comoving), Some(physical)) => Some(comoving.min(physical / a)),
        (Some(_), comoving, None) => comoving,
        (Some(_), None, Some(_)) => None,
    }
}

fn positive(length: Option<f64>) -> Option<f64> {
    length.filter(|length| *length > 0.0 && length.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_physical_length_ends_the_comoving_one() {
        assert_eq!(length(Some(0.04), Some(0.01), Some(0.125)), Some(0.04));
        assert_eq!(length(Some(0.04), Some(0.01), Some(0.5)), Some(0.02));
        assert_eq!(length(Some(0.04), None, Some(0.5)), Some(0.04));
        assert_eq!(length(Some(0.04), Some(0.01), None), Some(0.01));
        assert_eq!([length(None, Some(0.01), Some(0.5)), length(Some(0.0), Some(-1.0), None)], [None; 2]);
    }
}

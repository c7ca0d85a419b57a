//! Gas in slices has the bits of the whole gas.

use super::samples::Random;
use super::thread_slices::{ThreadSlice, on_slices};
use bytemuck::{Pod, Zeroable};
use inselberg_kernels::bound::slices::{Slices, SortOrder, Whole, block_starts};
use inselberg_kernels::gas::{
    GasBounds, GasCell, GasMembers, GasProperties, GasRules, GasScratch, ListedCells, gas_properties,
    gas_properties_of_slices,
};

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct KeyedCell {
    key: u64,
    place: u64,
    cell: GasCell,
}

/// Cells of two sizes, denser towards the centre.
fn cells(n: usize) -> Vec<GasCell> {
    let mut random = Random::new(n as u64);
    let cell = |i: usize| {
        let r = 4.0 * random.unit() * random.unit();
        GasCell {
            position: random.direction(r),
            side: [0.125, 0.25][i % 2],
            velocity: random.normal(3.0),
            mass: 0.5 + random.unit(),
            pressure: random.unit(),
            magnetic: random.unit(),
        }
    };
    (0..n).map(cell).collect()
}

/// The members of a slice, with the place of each in the list of all cells.
fn members_of(slices: &ThreadSlice, cells: &[GasCell], block: u64) -> (GasMembers, Vec<usize>) {
    let Ok(bounds) =
        GasBounds::new(cells.iter().skip(slices.here()).step_by(slices.number()), block).over(slices);
    let keyed = |(place, cell): (usize, &GasCell)| KeyedCell {
        key: bounds.members.key(cell.position),
        place: place as u64,
        cell: *cell,
    };
    let own = cells.iter().enumerate().skip(slices.here()).step_by(slices.number()).map(keyed).collect();
    let order = SortOrder {
        primary: &|cell: &KeyedCell| [cell.key, 0],
        order: &|a, b| (a.key, a.place).cmp(&(b.key, b.place)),
        block,
    };
    let Ok(sorted) = order.sort(slices, own);
    let records = sorted.records;
    let blocks = block_starts(records.len(), |i| records[i].key, sorted.first, block);
    let place: Vec<u64> = records.iter().map(|cell| cell.place).collect();
    let members =
        GasMembers::of_slice(records.iter().map(|cell| cell.cell).collect(), place.clone(), bounds, blocks);
    (members.expect("valid cells"), place.into_iter().map(|place| place as usize).collect())
}

/// The members whose cells have a place that a closure names.
fn listed(places: &[usize], is_listed: impl Fn(usize) -> bool) -> Vec<u32> {
    (0..places.len() as u32).filter(|member| is_listed(places[*member as usize])).collect()
}

fn check(n: usize, block: u64, newton: f64, is_listed: impl Fn(usize) -> bool + Sync) -> GasProperties {
    let cells = cells(n);
    let rules = GasRules { newton, adiabatic_index: 1.4 };
    let members = GasMembers::in_blocks(&cells, block, &Whole).expect("valid cells");
    let places: Vec<usize> = members.entries().iter().map(|entry| *entry as usize).collect();
    let whole = gas_properties(&members, &listed(&places, &is_listed), &rules, &mut GasScratch::default());
    for n_slices in [1, 2, 3, 5, 8] {
        let found = on_slices(n_slices, |slices| {
            let (members, places) = members_of(slices, &cells, block);
            let list = listed(&places, &is_listed);
            let listed = ListedCells { members: &members, list: &list, slices };
            let Ok(found) = gas_properties_of_slices(&listed, &rules, &mut GasScratch::default());
            found
        });
        for found in found {
            assert_eq!(
                bytemuck::bytes_of(&found),
                bytemuck::bytes_of(&whole),
                "{n} cells, {n_slices} slices"
            );
        }
    }
    whole
}

#[test]
fn cells_in_slices_have_the_bits_of_the_whole() {
    let gas = check(3000, 64, 2.0, |_| true);
    assert!(gas.potential_energy < 0.0 && gas.half_mass_radius > 0.0 && gas.c_over_a > 0.5, "{gas:?}");
    check(3000, 16, 2.0, |place| place % 3 == 1);
    assert_eq!(check(500, 16, 0.0, |_| true).potential_energy, 0.0);
}

/// By all pairs, with cells that are cut into cubes, and with empty slices.
#[test]
fn few_cells_in_slices_have_the_bits_of_the_whole() {
    for n in [1, 2, 7, 63, 64, 200] {
        assert_eq!(check(n, 4, 2.0, |_| true).number, n as u64);
    }
    assert_eq!(check(20, 4, 2.0, |_| false), GasProperties::default());
}

//! The picture of one object: what is around it, and its radial profile.

use super::fault::CommandError;
use super::picture_title;
use super::pictures::values_of;
use super::stored_maps::{StoredMatter, cells_around};
use super::viewed::{Viewed, one};
use crate::config::{CubeRegion, ViewJob, ViewedKind};
use crate::report::plot::kinds::{
    CLUMPS, CircleRadius, GROUPS, HALOES, MARKED, MapCircle, ObjectKind, VOIDS,
};
use crate::report::plot::sky_axes::SkyView;
use crate::report::plot::{Beside, PictureData, RadialProfile, stage_plot};
use inselberg::View;
use inselberg::phew::image::{ImageSky, is_flat};
use inselberg_io::NEWTON;
use inselberg_io::catalogue::units::scale_of;
use inselberg_io::catalogue::{Catalogue, Table};
use inselberg_io::staging::Staged;
use std::path::Path;

/// Side of the map, in radii of the object, and at least in smallest leaves.
const SIDE: (f64, f64) = (5.0, 8.0);
/// Shells of a profile.
const N_SHELLS: usize = 18;
/// The radii that a profile marks: a column and a name.
const RADII: [(&str, &str); 2] = [("half_mass_radius", "half mass"), ("radius_200_crit", "R200c")];

/// The picture, not yet under its name.
pub fn stage(path: &Path, job: &ViewJob, object: &Viewed<'_>) -> Result<Staged, CommandError> {
    let wrong = |problem: String| CommandError::about(&job.input, problem);
    let whole = object.whole;
    let matter = StoredMatter::new(whole).map_err(wrong)?;
    let is_of_cells = matches!(object.kind, ViewedKind::Clump | ViewedKind::Halo);
    if is_of_cells && matter.cells.is_none() {
        let expected = "a catalogue of `inselberg phew --with-cells`";
        return Err(wrong(format!("no table cells with densities, which --plot shows; expected {expected}")));
    }
    let around = around(object, matter.finest())
        .ok_or_else(|| wrong(format!("no position of the {}; expected its column", one(object.kind))))?;
    let maps = matter.maps(whole, &job.maps, Some(around)).map_err(wrong)?;
    let sky = ImageSky::from_attributes(&whole.attributes).and_then(Result::ok);
    let values = values_of(&maps, &object.units, sky.as_ref(), whole);
    let profile = profile(object, &matter, (&around, sky.as_ref(), &maps[0].view));
    let title = picture_title::title(whole, &picture_title::origin(whole, &job.input));
    let data = PictureData {
        title: format!("{},  {title}", object.title()),
        subtitle: picture_title::conditions(whole, &object.units),
        maps,
        space: matter.space,
        sky,
        values,
        colours: job.maps.colours,
        units: object.units.clone(),
        labelled: if is_of_cells { Vec::new() } else { vec![marked(object, &around)] },
        beside: profile.map_or(Beside::Counts { marked: size(object) }, Beside::Profile),
        least: job.maps.least,
        catalogue: &shown(object, is_of_cells),
    };
    Ok(stage_plot(path, &data)?)
}

/// What pictures show of the kind of an object.
fn drawn_kind(object: &Viewed<'_>) -> &'static ObjectKind {
    match object.kind {
        ViewedKind::Clump => &CLUMPS,
        ViewedKind::Halo => &HALOES,
        ViewedKind::Group => &GROUPS,
        ViewedKind::Void => &VOIDS,
        ViewedKind::Track | ViewedKind::Tracks => unreachable!("tracks have pictures of their own"),
        ViewedKind::Structure => unreachable!("structures have no pictures"),
    }
}

/// The mass of the object, or the radius of a void.
fn size(object: &Viewed<'_>) -> Option<f64> {
    Some(object.table.reals(drawn_kind(object).columns[1])?[object.row])
}

fn radius(object: &Viewed<'_>) -> f64 {
    drawn_kind(object).radii(object.table).map_or(0.0, |radii| radii[object.row])
}

/// The cube around the object; `None` without a position.
fn around(object: &Viewed<'_>, finest: f64) -> Option<CubeRegion> {
    let centre = object.table.vectors(drawn_kind(object).columns[0])?[object.row];
    Some(CubeRegion { centre, side: (SIDE.0 * radius(object)).max(SIDE.1 * finest) })
}

/// The circle of the object among others.
fn marked(object: &Viewed<'_>, around: &CubeRegion) -> MapCircle {
    MapCircle {
        position: around.centre,
        radius: CircleRadius::Length(radius(object)),
        mark: MARKED,
        label: object.id.to_string(),
    }
}

/// The object and the clumps in it, or all groups or voids.
fn shown(object: &Viewed<'_>, is_alone: bool) -> Catalogue {
    let attributes = object.whole.attributes.clone();
    if !is_alone {
        return Catalogue { attributes, tables: vec![object.table.clone()] };
    }
    let mut tables: Vec<Table> = Vec::new();
    if let Some((clumps, rows)) = &object.parts {
        tables.push(clumps.rows(rows));
    }
    if object.kind != ViewedKind::Clump {
        tables.push(object.table.rows(&[object.row]));
    }
    Catalogue { attributes, tables }
}

/// The profile around the object; `None` without cells.
fn profile(
    object: &Viewed<'_>,
    matter: &StoredMatter,
    (around, sky, view): (&CubeRegion, Option<&ImageSky>, &View),
) -> Option<RadialProfile> {
    matter.cells.as_ref()?;
    let (row, table) = (object.row, object.table);
    let real = |name: &str| table.reals(name).map(|values| values[row]).filter(|x| x.is_finite() && *x > 0.0);
    let is_bound = real("bound_mass").is_some();
    let own_centre = || table.vectors("most_bound_position").filter(|_| is_bound).map(|all| all[row]);
    let centre = own_centre().unwrap_or(around.centre);
    let flat = is_flat(&object.whole.attributes);
    let axes = axes_of_distance(flat, sky, view);
    let finest = matter.finest();
    let outer = (around.side / 2.0).max(8.0 * finest);
    let shells = Shells::new(finest, outer);
    let mut sums = vec![[0.0; 3]; N_SHELLS];
    cells_around(object.whole, &matter.space, centre, &axes, |distance, volume, density| {
        if let Some(shell) = shells.of(distance) {
            let [sum, all, far] = &mut sums[shell];
            *sum += density * volume;
            *all += volume;
            *far += distance * volume;
        }
    })?;
    let of_image = object.units.are_of_image() || flat;
    let quantity = if of_image { "mean value" } else { object.units.mean_density() };
    let mut profile = RadialProfile { quantity: quantity.into(), ..RadialProfile::default() };
    let newton = gravity(object.whole).filter(|_| is_bound);
    let (mut mass, mut velocity) = (0.0, Vec::new());
    for (shell, [sum, all, far]) in sums.into_iter().enumerate() {
        mass += sum;
        if all > 0.0 {
            profile.radius.push((far / all).max(0.25 * finest));
            profile.density.push(sum / all);
            let edge = shells.outer_edge(shell);
            velocity.push([edge, (newton.unwrap_or(0.0) * mass.max(0.0) / edge).sqrt()]);
        }
    }
    profile.velocity = newton.map(|_| velocity);
    let greatest = [real("maximum_circular_velocity_radius"), real("maximum_circular_velocity")];
    if let ([Some(radius), Some(value)], true) = (greatest, newton.is_some()) {
        profile.greatest = Some([radius, value]);
    }
    profile.marks.push((radius(object), "radius"));
    profile.marks.extend(RADII.iter().filter_map(|(column, name)| Some((real(column)?, *name))));
    Some(profile)
}

/// The axes along which distances are measured: not the velocity of a cube, nor the depth of an image.
fn axes_of_distance(flat: bool, sky: Option<&ImageSky>, view: &View) -> Vec<usize> {
    let is_depth = |along: &usize| {
        let view = View { along: *along, ..*view };
        sky.is_some_and(|sky| SkyView::new(sky, &view).depth().is_some())
    };
    (0..3).filter(|axis| !(is_depth(axis) || flat && *axis == 2)).collect()
}

/// Newton's constant in code units; `None` without units.
fn gravity(whole: &Catalogue) -> Option<f64> {
    let units = scale_of(&whole.attributes).units?;
    Some(NEWTON * units.density * units.time.powi(2))
}

/// Shells of equal ratios around a ball.
struct Shells {
    inner: f64,
    outer: f64,
}

impl Shells {
    fn new(inner: f64, outer: f64) -> Self {
        Self { inner, outer }
    }

    /// The shell of a distance; `None` beyond the last.
    fn of(&self, distance: f64) -> Option<usize> {
        if distance <= self.inner {
            return Some(0);
        }
        let part = (distance / self.inner).ln() / (self.outer / self.inner).ln();
        let shell = 1 + (part * (N_SHELLS - 1) as f64) as usize;
        (distance < self.outer).then(|| shell.min(N_SHELLS - 1))
    }

    fn outer_edge(&self, shell: usize) -> f64 {
        self.inner * (self.outer / self.inner).powf(shell as f64 / (N_SHELLS - 1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_meet_at_their_edges() {
        let shells = Shells::new(1.0, 100.0);
        assert_eq!((shells.of(0.5), shells.of(100.0)), (Some(0), None));
        for shell in 0..N_SHELLS - 1 {
            let edge = shells.outer_edge(shell);
            assert_eq!([edge * 0.999, edge * 1.001].map(|r| shells.of(r)), [Some(shell), Some(shell + 1)]);
        }
    }
}

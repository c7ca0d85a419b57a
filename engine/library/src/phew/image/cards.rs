//! The cards that a catalogue keeps as attributes `fits_*`, as world coordinates.

use super::frame::SkyFrame;
use inselberg_io::catalogue::Attribute;
use inselberg_kernels::sky::{AxisCards, PixelMatrix, SkyCards, SkyError, SkyGrid, WorldAxis};

/// The beginning of their names.
pub(super) const BEGINNING: &str = "fits_";
/// The most axes that have cards.
const MOST_AXES: usize = 9;

/// The sky of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageSky {
    /// From pixels to the sky.
    pub(super) grid: SkyGrid,
    /// The frames of the coordinates.
    frames: Vec<String>,
    /// The axes of the file, from 0, that are x, y and z.
    pub(super) axes: Vec<usize>,
    /// The lower corner of the box, and the side of a cell.
    origin: [f64; 3],
    side: f64,
}

impl ImageSky {
    /// From the attributes of a catalogue; `None` if it is not of a FITS image.
    pub fn from_attributes(attributes: &[(String, Attribute)]) -> Option<Result<Self, SkyError>> {
        let cards = AttributeCards(attributes);
        let (shape, axes) = (cards.reals("fits_shape")?, cards.reals("fits_axes")?);
        let axes: Vec<usize> = axes.iter().map(|axis| (*axis as usize).wrapping_sub(1)).collect();
        let x = *axes.first().filter(|_| axes.len() <= 3)?;
        let (coarse, boxlen) = (cards.reals("coarse_cells")?, cards.number("boxlen")?);
        let side = boxlen * coarse.first()? / shape.get(x)?;
        let origin = cards.reals("origin").and_then(|origin| origin.try_into().ok()).unwrap_or([0.0; 3]);
        let n = cards.of("WCSAXES").map_or(shape.len(), |n| shape.len().max(n as usize)).min(MOST_AXES);
        if axes.iter().any(|axis| *axis >= n) {
            return Some(Err(SkyError::Nothing));
        }
        let sky = cards.sky(n).and_then(SkyGrid::new);
        Some(sky.map(|grid| Self { grid, frames: cards.frames(), axes, origin, side }))
    }

    /// The sky coordinates of a position in the box, one per axis of [`Self::axes`].
    pub fn world(&self, position: [f64; 3], to: &mut Vec<f64>) {
        // Axes of length 1 are at their only pixel.
        let mut pixel = [1.0; MOST_AXES];
        for (a, axis) in self.axes.iter().enumerate() {
            pixel[*axis] = (position[a] - self.origin[a]) / self.side + 0.5;
        }
        self.grid.world(&pixel, to);
    }

    /// The coordinates in words, and their frames: `ra, dec, velocity (FK5, equinox 2000, LSRK)`.
    pub fn sentence(&self) -> String {
        let names: Vec<_> = self.grid.axes().iter().map(|axis| axis.name.as_str()).collect();
        let frames =
            if self.frames.is_empty() { String::new() } else { format!(" ({})", self.frames.join(", ")) };
        let unknown = self.grid.unknown().map_or(String::new(), |problem| format!("; {problem}"));
        names.join(", ") + &frames + &unknown
    }
}

impl ImageSky {
    /// The frame of the celestial coordinates, and their names; `None` of frames that viewers do not know.
    pub(super) fn frame(&self) -> Option<(SkyFrame, [String; 2])> {
        self.grid.celestial_axes()?;
        let [lon, lat, ..] = self.grid.axes() else { return None };
        let names = [lon.name.clone(), lat.name.clone()];
        let has = |name: &str| self.frames.iter().any(|frame| frame == name);
        let frame = match lon.name.as_str() {
            "glon" => SkyFrame::Galactic,
            "ra" if has("ICRS") => SkyFrame::Icrs,
            "ra" if has("FK5") => SkyFrame::Fk5,
            "ra" if has("FK4") => SkyFrame::Fk4,
            _ => return None,
        };
        Some((frame, names))
    }

    /// The sky coordinates.
    pub fn axes(&self) -> &[WorldAxis] {
        self.grid.axes()
    }

    /// The units of the coordinates that have some, as columns of catalogues find them: `ra [deg], velocity
    /// [km/s]`.
    pub(super) fn units(&self) -> Vec<String> {
        let is_plain = |unit: &str| !unit.is_empty() && !unit.contains(['[', ']', ',']);
        let axes = self.grid.axes().iter().filter(|axis| is_plain(&axis.unit));
        axes.map(|axis| format!("{} [{}]", axis.name, axis.unit)).collect()
    }
}

/// The cards among the attributes.
pub(super) struct AttributeCards<'a>(pub &'a [(String, Attribute)]);

impl AttributeCards<'_> {
    fn value(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    pub fn reals(&self, name: &str) -> Option<Vec<f64>> {
        match self.value(name)? {
            Attribute::Reals(all) => Some(all.clone()),
            _ => None,
        }
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        match self.value(name)? {
            Attribute::Real(x) => Some(*x),
            Attribute::Int(n) => Some(*n as f64),
            _ => None,
        }
    }

    /// The number of a card.
    pub fn of(&self, keyword: &str) -> Option<f64> {
        self.number(&format!("{BEGINNING}{keyword}"))
    }

    /// The text of a card; empty without it.
    fn text(&self, keyword: &str) -> String {
        match self.value(&format!("{BEGINNING}{keyword}")) {
            Some(Attribute::Text(text)) => text.clone(),
            _ => String::new(),
        }
    }

    fn sky(&self, n: usize) -> Result<SkyCards, SkyError> {
        let axis = |i: usize| AxisCards {
            kind: self.text(&format!("CTYPE{i}")),
            unit: self.text(&format!("CUNIT{i}")),
            value: self.of(&format!("CRVAL{i}")).unwrap_or(0.0),
            pixel: self.of(&format!("CRPIX{i}")).unwrap_or(0.0),
        };
        let of_two = |i: usize, m: usize| Some((i, m, self.of(&format!("PV{i}_{m}"))?));
        Ok(SkyCards {
            axes: (1..=n).map(axis).collect(),
            matrix: self.matrix(n)?,
            parameters: (1..=n).flat_map(|i| (0..100).filter_map(move |m| of_two(i, m))).collect(),
            lon_pole: self.of("LONPOLE"),
            lat_pole: self.of("LATPOLE"),
            rest_frequency: self.of("RESTFRQ").or(self.of("RESTFREQ")),
            rest_wavelength: self.of("RESTWAV"),
        })
    }

    /// From one of the three notations of matrices.
    fn matrix(&self, n: usize) -> Result<PixelMatrix, SkyError> {
        let steps = (1..=n).map(|i| self.of(&format!("CDELT{i}")).unwrap_or(1.0)).collect();
        let mut matrix = PixelMatrix::of_steps(steps);
        let given = |name: &str| {
            let of_two = |i: usize, j: usize| Some((i - 1, j - 1, self.of(&format!("{name}{i}_{j}"))?));
            (1..=n).flat_map(|i| (1..=n).filter_map(move |j| of_two(i, j))).collect::<Vec<_>>()
        };
        let (pc, cd) = (given("PC"), given("CD"));
        match (pc.is_empty(), cd.is_empty()) {
            (false, false) => return Err(SkyError::TwoMatrices),
            (true, true) => self.turn(&mut matrix, n),
            (false, true) => pc.into_iter().for_each(|(i, j, factor)| matrix.rows[i][j] = factor),
            (true, false) => {
                matrix = PixelMatrix { rows: vec![vec![0.0; n]; n], steps: vec![1.0; n] };
                cd.into_iter().for_each(|(i, j, factor)| matrix.rows[i][j] = factor);
            }
        }
        Ok(matrix)
    }

    /// The old notation: an angle with the axis of latitude.
    fn turn(&self, matrix: &mut PixelMatrix, n: usize) {
        let find = |is: fn(&str) -> bool| (1..=n).find(|i| is(&self.text(&format!("CTYPE{i}"))));
        let lat = find(|kind| kind.starts_with("DEC-") || kind.get(1..4) == Some("LAT"));
        let lon = find(|kind| kind.starts_with("RA--") || kind.get(1..4) == Some("LON"));
        let (Some(lon), Some(lat)) = (lon, lat) else { return };
        if let Some(angle) = self.of(&format!("CROTA{lat}")).filter(|angle| *angle != 0.0) {
            matrix.turn([lon - 1, lat - 1], angle);
        }
    }

    /// The frames of celestial and spectral coordinates, as the standard assumes them where cards are absent.
    fn frames(&self) -> Vec<String> {
        let kinds: Vec<String> = (1..=MOST_AXES).map(|i| self.text(&format!("CTYPE{i}"))).collect();
        let equinox = self.of("EQUINOX").or(self.of("EPOCH"));
        let mut frames = Vec::new();
        if kinds.iter().any(|kind| kind.starts_with("RA--") || kind.starts_with("ELON")) {
            let [named, old] = ["RADESYS", "RADECSYS"].map(|keyword| self.text(keyword));
            let named = if named.is_empty() { old } else { named };
            frames.push(match (named.is_empty(), equinox) {
                (false, _) => named,
                (true, None) => "ICRS".into(),
                (true, Some(year)) if year < 1984.0 => "FK4".into(),
                (true, Some(_)) => "FK5".into(),
            });
            frames.extend(equinox.map(|year| format!("equinox {year}")));
        }
        let spectral = self.text("SPECSYS");
        frames.extend((!spectral.is_empty()).then_some(spectral));
        frames
    }
}

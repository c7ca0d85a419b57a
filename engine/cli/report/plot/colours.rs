//! Colours of marks and grounds.

use plotters::prelude::RGBColor;

pub const WHITE: RGBColor = RGBColor(255, 255, 255);
pub const DARK: RGBColor = RGBColor(16, 12, 40);
/// Okabe and Ito's sky blue, a lighter bluish green, and turquoise, which are seen on dark ground and on the
/// colours of maps. Turquoise and blue never stand together.
pub const SKY: RGBColor = RGBColor(86, 180, 233);
pub const TURQUOISE: RGBColor = RGBColor(64, 224, 208);
pub const GREEN: RGBColor = RGBColor(0, 200, 140);
/// What is marked.
pub const YELLOW: RGBColor = RGBColor(240, 228, 66);
pub const GREY: RGBColor = RGBColor(225, 225, 225);
/// Lines across dark ground.
pub const DIM: RGBColor = RGBColor(70, 66, 96);

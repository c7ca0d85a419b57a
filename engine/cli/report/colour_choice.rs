//! How values become colours, as chosen.

/// The scale of colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColourScale {
    /// Equal ratios, or equal steps where values are below 0.
    #[default]
    Auto,
    /// Equal steps.
    Linear,
    /// Equal ratios.
    Log,
    /// Equal steps of the root.
    Sqrt,
    /// Equal ratios on both sides of 0.
    Symmetric,
}

/// The scale of colours and the values at its ends.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ColourChoice {
    /// The scale.
    pub scale: ColourScale,
    /// The values at its ends, in the units of the picture; `None`: quantiles of the map.
    pub limits: Option<[f64; 2]>,
}

impl ColourScale {
    /// The scale within these limits: ratios need positive ones.
    pub fn within(self, [low, _]: [f64; 2]) -> Self {
        if self == Self::Auto && low <= 0.0 { Self::Linear } else { self }
    }
}

//! What an atlas takes.

use inselberg_io::params;

params! {
    /// Which thresholds an atlas tries.
    ///
    /// ```
    /// use inselberg::AtlasParams;
    ///
    /// let params = AtlasParams::default().values_per_decade(32);
    /// assert_eq!((params.values_per_decade, params.pair_values), (32, 12));
    /// ```
    #[non_exhaustive]
    pub struct AtlasParams of "atlas" {
        /// Values of each threshold per factor of ten.
        ///
        /// The value of the run is among them in any case.
        pub values_per_decade: u64 = 16, "values_per_decade" =
            count("16", |n| (1..=100).contains(n), "1 to 100");
        /// Values of each threshold where two vary; 0 leaves pairs out.
        ///
        /// Each pair of thresholds costs the square of this number of cuts of the tree.
        pub pair_values: u64 = 12, "pair_values" =
            count("12", |n| *n <= 40, "up to 40");
        /// Values of the density threshold, for a catalogue with cells; 0 leaves it out.
        ///
        /// Each value segments the cells of `with_cells` again, so it takes as long as a search. Other
        /// catalogues have none: their trees do not have the contacts of other densities.
        pub density_values: u64 = 8, "density_values" =
            count("8", |n| *n <= 100, "up to 100");
    }
}

//! What a comparison takes.

use inselberg_io::params;

params! {
    /// How objects of two catalogues are matched.
    ///
    /// ```
    /// use inselberg::CompareParams;
    ///
    /// let params = CompareParams::default().least_members(100);
    /// assert_eq!((params.least_members, params.least_score), (100, 0.25));
    /// ```
    #[non_exhaustive]
    pub struct CompareParams of "compare" {
        /// Smallest objects that count (particles).
        ///
        /// Smaller ones can be partners, but are in no statistics.
        pub least_members: u64 = 20, "least_members" =
            count("20", |n| *n >= 1, "1 particle or more");
        /// Score from which an object counts as found.
        ///
        /// The score of two objects is n² / (n_A n_B), with n members in common.
        pub least_score: f64 = 0.25, "least_score" =
            real("0.25", |score| (0.0..=1.0).contains(score), "0 to 1");
        /// Part of the members of an object from which another one counts as a piece of it.
        ///
        /// An object with two or more such pieces in the other catalogue is split there.
        pub least_share: f64 = 0.1, "least_share" =
            real("0.1", |share| *share > 0.0 && *share <= 0.5, "above 0, up to 0.5");
        /// Distance up to which objects are matched by place (code lengths of the first catalogue).
        ///
        /// Without members, two objects can be the same if their centres are not farther apart than this, or
        /// than the half-mass radius of one of them: without such a radius, that of a sphere of its volume.
        /// Of several, the one with the most similar mass is the partner.
        pub match_distance: f64 = 0.0, "match_distance" =
            real("0", |distance| *distance >= 0.0, "a distance of 0 or more");
        /// Added to all three coordinates of the second catalogue (its code lengths).
        ///
        /// For a finder that ran on a copy of the box with a margin. Objects outside of the box of the first
        /// catalogue can then be partners, but are not counted.
        pub shift: f64 = 0.0, "shift" = real("0", |shift| shift.is_finite(), "a finite length");
    }
}

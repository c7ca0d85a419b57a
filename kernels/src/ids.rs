//! Index kinds as distinct types; each is an offset into one kind of array.

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, bytemuck::Pod, bytemuck::Zeroable,
        )]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// No index.
            pub const NONE: Self = Self(u32::MAX);

            /// As an array offset.
            #[inline(always)]
            pub fn at(self) -> usize {
                self.0 as usize
            }

            /// From an array offset.
            ///
            /// # Panics
            /// When the offset does not fit; meshes are checked to fit when they are built.
            #[inline(always)]
            pub fn new(offset: usize) -> Self {
                debug_assert!(offset < u32::MAX as usize);
                Self(offset as u32)
            }

            /// Whether it is [`Self::NONE`].
            #[inline(always)]
            pub fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
        }
    };
}

index! {
    /// A cell of a mesh, in the order of (level, Morton key).
    CellIdx
}
index! {
    /// A test cell, in the order of the cells.
    TestIdx
}
index! {
    /// The end of an ascent among the ends on one rank, in the order of the cells.
    ///
    /// On one of several ranks it is an own peak or a ghost whose ascent continues on another rank.
    RootIdx
}
index! {
    /// A peak among those that a rank knows, its own and those of other ranks, in the order of the cells.
    PeakSlot
}
index! {
    /// A peak among the peaks of all ranks, in the order of (level, Morton key).
    PeakNumber
}
index! {
    /// A peak of the list or tree at hand, in the order of the cells; its patch has the same index.
    ///
    /// The kernels only compare peaks, and every list of peaks is in the order of the cells. So the same code runs on
    /// roots, on slots and on numbers. The caller names the kind at its border with the conversions below, which cost
    /// nothing.
    PeakIdx
}
index! {
    /// A clump among those that a rank knows, in the order of the cells of their peaks.
    ClumpSlot
}
index! {
    /// A brick of a mesh.
    BrickIdx
}

macro_rules! kind_of_peak {
    ($kind:ident, $from:ident, $to:ident, $list:literal) => {
        impl PeakIdx {
            #[doc = concat!("In ", $list, ".")]
            #[inline(always)]
            pub const fn $from(index: $kind) -> Self {
                Self(index.0)
            }

            #[doc = concat!("Back, of a peak in ", $list, ".")]
            #[inline(always)]
            pub const fn $to(self) -> $kind {
                $kind(self.0)
            }
        }
    };
}

kind_of_peak!(RootIdx, from_root, to_root, "the list of the roots");
kind_of_peak!(PeakSlot, from_slot, to_slot, "the list of the peaks known on a rank");
kind_of_peak!(PeakNumber, from_number, to_number, "the list of the peaks of all ranks");

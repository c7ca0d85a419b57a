//! Each kind of index has its own type: an offset into one kind of array.

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
    /// A peak of the list or tree at hand, in the order of the cells; its patch has the same index.
    ///
    /// The kernels only compare peaks, and every list of peaks is in the order of the cells. So the same code
    /// runs on roots and on slots. The caller names the kind at its border with the conversions below, which
    /// cost nothing.
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

/// A peak among those of all ranks: its number in the order of (level, Morton key), and the rank that owns
/// it.
///
/// The number decides the owner, so names compare as numbers do. There are names for 2^40 peaks of 2^24
/// ranks.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, bytemuck::Pod, bytemuck::Zeroable,
)]
#[repr(transparent)]
pub struct PeakName(u64);

impl PeakName {
    /// No peak.
    pub const NONE: Self = Self(u64::MAX);
    /// Peaks have numbers below this one.
    pub const MOST_PEAKS: u64 = 1 << 40;
    /// Owners are below this rank.
    pub const MOST_RANKS: u32 = 1 << Self::RANK_BITS;
    const RANK_BITS: u32 = 24;

    /// The peak of this number over all ranks, which `owner` owns.
    ///
    /// # Panics
    /// When there is no name for these; peaks are counted before they are named.
    #[inline]
    pub const fn new(number: u64, owner: u32) -> Self {
        debug_assert!(number < Self::MOST_PEAKS && owner < Self::MOST_RANKS);
        Self(number << Self::RANK_BITS | owner as u64)
    }

    /// Its number over all ranks.
    #[inline(always)]
    pub const fn number(self) -> u64 {
        self.0 >> Self::RANK_BITS
    }

    /// The rank that owns it.
    #[inline(always)]
    pub const fn owner(self) -> u32 {
        self.0 as u32 & (Self::MOST_RANKS - 1)
    }

    /// As a word, which ascends as names do.
    #[inline(always)]
    pub const fn word(self) -> u64 {
        self.0
    }

    /// The name with this word.
    #[inline(always)]
    pub const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// Whether it is [`Self::NONE`].
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.0 == u64::MAX
    }
}

impl PeakIdx {
    /// In the list of the peaks of all ranks, which has fewer than 2^32.
    #[inline(always)]
    pub fn from_name(name: PeakName) -> Self {
        if name.is_none() { Self::NONE } else { Self::new(name.number() as usize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_compare_as_numbers(a in 0..PeakName::MOST_PEAKS, b in 0..PeakName::MOST_PEAKS, owner in 0..PeakName::MOST_RANKS) {
            let name = PeakName::new(a, owner);
            prop_assert_eq!((name.number(), name.owner()), (a, owner));
            prop_assert_eq!(name.cmp(&PeakName::new(b, owner)), a.cmp(&b));
            prop_assert_eq!(PeakName::from_word(name.word()), name);
            prop_assert!(name.is_none() == (a == PeakName::MOST_PEAKS - 1 && owner == PeakName::MOST_RANKS - 1));
        }
    }
}

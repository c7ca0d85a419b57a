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
            /// No such thing.
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
    /// A peak, in the order of the cells; its patch has the same index.
    PeakIdx
}
index! {
    /// A brick of a mesh.
    BrickIdx
}

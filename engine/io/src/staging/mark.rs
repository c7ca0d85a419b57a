//! The marks of files that this program wrote.

/// Words near the beginning or the end of a file.
pub const MARK: &str = "written by inselberg";

/// The root attribute of an HDF5 file, whose value is [`MARK`].
pub const ATTRIBUTE: &str = "written_by";

/// The end of the first line of a text whose layout has no room for words. Readers of columns skip it.
pub const TAB: &str = "\t";

//! The headers of an input as bytes. A rank that has them opens the input without reading headers itself.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};

/// A name that is part of the program.
pub type StaticName = &'static str;

/// The headers of an input and the reader that read them. Only the same program can decode them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFacts {
    /// Whether the input was opened for its particles alone, by the readers of particles.
    pub of_particles: bool,
    /// The index of the reader in its list.
    pub(super) reader: usize,
    /// The headers, as the reader encodes them.
    pub(super) known: Vec<u8>,
}

impl InputFacts {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// From the bytes of [`Self::to_bytes`].
    ///
    /// # Panics
    /// The bytes are not from [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Self {
        decode(bytes)
    }
}

pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).expect("memory takes all bytes");
    bytes
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    ciborium::from_reader(bytes).expect("the same program made these bytes")
}

/// Reads a name. It is leaked: some bytes per input.
pub(super) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<StaticName, D::Error> {
    String::deserialize(from).map(|name| &*name.leak())
}

/// Paths of any bytes.
pub(super) mod path {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_encoded_bytes().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Vec::<u8>::deserialize(from).map(|bytes| name(bytes).into())
    }

    #[cfg(unix)]
    fn name(bytes: Vec<u8>) -> OsString {
        std::os::unix::ffi::OsStringExt::from_vec(bytes)
    }

    #[cfg(not(unix))]
    fn name(bytes: Vec<u8>) -> OsString {
        String::from_utf8_lossy(&bytes).into_owned().into()
    }
}

/// A path as part of a larger value.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OnePath(#[serde(with = "path")] pub std::path::PathBuf);

//! Densities on a mesh.

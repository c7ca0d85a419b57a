//! Symmetric matrices of three rows: their axes, by Jacobi's rotations.

/// Eigenvalues by falling size, and their unit vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrincipalAxes {
    /// The eigenvalues.
    pub value: [f64; 3],
    /// The vector of each.
    pub axis: [[f64; 3]; 3],
}

/// The principal axes of the matrix xx, yy, zz, xy, xz, yz.
pub fn principal_axes(matrix: [f64; 6]) -> PrincipalAxes {
    let [xx, yy, zz, xy, xz, yz] = matrix;
    let mut a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    // Convergence is quadratic; ten sweeps are more than ever needed.
    for _ in 0..10 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            rotate(&mut a, &mut vectors, p, q);
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|i, j| a[*j][*j].total_cmp(&a[*i][*i]));
    PrincipalAxes {
        value: order.map(|i| a[i][i]),
        axis: order.map(|i| [vectors[0][i], vectors[1][i], vectors[2][i]]),
    }
}

/// Makes the element (p, q) zero.
fn rotate(a: &mut [[f64; 3]; 3], vectors: &mut [[f64; 3]; 3], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    let (row_p, row_q) = (a[p], a[q]);
    a[p] = std::array::from_fn(|k| c * row_p[k] - s * row_q[k]);
    a[q] = std::array::from_fn(|k| s * row_p[k] + c * row_q[k]);
    for row in vectors.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    // Exactly, so that later sweeps stop.
    (a[p][q], a[q][p]) = (0.0, 0.0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

        #[test]
        fn axes_make_the_matrix(matrix in prop::array::uniform6(prop_oneof![Just(0.0), -1.0..1.0f64])) {
            let PrincipalAxes { value, axis } = principal_axes(matrix);
            prop_assert!(value[0] >= value[1] && value[1] >= value[2]);
            for (i, (p, q)) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
                let made: f64 = (0..3).map(|k| value[k] * axis[k][p] * axis[k][q]).sum();
                prop_assert!((made - matrix[i]).abs() < 1e-14);
                let product: f64 = (0..3).map(|k| axis[p][k] * axis[q][k]).sum();
                let expected = f64::from(u8::from(p == q));
                prop_assert!((product - expected).abs() < 1e-14);
            }
        }
    }
}

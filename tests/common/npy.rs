//! NumPy arrays by the format's description.

/// An array of numbers of this type, by index; in C order unless `fortran`.
pub fn npy_file(shape: &[usize], fortran: bool, descr: &str, value: impl Fn(&[usize]) -> f64) -> Vec<u8> {
    let mut file = npy_header(shape, fortran, descr);
    for i in 0..shape.iter().product() {
        let (mut at, mut rest) = (vec![0; shape.len()], i);
        let fastest_first: Vec<usize> =
            if fortran { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
        for axis in fastest_first {
            at[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        let number = value(&at);
        match descr {
            "<f8" => file.extend(number.to_le_bytes()),
            "<f4" => file.extend((number as f32).to_le_bytes()),
            ">f8" => file.extend(number.to_be_bytes()),
            ">f4" => file.extend((number as f32).to_be_bytes()),
            "<i2" => file.extend((number as i16).to_le_bytes()),
            "<i8" => file.extend((number as i64).to_le_bytes()),
            ">i4" => file.extend((number as i32).to_be_bytes()),
            other => panic!("{other}"),
        }
    }
    file
}

/// The header before the numbers.
pub fn npy_header(shape: &[usize], fortran: bool, descr: &str) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let sizes: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}\n");
    [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat()
}

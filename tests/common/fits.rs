//! FITS files by the text of the standard (version 4.0): blocks of 2880 bytes, cards of 80 characters,
//! big-endian values.

/// A file that grows part by part.
#[derive(Debug, Default, Clone)]
pub struct FitsFile {
    pub bytes: Vec<u8>,
}

impl FitsFile {
    /// Adds a part: its cards as `KEYWORD = value`, without the first and the last, and its data.
    pub fn part(mut self, cards: &[&str], data: &[u8]) -> Self {
        let first =
            if self.bytes.is_empty() { "SIMPLE  =                    T" } else { "XTENSION= 'IMAGE   '" };
        let is_table = cards.iter().any(|card| card.starts_with("XTENSION"));
        let first = (!is_table).then_some(first);
        for card in first.into_iter().chain(cards.iter().copied()).chain(["END"]) {
            let card = match card.split_once(" = ") {
                Some((keyword, value)) => format!("{keyword:8}= {value}"),
                None => card.to_string(),
            };
            assert!(card.len() <= 80, "{card}");
            self.bytes.extend(format!("{card:80}").bytes());
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(2880), b' ');
        self.bytes.extend(data);
        self.bytes.resize(self.bytes.len().next_multiple_of(2880), 0);
        self
    }

    /// Adds an image of this size. The cards in `further` come after those of its shape.
    pub fn image(self, bits: i64, sizes: &[usize], further: &[&str], data: &[u8]) -> Self {
        let axes: Vec<String> = (1..).zip(sizes).map(|(axis, n)| format!("NAXIS{axis} = {n}")).collect();
        let (bits, n) = (format!("BITPIX = {bits}"), format!("NAXIS = {}", sizes.len()));
        let mut cards: Vec<&str> = vec![&bits, &n];
        cards.extend(axes.iter().map(String::as_str));
        if !self.bytes.is_empty() {
            cards.extend(["PCOUNT = 0", "GCOUNT = 1"]);
        }
        cards.extend(further);
        self.part(&cards, data)
    }
}

/// Numbers of the type that `BITPIX` names.
pub fn encoded(bits: i64, numbers: impl Iterator<Item = f64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for x in numbers {
        match bits {
            8 => bytes.push(x as u8),
            16 => bytes.extend((x as i16).to_be_bytes()),
            32 => bytes.extend((x as i32).to_be_bytes()),
            64 => bytes.extend((x as i64).to_be_bytes()),
            -32 => bytes.extend((x as f32).to_be_bytes()),
            -64 => bytes.extend(x.to_be_bytes()),
            other => panic!("BITPIX {other}"),
        }
    }
    bytes
}

/// An image of 5 x 2 bytes in tiles of one row, packed by hand (RICE_1 in blocks of 3): 5 6 5 5 5 and 9 10 9
/// 9 9.
pub fn packed_sample() -> FitsFile {
    let table =
        ["XTENSION = 'BINTABLE'", "BITPIX = 8", "NAXIS = 2", "NAXIS1 = 8", "NAXIS2 = 2", "PCOUNT = 6"];
    let column = ["GCOUNT = 1", "TFIELDS = 1", "TTYPE1 = 'COMPRESSED_DATA'", "TFORM1 = '1PB(3)'"];
    let image = ["ZIMAGE = T", "ZBITPIX = 8", "ZNAXIS = 2", "ZNAXIS1 = 5", "ZNAXIS2 = 2", "ZTILE1 = 5"];
    let how = [
        "ZTILE2 = 1",
        "ZCMPTYPE= 'RICE_1'",
        "ZNAME1 = 'BLOCKSIZE'",
        "ZVAL1 = 3",
        "ZNAME2 = 'BYTEPIX'",
        "ZVAL2 = 1",
    ];
    // Counts and places of the lists of both tiles, then the lists.
    let rows = [3_i32, 0, 3, 3].map(i32::to_be_bytes).concat();
    let lists = [0b0000_0101, 0b0011_0010, 0b1000_0000, 0b0000_1001, 0b0011_0010, 0b1000_0000];
    FitsFile::default()
        .part(&["BITPIX = 8", "NAXIS = 0"], &[])
        .part(&[&table[..], &column, &image, &how].concat(), &[&rows[..], &lists].concat())
}

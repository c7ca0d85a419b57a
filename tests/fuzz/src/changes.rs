//! Changes to a sound file, read from the bytes that libFuzzer mutates.
//!
//! Most of them know what the file is made of: they replace a number by another, lengthen a record with both
//! of its markers, drop or repeat a record or a line. So files stay readable and what is tested is their
//! content.

/// Takes numbers from the front of what libFuzzer made; zeros after its end.
pub struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_done(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (now, later) = self.0.split_at(N.min(self.0.len()));
        self.0 = later;
        std::array::from_fn(|i| now.get(i).copied().unwrap_or(0))
    }

    /// A number below `n`; 0 where `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        let word = u32::from_le_bytes(self.bytes()) as usize;
        if n == 0 { 0 } else { word % n }
    }
}

/// At most this many changes at a time: the first that matters ends the reading.
const MOST: usize = 6;

/// Changes a file of Fortran records.
pub fn change_records(file: &[u8], script: &mut Script) -> Vec<u8> {
    let Some(mut records) = crate::plain::records(file) else { return change_bytes(file, script) };
    for _ in 0..MOST {
        if script.is_done() || records.is_empty() {
            break;
        }
        let [kind] = script.bytes();
        let at = script.below(records.len());
        change_record(&mut records, kind, at, script);
    }
    let mut file = written(&records, script);
    if let [1..=63] = script.bytes() {
        file = change_bytes(&file, script);
    }
    file
}

fn change_record(records: &mut Vec<Vec<u8>>, kind: u8, at: usize, script: &mut Script) {
    let n = records[at].len();
    match kind % 8 {
        0 | 1 => put(&mut records[at], 4 * script.below(n.div_ceil(4)), &script.bytes::<4>()),
        2 | 3 => put(&mut records[at], 8 * script.below(n.div_ceil(8)), &script.bytes::<8>()),
        4 => {
            let (place, [bits]) = (script.below(n), script.bytes());
            records[at].iter_mut().skip(place).take(1).for_each(|byte| *byte ^= bits);
        }
        5 => records[at].resize(script.below(2 * n + 16), script.bytes::<1>()[0]),
        6 => drop(records.remove(at)),
        _ => {
            let (from, to) = (records[at].clone(), script.below(records.len()));
            records.insert(to, from);
        }
    }
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    bytes.iter_mut().skip(at).zip(new).for_each(|(byte, new)| *byte = *new);
}

/// Records as Fortran writes them, now and then in parts, as it does beyond 2 GiB.
fn written(records: &[Vec<u8>], script: &mut Script) -> Vec<u8> {
    let part = match script.bytes() {
        [1..=15] => 1 + script.below(64),
        _ => usize::MAX,
    };
    let mut file = Vec::new();
    for record in records {
        let parts: Vec<&[u8]> = if record.is_empty() { vec![&[]] } else { record.chunks(part).collect() };
        for (i, part) in parts.iter().enumerate() {
            let n = part.len() as i32;
            file.extend(if i + 1 < parts.len() { -n } else { n }.to_le_bytes());
            file.extend(*part);
            file.extend(if i > 0 { -n } else { n }.to_le_bytes());
        }
    }
    file
}

/// Changes a file of which nothing is known.
pub fn change_bytes(file: &[u8], script: &mut Script) -> Vec<u8> {
    let mut file = file.to_vec();
    for _ in 0..MOST {
        if script.is_done() {
            break;
        }
        let [kind] = script.bytes();
        let at = script.below(file.len());
        match kind % 8 {
            0 => put(&mut file, at, &script.bytes::<1>()),
            1 => put(&mut file, at, &script.bytes::<2>()),
            2 => put(&mut file, at, &script.bytes::<4>()),
            3 => put(&mut file, at, &script.bytes::<8>()),
            4 => file.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (kind >> 5)),
            5 => file.truncate(at),
            6 => drop(file.drain(at..(at + script.below(64)).min(file.len()))),
            _ => drop(file.splice(at..at, script.bytes::<4>())),
        }
    }
    file
}

/// Changes a text: lines go, come twice or get other words; then perhaps bytes.
pub fn change_text(file: &[u8], script: &mut Script) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = file.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..MOST {
        if script.is_done() || lines.is_empty() {
            break;
        }
        let [kind] = script.bytes();
        let at = script.below(lines.len());
        match kind % 4 {
            0 => drop(lines.remove(at)),
            1 => {
                let (line, to) = (lines[at].clone(), script.below(lines.len()));
                lines.insert(to, line);
            }
            2 => replace_word(&mut lines[at], script),
            _ => lines[at] = change_bytes(&lines[at], script),
        }
    }
    let file = lines.concat();
    if let [1..=31] = script.bytes() { change_bytes(&file, script) } else { file }
}

/// Replaces a word by what stands in the script up to a zero, eight bytes at most.
fn replace_word(line: &mut Vec<u8>, script: &mut Script) {
    let is_part = |b: &u8| !b.is_ascii_whitespace() && !b"=,:[]".contains(b);
    let starts: Vec<usize> =
        (0..line.len()).filter(|&i| is_part(&line[i]) && (i == 0 || !is_part(&line[i - 1]))).collect();
    let Some(&start) = starts.get(script.below(starts.len())) else { return };
    let end = (start..line.len()).find(|&i| !is_part(&line[i])).unwrap_or(line.len());
    let new: Vec<u8> = script.bytes::<8>().into_iter().take_while(|b| *b != 0).collect();
    line.splice(start..end, new);
}

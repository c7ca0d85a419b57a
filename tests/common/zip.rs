//! Zip files by the format's description, for arrays by name.

/// A member: its name, its bytes, and whether they are deflated, in blocks that are stored.
pub struct Member<'a> {
    pub name: &'a str,
    pub bytes: Vec<u8>,
    pub is_deflated: bool,
}

/// A zip file of these members.
pub fn zip_file(members: &[Member]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for Member { name, bytes, is_deflated } in members {
        let packed = if *is_deflated { deflated(bytes) } else { bytes.clone() };
        let mut about = Vec::new();
        about.extend([20, 0, 0, 0, if *is_deflated { 8 } else { 0 }, 0, 0, 0, 0, 0]);
        about.extend(crc(bytes).to_le_bytes());
        about.extend((packed.len() as u32).to_le_bytes());
        about.extend((bytes.len() as u32).to_le_bytes());
        about.extend((name.len() as u16).to_le_bytes());
        about.extend([0, 0]);
        directory.extend([b"PK\x01\x02\x14\x00", &about[..], &[0; 10]].concat());
        directory.extend((file.len() as u32).to_le_bytes());
        directory.extend(name.bytes());
        file.extend([b"PK\x03\x04", &about[..], name.as_bytes(), &packed].concat());
    }
    let (at, n) = (file.len() as u32, (members.len() as u16).to_le_bytes());
    file.extend(&directory);
    file.extend([b"PK\x05\x06\x00\x00\x00\x00", &n[..], &n].concat());
    file.extend((directory.len() as u32).to_le_bytes());
    file.extend([&at.to_le_bytes()[..], &[0, 0]].concat());
    file
}

/// Deflate without compression: blocks of at most 100 bytes, so that there are several.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let n = bytes.chunks(100).count();
    for (i, block) in bytes.chunks(100).enumerate() {
        packed.push(u8::from(i + 1 == n));
        packed.extend((block.len() as u16).to_le_bytes());
        packed.extend((!(block.len() as u16)).to_le_bytes());
        packed.extend(block);
    }
    packed
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

//! Images of labels as FITS: one 32-bit integer per pixel, 0 for none.

use crate::catalogue::WriteResult;
use crate::fits_cards::{BLOCK, Cards};
use crate::staging::mark::MARK;
use crate::staging::{Staged, stage_file};
use std::io;
use std::path::Path;

/// Stages an image with these axes, the fastest first. `coordinates` are further cards of its header. `next`
/// gives the labels part by part, in the order of the file; it is called to its end, whatever happens.
///
/// # Errors
/// The place cannot be written, or `next` fails.
pub fn stage_label_image(
    path: &Path,
    sizes: &[usize],
    coordinates: &Cards,
    what: &str,
    next: &mut dyn FnMut() -> io::Result<Option<Vec<i32>>>,
) -> WriteResult<Staged> {
    stage_file(path, |out| {
        let mut cards = Cards::new();
        cards.value("SIMPLE", "T");
        cards.value("BITPIX", 32);
        cards.value("NAXIS", sizes.len());
        (1..).zip(sizes).for_each(|(axis, n): (usize, _)| cards.value(&format!("NAXIS{axis}"), n));
        cards.extend(coordinates);
        cards.text("BTYPE", what);
        cards.text("CREATOR", MARK);
        let mut written = cards.write(out);
        let mut n = 0;
        while let Some(labels) = next()? {
            n += labels.len();
            let bytes = || labels.iter().flat_map(|label| label.to_be_bytes()).collect::<Vec<u8>>();
            written = written.and_then(|()| out.write_all(&bytes()));
        }
        let length = 4 * n;
        written.and_then(|()| out.write_all(&vec![0; length.next_multiple_of(BLOCK) - length]))
    })
}

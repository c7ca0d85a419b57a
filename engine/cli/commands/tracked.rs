//! Does a catalogue follow from the one before it?

use inselberg::TrackParams;
use inselberg::tracks::{DIGEST, DIGEST_BEFORE};
use inselberg_io::catalogue::{Attribute, attributes_if_whole};

/// Whether a catalogue with these attributes goes on from the tracks that its search would go on from now.
pub fn follows(tracks: &TrackParams, attributes: &[(String, Attribute)]) -> bool {
    if !tracks.on {
        return true;
    }
    let state = match &tracks.last_catalogue {
        None => Some("none".to_string()),
        Some(last) => text(&attributes_if_whole(last).unwrap_or_default(), DIGEST),
    };
    state.is_some() && state == text(attributes, DIGEST_BEFORE)
}

fn text(attributes: &[(String, Attribute)], wanted: &str) -> Option<String> {
    attributes.iter().find_map(|(name, value)| match value {
        Attribute::Text(text) if name == wanted => Some(text.clone()),
        _ => None,
    })
}

//! stub
/// stub
pub fn target(_: &[u8]) {}

//! The repair stage and feed-rs must say the same about every fixture.

use std::fs;
use std::path::Path;

use super::read;
use crate::decode::decode;
use crate::feed::{MAX_DOCUMENT_BYTES, read_document};

#[test]
fn feed_rs_finds_in_the_repaired_document_what_was_put_there() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/feeds");
    let mut compared = 0;
    for folder in fs::read_dir(fixtures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        let Ok(files) = fs::read_dir(&folder) else {
            continue;
        };
        for file in files.map(|entry| entry.unwrap().path()) {
            let bytes = fs::read(&file).unwrap();
            let document = decode(&bytes, None, MAX_DOCUMENT_BYTES)
                .and_then(|decoded| read_document(decoded, None, ""));
            if let Ok(document) = document {
                assert_eq!(
                    read(document.clone()).unwrap(),
                    document,
                    "{}",
                    file.display()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "only {compared} were compared");
}

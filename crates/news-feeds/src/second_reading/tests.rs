//! The repair stage and feed-rs must say the same about every fixture.

use std::fs;
use std::path::Path;

use super::{parsed, read};
use crate::decode::decode;
use crate::error::FeedError;
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

/// The repair stage writes nothing of the kind: this is for the day when feed-rs takes less.
#[test]
fn what_feed_rs_does_not_take_is_refused_in_its_words() {
    for text in [
        "",
        "<rss version=\"2.0\"></rss>",
        "<rss version=\"2.0\"><channel><item></channel></rss>",
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry>",
        "{\"version\":\"https://jsonfeed.org/version/2\",\"title\":\"\",\"items\":[]}",
        "{\"version\":\"https://jsonfeed.org/version/1.1\"}",
    ] {
        let error = parsed(text).unwrap_err();
        assert!(
            matches!(&error, FeedError::Refused { detail } if !detail.is_empty()),
            "{text}: {error:?}"
        );
        assert!(
            error.to_string().starts_with("not readable as a feed ("),
            "{error}"
        );
    }
}

//! Which error a document is refused with; the expectations beside the fixtures hold the words.

use news_feeds::{FeedError, parse_feed};

use crate::Case;

fn refused(fixture: &str) -> FeedError {
    let case = Case::named(fixture);
    case.parse(&case.documents()[0]).unwrap_err()
}

#[test]
fn a_document_that_is_empty_or_damaged_is_told_from_one_that_is_cut_off() {
    let error = refused("blank-document");
    assert!(matches!(error, FeedError::Empty), "{error:?}");
    let error = refused("damaged-gzip");
    assert!(
        matches!(&error, FeedError::Compression { detail } if !detail.is_empty()),
        "{error:?}"
    );
    let error = refused("cut-off-before-the-first-entry");
    assert!(matches!(error, FeedError::CutOff), "{error:?}");
    let head = br#"{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[{"id":"#;
    let error = parse_feed(head, None, None).unwrap_err();
    assert!(matches!(error, FeedError::CutOff), "{error:?}");
}

#[test]
fn what_is_no_feed_is_told_by_its_kind_and_its_content_type() {
    for (fixture, kind) in [
        ("challenge-page", "application/rss+xml"),
        ("error-page", "text/html"),
    ] {
        let error = refused(fixture);
        assert!(
            matches!(&error, FeedError::HtmlPage { root, content_type }
                if root == "html" && content_type == kind),
            "{error:?}"
        );
    }
    let error = refused("sitemap");
    assert!(
        matches!(&error, FeedError::OtherXml { root, content_type }
            if root == "urlset" && content_type == "application/xml"),
        "{error:?}"
    );
    let error = refused("json-api-answer");
    assert!(
        matches!(&error, FeedError::OtherJson { content_type, .. }
            if content_type == "application/json"),
        "{error:?}"
    );
    let error = refused("plain-text-answer");
    assert!(
        matches!(&error, FeedError::NoMarkup { content_type, start }
            if content_type == "text/plain" && start.starts_with("Rate limit exceeded.")),
        "{error:?}"
    );
}

//! The report of `feeds inspect --json`, member for member.

use news_feeds::FeedReport;

use crate::Case;

#[test]
fn the_report_has_the_documented_shape() {
    for name in ["no-version", "permalink-guid", "atom-xhtml"] {
        let feed = &Case::named(name).feeds()[0];
        insta::assert_json_snapshot!(format!("feed-report-{name}"), FeedReport::from(feed));
    }
}

//! What the crate makes of every file under `fixtures/feeds`, `fixtures/links`, `fixtures/dates`.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests may panic"
)]

mod expectations;
mod fetching;
mod hostile;
mod inspecting;
mod recorded;
mod refusals;
mod selection;

use std::fs;
use std::path::{Path, PathBuf};

use news_feeds::{Feed, FeedError};
use serde_json::Value;

pub(crate) fn fixtures(kind: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures")
        .join(kind)
}

pub(crate) fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A folder of `fixtures/feeds`: documents and what is expected of them.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) expect: Value,
    folder: PathBuf,
}

impl Case {
    pub(crate) fn all() -> Vec<Case> {
        let mut cases: Vec<Case> = fs::read_dir(fixtures("feeds"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .map(Case::load)
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        assert!(
            cases.len() > 20,
            "the fixtures are not where they should be"
        );
        cases
    }

    pub(crate) fn named(name: &str) -> Case {
        Case::load(fixtures("feeds").join(name))
    }

    fn load(folder: PathBuf) -> Case {
        Case {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            expect: json(&folder.join("expect.json")),
            folder,
        }
    }

    pub(crate) fn documents(&self) -> &[Value] {
        self.expect["documents"].as_array().unwrap()
    }

    pub(crate) fn bytes(&self, document: &Value) -> Vec<u8> {
        fs::read(self.folder.join(document["file"].as_str().unwrap())).unwrap()
    }

    pub(crate) fn parse(&self, document: &Value) -> Result<Feed, FeedError> {
        let fetch = &self.expect["fetch"];
        news_feeds::parse_feed(
            &self.bytes(document),
            fetch["content_type"].as_str(),
            fetch["final_url"].as_str(),
        )
    }

    /// All documents, which must be feeds.
    pub(crate) fn feeds(&self) -> Vec<Feed> {
        self.documents()
            .iter()
            .map(|document| self.parse(document).unwrap())
            .collect()
    }
}

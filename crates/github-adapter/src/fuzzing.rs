//! The readers of answers for the fuzz targets, without the network. Not part of the interface.

use forge_http::Refusal;
use forge_http::answers::Listed;
use http_client::{AtMost, Secret};
use serde_json::value::RawValue;
use url::Url;

use crate::answers::{self, Proof};
use crate::pages::Links;
use crate::refusals;

/// Reads an answer as everything that it could be the answer to. Gives the texts for people that
/// came of it.
///
/// # Panics
/// When what was read is not what it should be.
pub fn answer(body: &[u8], status: u16, header: &str, token: &Secret) -> Vec<String> {
    let mut texts = Vec::new();
    let AtMost(items): Listed = serde_json::from_slice(body).unwrap_or_default();
    for (index, item) in items.iter().enumerate() {
        match answers::listed_pull(item, index + 1) {
            Ok(pull) => assert!(answers::is_commit(&pull.head_sha)),
            Err(why) => texts.push(why),
        }
    }
    let _name = answers::base_repo_name(&items);
    texts.extend(answers::newest_label_event(&items, "openhands-review").err());
    let proof = Proof {
        login: "octocat",
        head_sha: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
        since: 0.0,
    };
    let _review = answers::published_review(&items, &proof);
    let _comment = answers::marked_comment(&items, "octocat", "<!-- mark -->");
    if let Ok(value) = serde_json::from_slice::<Box<RawValue>>(body) {
        match answers::pull_details(&value) {
            Ok(details) => assert!(answers::is_commit(&details.pull.head_sha)),
            Err(why) => texts.push(why),
        }
        texts.extend(answers::posted_comment(&value).err());
        texts.extend(answers::user(&value).err());
        let _viewer = answers::viewer(&value);
        texts.extend(answers::full_name(&value).err());
        texts.extend(answers::access(&value).err());
    }
    if let (Ok(home), Ok(base)) = (
        Url::parse("https://api.github.com"),
        Url::parse("https://api.github.com/repositories/7/pulls?page=2"),
    ) {
        match Links::read(Some(header), &base, &home) {
            Ok(links) => {
                let all = [&links.next, &links.prev, &links.first, &links.last];
                let away = all
                    .into_iter()
                    .flatten()
                    .find(|url| url.origin() != home.origin());
                assert!(away.is_none(), "the token would go to {away:?}");
            }
            Err(why) => texts.push(why),
        }
    }
    let refusal = Refusal {
        call: "GET /repos/acme/widget".to_owned(),
        status,
        header: &|_| Some(header.to_owned()),
        body,
        token,
    };
    texts.push(refusals::read(&refusal).to_string());
    texts
}

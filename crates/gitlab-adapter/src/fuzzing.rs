//! The readers of answers for the fuzz targets, without the network. Not part of the interface.

use forge_http::Refusal;
use forge_http::answers::Listed;
use http_client::{AtMost, Secret};
use serde_json::value::RawValue;
use url::Url;

use crate::answers;
use crate::pages;
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
        match answers::listed_issue(item, index + 1) {
            Ok(issue) => {
                let _carries = answers::carries(&issue, "openhands");
            }
            Err(why) => texts.push(why),
        }
        texts.extend(answers::merge_request(item).err());
    }
    texts.extend(answers::newest_label_event(&items, "openhands").err());
    let _spelling = answers::spelling(&items, "openhands");
    let _note = answers::marked_note(&items, "project_bot", "<!-- mark -->", 0.0);
    if let Ok(value) = serde_json::from_slice::<Box<RawValue>>(body) {
        texts.extend(answers::issue(&value).err());
        texts.extend(answers::project(&value, "group/team/service").err());
        texts.extend(answers::membership(&value).err());
        texts.extend(answers::is_merge_base(&value, "abc").err());
        match answers::identity(&value, "git.example.com") {
            Ok(identity) => {
                for part in [&identity.name, &identity.email] {
                    let line = !part.contains(|c: char| c.is_control() || "<>".contains(c));
                    assert!(line, "git cannot write {part:?} into a commit");
                }
            }
            Err(why) => texts.push(why),
        }
    }
    if let Ok(base) = Url::parse("https://git.example.com/gitlab/api/v4/projects/7/issues?page=2") {
        for next in [
            pages::next(&base, Some(header), None),
            pages::next(&base, None, Some(header)),
        ] {
            let stays = next
                .as_ref()
                .is_none_or(|next| next.origin() == base.origin() && next.path() == base.path());
            assert!(stays, "the token would go to {next:?}");
        }
    }
    let refusal = Refusal {
        call: "GET /projects/7".to_owned(),
        status,
        header: &|_| None,
        body,
        token,
    };
    texts.push(refusals::read(&refusal).to_string());
    texts
}

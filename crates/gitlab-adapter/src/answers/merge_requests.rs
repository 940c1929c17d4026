//! Merge requests and what they are compared by.

use forge_http::answers::read;
use lifecycle::ports::MergeRequest;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Account;

/// One merge request. Nothing of a list of them may be passed over: one that is missed is opened a
/// second time.
pub(crate) fn merge_request(value: &RawValue) -> Result<MergeRequest, String> {
    #[derive(Deserialize)]
    #[serde(expecting = "a merge request")]
    struct MergeRequestWire {
        iid: u64,
        state: String,
        source_branch: String,
        source_project_id: Option<u64>,
        target_project_id: Option<u64>,
        web_url: Option<String>,
        created_at: Option<String>,
        sha: Option<String>,
        author: Option<Account>,
        description: Option<String>,
    }
    let wire: MergeRequestWire = read(value)?;
    Ok(MergeRequest {
        iid: wire.iid,
        web_url: wire.web_url.unwrap_or_default(),
        state: wire.state,
        created_at: wire.created_at.unwrap_or_default(),
        source_branch: wire.source_branch,
        // The source is null once the fork is deleted.
        same_project: wire.source_project_id.is_some()
            && wire.source_project_id == wire.target_project_id,
        sha: wire.sha.filter(|sha| !sha.is_empty()),
        author: wire.author.map(|author| author.username),
        description: wire.description.unwrap_or_default(),
    })
}

/// Whether an answer about the best common ancestor names `commit`.
pub(crate) fn is_merge_base(value: &RawValue, commit: &str) -> Result<bool, String> {
    #[derive(Deserialize)]
    struct CommitWire {
        id: String,
    }
    Ok(read::<CommitWire>(value)?.id.eq_ignore_ascii_case(commit))
}

//! Names of the branches that work goes to.

use super::IssuePolicy;
use crate::document::{Document, Field};
use crate::identity;
use crate::ports::{Clones, ForgeError, IssueForge};

/// `{prefix}-{iid}`, then `-2` to this.
pub(super) const LAST_SUFFIX: u32 = 11;

impl<F: IssueForge, G: Clones> IssuePolicy<'_, F, G> {
    /// The first name for an issue's work.
    pub(super) fn branch_name(&self, iid: u64) -> String {
        format!(
            "{}-{iid}",
            self.settings.branch_prefix.trim_end_matches(['-', '/'])
        )
    }

    /// The first name that is free: no branch, no merge request ever opened from it, and not
    /// promised to another task of ours that has not pushed yet.
    pub(super) async fn free_branch(
        &self,
        iid: u64,
        task: &str,
        document: &Document,
    ) -> Result<Option<String>, ForgeError> {
        let first = self.branch_name(iid);
        let promised: Vec<String> = document
            .records()
            .filter(|(other, record)| {
                *other != task
                    && identity::parse_label_task(other).is_some_and(|(n, _)| n == iid)
                    && record.get(Field::Branch).is_some()
            })
            .filter_map(|(_, record)| record.text(Field::Branch).map(str::to_owned))
            .collect();
        for suffix in 1..=LAST_SUFFIX {
            let name = if suffix == 1 {
                first.clone()
            } else {
                format!("{first}-{suffix}")
            };
            if promised.contains(&name) || self.forge.branch_exists(&name).await? {
                continue;
            }
            if self.forge.merge_requests(&name).await?.is_empty() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }
}

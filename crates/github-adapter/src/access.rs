//! What the token is and may see, for people who set an automation up. A poll never asks this.

use forge_http::unusable;
use lifecycle::ports::ForgeError;

use crate::answers;
use crate::forge::GitHub;
use crate::refusals::hidden;

/// A repository as the token sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Owner and name as they are now.
    pub full_name: String,
    /// Archived repositories take no comments.
    pub archived: bool,
    /// The greatest role that GitHub states for the token's user (`admin`, `maintain`, `write`,
    /// `triage`, `read`); `None` where it states none. A token of narrow scope may do less.
    pub role: Option<&'static str>,
}

impl GitHub {
    /// The login of the token's own user.
    ///
    /// # Errors
    /// [`ForgeError`], when the token is not accepted or nobody answers.
    pub async fn login(&self) -> Result<String, ForgeError> {
        let login = self.viewer.login(&self.caller, &self.requests).await?;
        Ok(login.to_owned())
    }

    /// The repository itself.
    ///
    /// # Errors
    /// [`ForgeError`], when the token cannot see it or nobody answers.
    pub async fn access(&self) -> Result<Access, ForgeError> {
        let ask = self.requests.repository();
        let body = self.caller.object(&ask).await.map_err(hidden)?;
        answers::access(&body).map_err(|why| unusable(&ask, &why))
    }

    /// Whether the repository has a label of that name (compared without case).
    ///
    /// # Errors
    /// [`ForgeError`], when nobody can say.
    pub async fn has_label(&self, name: &str) -> Result<bool, ForgeError> {
        match self.caller.object(&self.requests.label(name)).await {
            Ok(_) => Ok(true),
            Err(ForgeError::NotFound { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }
}

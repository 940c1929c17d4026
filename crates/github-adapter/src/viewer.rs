//! Who the token belongs to: only what that account wrote counts as ours.
//!
//! `GET /user` answers for every token of a person. Tokens of an app (installation tokens) may not
//! ask it; for them GraphQL's `viewer` names the app's bot. Where neither says, nothing can be
//! confirmed, and the error says so: taking any bot's word would let another bot's review count as
//! ours.

use forge_http::{Caller, unusable};
use lifecycle::ports::ForgeError;
use tokio::sync::OnceCell;

use crate::answers;
use crate::requests::Requests;

/// The login of the token's own user, asked once.
#[derive(Default)]
pub(crate) struct Viewer {
    login: OnceCell<String>,
}

impl Viewer {
    pub(crate) async fn login(
        &self,
        caller: &Caller,
        requests: &Requests,
    ) -> Result<&str, ForgeError> {
        let login = self.login.get_or_try_init(|| ask(caller, requests)).await?;
        Ok(login)
    }
}

async fn ask(caller: &Caller, requests: &Requests) -> Result<String, ForgeError> {
    let user = requests.user();
    let refused = match caller.object(&user).await {
        Ok(body) => return answers::user(&body).map_err(|why| unusable(&user, &why)),
        Err(refused @ (ForgeError::NoAccess { .. } | ForgeError::NotFound { .. })) => refused,
        Err(other) => return Err(other),
    };
    let named = match caller.object(&requests.viewer()).await {
        Ok(body) => answers::viewer(&body),
        Err(error @ (ForgeError::Limited { .. } | ForgeError::Unavailable { .. })) => {
            return Err(error);
        }
        Err(_) => None,
    };
    named.ok_or_else(|| ForgeError::NoAccess {
        call: user.call(),
        detail: format!(
            "it cannot be told whose token this is, so nothing can be recognised as its own ({refused}); use a personal access token"
        ),
    })
}

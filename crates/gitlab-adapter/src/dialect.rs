//! How GitLab is spoken to: the token, and pages of at most so many bytes.

use forge_http::Dialect;
use http_client::{Request, Secret};

use crate::refusals;

pub(crate) static DIALECT: Dialect = Dialect {
    service: "GitLab",
    // Descriptions may have a million characters each.
    max_bytes: 128 * 1024 * 1024,
    sign,
    refused: refusals::read,
};

fn sign(request: Request, token: &Secret) -> Request {
    request.credential("private-token", token.clone())
}

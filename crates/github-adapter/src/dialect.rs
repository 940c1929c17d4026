//! How GitHub is spoken to: the token, the version of the API, and pages of at most so many bytes.

use forge_http::Dialect;
use http_client::{Request, Secret};

use crate::refusals;

/// The version of the API that this adapter speaks.
const API_VERSION: &str = "2022-11-28";

pub(crate) static DIALECT: Dialect = Dialect {
    service: "GitHub",
    // A hundred descriptions of the greatest length fit.
    max_bytes: 64 * 1024 * 1024,
    sign,
    refused: refusals::read,
};

fn sign(request: Request, token: &Secret) -> Request {
    let bearer = Secret::new(format!("Bearer {}", token.expose()));
    request
        .header("x-github-api-version", API_VERSION)
        .credential("authorization", bearer)
}

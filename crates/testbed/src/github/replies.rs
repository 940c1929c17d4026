//! The parts that all of GitHub's answers share: errors in its words, `ETag` with its 304, and the
//! `Link` header.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::commits::hex;
use crate::rest::{Ask, Reply};

/// An error as GitHub words it; `doc` is the path below its documentation.
pub(super) fn error(status: u16, message: &str, doc: &str) -> Reply {
    let body = json!({
        "message": message,
        "documentation_url": format!("https://docs.github.com{doc}"),
        "status": status.to_string(),
    });
    Reply::json(status, body)
}

/// Not there, or not to be known.
pub(super) fn not_found() -> Reply {
    error(404, "Not Found", "/rest")
}

/// 422 with errors about fields, as calls about issues give it.
pub(super) fn invalid_field(resource: &str, field: &str, message: &str, doc: &str) -> Reply {
    let body = json!({
        "message": "Validation Failed",
        "errors": [{
            "resource": resource, "code": "unprocessable", "field": field, "message": message,
        }],
        "documentation_url": format!("https://docs.github.com{doc}"),
        "status": "422",
    });
    Reply::json(422, body)
}

/// 422 with errors as plain text, as calls about reviews give it.
pub(super) fn unprocessable(message: &str, doc: &str) -> Reply {
    let body = json!({
        "message": "Unprocessable Entity",
        "errors": [message],
        "documentation_url": format!("https://docs.github.com{doc}"),
        "status": "422",
    });
    Reply::json(422, body)
}

/// A page of a list with its `Link` header. `address` is the address of the list without a query;
/// GitHub writes it by the number of the repository, not by its name.
pub(super) fn page(ask: &Ask, address: &str, items: Vec<Value>) -> Reply {
    let (page, size) = ask.page(30);
    let last = items.len().div_ceil(size).max(1);
    let mut links = Vec::new();
    let mut link = |page: usize, relation: &str| {
        links.push(format!(
            "<{address}?{}>; rel=\"{relation}\"",
            ask.query_for_page(page)
        ));
    };
    if page > 1 {
        link(page - 1, "prev");
    }
    if page < last {
        link(page + 1, "next");
        link(last, "last");
    }
    if page > 1 {
        link(1, "first");
    }
    let shown = items
        .into_iter()
        .skip((page - 1) * size)
        .take(size)
        .collect();
    let reply = Reply::json(200, Value::Array(shown));
    if links.is_empty() {
        reply
    } else {
        reply.header("link", links.join(", "))
    }
}

/// Adds the `ETag` of a 200, or turns it into a 304 if the caller has that version already.
pub(super) fn conditional(ask: &Ask, reply: Reply) -> Reply {
    if reply.status != 200 || !ask.reads() {
        return reply;
    }
    let (_, bytes) = reply.body("");
    let tag = format!("W/\"{}\"", hex(&Sha256::digest(&bytes), 64));
    let known = ask.header("if-none-match").is_some_and(|known| {
        known == "*"
            || known
                .split(',')
                .any(|one| one.trim() == tag || one.trim() == &tag[2..])
    });
    let mut reply = if known {
        let headers = reply.headers;
        Reply {
            headers,
            ..Reply::empty(304)
        }
    } else {
        reply
    };
    reply.headers.push(("etag".to_owned(), tag));
    reply.headers.push((
        "cache-control".to_owned(),
        "private, max-age=60, s-maxage=60".to_owned(),
    ));
    reply.header("vary", "Accept, Authorization, Cookie, X-GitHub-OTP")
}

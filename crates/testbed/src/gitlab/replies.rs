//! The parts that all of GitLab's answers share: errors in its words, pages with their headers, and
//! `ETag` with its 304.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::model::Model;
use crate::coding::encode;
use crate::rest::{Ask, Reply};

/// An error with a `message`, which may be text, a list or errors by field.
pub(super) fn error(status: u16, message: impl Into<Value>) -> Reply {
    Reply::json(status, json!({"message": message.into()}))
}

/// Something is not there, or not to be known.
pub(super) fn not_found(what: &str) -> Reply {
    let what = if what.is_empty() {
        "Not found".to_owned()
    } else {
        format!("{what} Not Found")
    };
    error(404, format!("404 {what}"))
}

/// The caller may not do that.
pub(super) fn forbidden() -> Reply {
    error(403, "403 Forbidden")
}

/// Members that a request must have and has not.
pub(super) fn missing(body: &Value, names: &[&str]) -> Option<Reply> {
    let absent = |name: &&&str| body.get(**name).is_none_or(Value::is_null);
    let absent: Vec<String> = names
        .iter()
        .filter(absent)
        .map(|name| format!("{name} is missing"))
        .collect();
    (!absent.is_empty()).then(|| Reply::json(400, json!({"error": absent.join(", ")})))
}

/// A page of a list with its headers. Lengths are told only if the instance tells them; the `Link`
/// header names the project by number and repeats it as `id`, as GitLab's does.
pub(super) fn page(model: &Model, ask: &Ask, project: u64, rest: &str, items: Vec<Value>) -> Reply {
    let (page, size) = ask.page(20);
    let total = items.len();
    let last = total.div_ceil(size).max(1);
    let address = format!("{}/projects/{project}/{rest}", model.api());
    let mut links = Vec::new();
    let mut link = |page: usize, relation: &str| {
        let query = ask.query_for_page(page);
        links.push(format!(
            "<{address}?id={project}&{query}>; rel=\"{relation}\""
        ));
    };
    if page > 1 {
        link(page - 1, "prev");
    }
    if page < last {
        link(page + 1, "next");
    }
    link(1, "first");
    if model.totals {
        link(last, "last");
    }
    let number = |there: bool, page: usize| {
        if there {
            page.to_string()
        } else {
            String::new()
        }
    };
    let shown = items
        .into_iter()
        .skip((page - 1) * size)
        .take(size)
        .collect();
    let mut reply = Reply::json(200, Value::Array(shown))
        .header("link", links.join(", "))
        .header("x-page", page.to_string())
        .header("x-per-page", size.to_string())
        .header("x-next-page", number(page < last, page + 1))
        .header("x-prev-page", number(page > 1, page - 1));
    if model.totals {
        reply = reply
            .header("x-total", total.to_string())
            .header("x-total-pages", last.to_string());
    }
    reply
}

/// Adds the `ETag` of a 200, or turns it into a 304 if the caller has that version already.
pub(super) fn conditional(ask: &Ask, reply: Reply) -> Reply {
    if reply.status != 200 || !ask.reads() {
        return reply;
    }
    let (_, bytes) = reply.body("");
    let digest = Sha256::digest(&bytes);
    let tag: String = digest
        .iter()
        .take(16)
        .map(|byte| encode(&byte.to_string()))
        .collect();
    let tag = format!("W/\"{tag}\"");
    let known = ask
        .header("if-none-match")
        .is_some_and(|known| known.contains(&tag));
    let reply = if known {
        Reply {
            headers: reply.headers,
            ..Reply::empty(304)
        }
    } else {
        reply
    };
    reply
        .header("etag", tag)
        .header("cache-control", "max-age=0, private, must-revalidate")
}

//! Files and archives of a repository: the contents API and the redirect to the download host.

use serde_json::{Value, json};

use super::model::{Model, Repo};
use super::replies::{error, not_found};
use crate::coding::{base64, encode};
use crate::rest::{Ask, Reply};
use crate::tree::Entry;

/// 302 to the download host with a token for it in the address. A commit that does not exist is a
/// 404 there, not here, unless the name is no commit id at all.
pub(super) fn tarball(model: &mut Model, id: u64, reference: Option<&str>) -> Reply {
    let token = format!("ONETIME{}", model.requests);
    let Some(repo) = model.repos.get(&id) else {
        return not_found();
    };
    let sha = match repo.resolve(reference) {
        Some(sha) => sha,
        None if reference.is_some_and(|name| repo.archives.contains_key(name)) => {
            reference.unwrap_or_default()
        }
        None => return not_found(),
    };
    let location = format!(
        "{}/{}/legacy.tar.gz/{sha}?token={token}",
        model.codeload,
        repo.full_name()
    );
    model.downloads.insert(token, id);
    Reply::empty(302)
        .header("location", location)
        .header("cache-control", "max-age=0, private")
}

/// A file, or the list of a directory, at the commit that `ref` names.
pub(super) fn read(model: &Model, ask: &Ask, repo: &Repo, path: &str) -> Reply {
    let reference = ask.query("ref");
    let Some(sha) = repo.resolve(reference) else {
        let message = format!(
            "No commit found for the ref {}",
            reference.unwrap_or_default()
        );
        return error(404, &message, "/v3/repos/contents/");
    };
    let tree = repo.tree(sha);
    let path = path.trim_matches('/');
    if let Some(entry) = tree.get(path) {
        let accept = ask.header("accept").unwrap_or_default();
        return match entry {
            Entry::File(bytes) | Entry::Executable(bytes) if accept.contains("raw") => {
                Reply::bytes(
                    200,
                    "application/vnd.github.raw+json; charset=utf-8",
                    bytes.clone(),
                )
            }
            entry => Reply::json(200, file(model, repo, sha, path, entry)),
        };
    }
    let prefix = if path.is_empty() {
        String::new()
    } else {
        format!("{path}/")
    };
    let mut items: Vec<Value> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (inner, entry) in tree.iter().filter(|(inner, _)| inner.starts_with(&prefix)) {
        let rest = &inner[prefix.len()..];
        match rest.split_once('/') {
            Some((directory, _)) if seen.insert(directory.to_owned()) => {
                items.push(common(
                    model,
                    repo,
                    sha,
                    &format!("{prefix}{directory}"),
                    "dir",
                    0,
                ));
            }
            Some(_) => {}
            None => items.push(common(
                model,
                repo,
                sha,
                inner,
                kind(entry),
                entry.bytes().len(),
            )),
        }
    }
    if items.is_empty() {
        not_found()
    } else {
        Reply::json(200, Value::Array(items))
    }
}

fn kind(entry: &Entry) -> &'static str {
    match entry {
        Entry::Symlink(_) => "symlink",
        Entry::Submodule(_) => "submodule",
        _ => "file",
    }
}

fn file(model: &Model, repo: &Repo, sha: &str, path: &str, entry: &Entry) -> Value {
    let mut value = common(model, repo, sha, path, kind(entry), entry.bytes().len());
    match entry {
        Entry::Symlink(target) => value["target"] = json!(target),
        Entry::Submodule(commit) => {
            value["sha"] = json!(commit);
            value["submodule_git_url"] = Value::Null;
        }
        _ => {
            value["encoding"] = json!("base64");
            value["content"] = json!(base64(entry.bytes()));
        }
    }
    value
}

fn common(model: &Model, repo: &Repo, sha: &str, path: &str, kind: &str, size: usize) -> Value {
    let name = repo.full_name();
    let coded = path.split('/').map(encode).collect::<Vec<_>>().join("/");
    let url = format!("{}/repos/{name}/contents/{coded}?ref={sha}", model.api);
    let git = format!("{}/repos/{name}/git/blobs/{sha}", model.api);
    let html = format!("{}/{name}/blob/{sha}/{coded}", model.html);
    json!({
        "name": path.rsplit('/').next(),
        "path": path,
        "sha": sha,
        "size": size,
        "url": url,
        "html_url": html,
        "git_url": git,
        "download_url": format!("https://raw.githubusercontent.com/{name}/{sha}/{coded}"),
        "type": kind,
        "_links": {"self": url, "git": git, "html": html},
    })
}

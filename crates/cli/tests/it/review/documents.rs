//! Documents that others wrote: the deployed scripts, earlier versions, newer releases, accidents.

use crate::stage::scenes::{PullRequests, Scene as _};
use crate::stage::{A_WHILE, Backend, Stage};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use testbed::github::NewPull;

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/state");
    let files = std::fs::read_dir(path.join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// Puts the very text of a document in place.
fn put_text(stage: &Stage, target: &str, text: &[u8]) {
    if let Some(kv) = &stage.kv {
        let key = format!("state:{}", target.replace('/', "__"));
        let text = String::from_utf8_lossy(text);
        kv.put_raw(stage.setup().automation_id(), &key, &text);
    } else {
        std::fs::create_dir_all(stage.scratch.state_dir()).unwrap();
        std::fs::write(stage.file_of(target), text).unwrap();
    }
}

/// The world as a document remembers it: pull requests at their commits, conversations, checkouts
/// below the root of this scene.
fn as_remembered(path: &Path, backend: Backend) -> (PullRequests, Value) {
    let mut scene = PullRequests::none(backend);
    let root = scene.stage.scratch.root().display().to_string();
    let text = std::fs::read_to_string(path)
        .unwrap()
        .replace("/home/user/.openhands/workspaces", &root)
        .replace(
            "\"/workspace/repositories",
            &format!("\"{root}/automation-runs/run-1/repositories"),
        );
    let document: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
    let target = document["repo"]
        .as_str()
        .unwrap_or("acme/widget")
        .to_owned();
    scene.repo = scene.github.repo(&target);
    scene.stage.target.clone_from(&target);
    scene.stage.config["repos"] = json!([target]);
    for record in document["reviews"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.values())
    {
        if let (Some(number), Some(head)) =
            (record["pr_number"].as_u64(), record["head_sha"].as_str())
        {
            scene
                .repo
                .open_pull(NewPull::titled("Old work").number(number).at_sha(head));
        }
        if let Some(dir) = record["workspace_dir"].as_str() {
            std::fs::create_dir_all(dir).unwrap();
            std::fs::write(format!("{dir}/file.txt"), "checked out").unwrap();
        }
        if let Some(id) = record["conversation_id"].as_str() {
            let dir = record["workspace_dir"].as_str().unwrap_or("/tmp");
            scene.stage.converse(id, dir);
        }
    }
    put_text(&scene.stage, &target, text.as_bytes());
    (scene, document)
}

/// Every member of `old` is still there; members that a run changes may have other values.
fn keeps(old: &Value, new: &Value, changes: &[&str], place: &str) {
    for (name, value) in old.as_object().unwrap() {
        if changes.contains(&name.as_str()) {
            continue;
        }
        if name == "reviews" {
            for (task, record) in value.as_object().unwrap() {
                let kept = &new["reviews"][task];
                if record["status"] == "starting" && kept.is_null() {
                    // A claim of a run that died long ago.
                    continue;
                }
                assert!(kept.is_object(), "{place}: {task} is gone");
                let ended = [
                    "status",
                    "workspace_dir",
                    "completed_at",
                    "lease_owner",
                    "lease_until",
                    "attempt",
                    "expired_after",
                    "stale_reason",
                    "conversation_id",
                    "last_activity",
                    "error",
                ];
                keeps(record, kept, &ended, &format!("{place} {task}"));
            }
            continue;
        }
        assert_eq!(&new[name], value, "{place}: {name}");
    }
}

#[test]
fn documents_of_the_deployed_scripts_run_on_and_stay_readable() {
    for path in fixtures("github-pr-reviewer") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("version-2") || name.contains("without-owner") {
            continue;
        }
        for backend in [Backend::LikeSqlite, Backend::Files] {
            if name.contains("byte-order-mark") && backend != Backend::Files {
                continue;
            }
            let (scene, before) = as_remembered(&path, backend);
            let started = scene.stage.agent.created();
            let place = format!("{name} on {backend:?}");
            for _ in 0..4 {
                scene.stage.agents_finish();
                let ran = scene.stage.run().ok();
                assert_eq!(ran.count("started"), 0, "{place}: nothing is done again");
                scene.stage.let_time_pass(A_WHILE);
            }
            assert_eq!(scene.stage.agent.created(), started, "{place}");
            let after = scene.stage.document();
            keeps(
                &before,
                &after,
                &[
                    "updated_at",
                    "prs",
                    "trigger_label",
                    "retries",
                    "written_by",
                ],
                &place,
            );
            assert_eq!(after["version"], 3);
            for (task, record) in after["reviews"].as_object().unwrap() {
                let status = record["status"].as_str().unwrap();
                let known = ["closed", "stale", "expired", "paused-by-newer-release"];
                assert!(known.contains(&status), "{place}: {task} is {status}");
                assert!(record["workspace_dir"].is_null(), "{place}: {record}");
                if let Some(at) = record.get("completed_at").filter(|at| !at.is_null()) {
                    assert!(at.is_number(), "{place}: {record}");
                }
            }
            assert_eq!(scene.stage.left_on_disk(), Vec::<String>::new(), "{place}");
        }
    }
}

#[test]
fn the_one_document_of_earlier_versions_is_adopted_by_its_repository() {
    for backend in [Backend::LikeSqlite, Backend::Files] {
        let mut scene = PullRequests::none(backend);
        scene.stage.config["repos"] = json!(["acme/widget", "acme/other"]);
        let pull = scene
            .repo
            .open_pull(NewPull::titled("Done before").number(4));
        let event = pull.label("openhands-review", "alice");
        let other = scene.github.repo("acme/other");
        let fresh = other.open_pull(NewPull::titled("New here").number(4));
        fresh.label("openhands-review", "alice");
        let template = fixtures("github-pr-reviewer")
            .into_iter()
            .find(|path| path.ends_with("version-2.json"))
            .unwrap();
        let mut document = read(&template);
        document["reviews"] = json!({format!("4:label:{event}"): {"status": "closed"}});
        let id = scene.stage.setup().automation_id().to_owned();
        if let Some(kv) = &scene.stage.kv {
            kv.put(&id, "state", &document);
        } else {
            let folder = scene.stage.scratch.state_dir();
            std::fs::create_dir_all(&folder).unwrap();
            let name = format!("github_pr_reviewer_label_event_{id}.json");
            std::fs::write(folder.join(name), document.to_string()).unwrap();
        }
        let ran = scene.stage.run().ok();
        assert_eq!(
            ran.target_named("acme/widget")["started"],
            json!([]),
            "{}",
            ran.all()
        );
        assert_eq!(
            ran.target_named("acme/other")["started"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        let own = scene.stage.document_of("acme/widget");
        assert_eq!(
            own["reviews"][format!("4:label:{event}")]["status"],
            "closed"
        );
        assert_eq!(own["repo"], "acme/widget");
        assert_eq!(scene.stage.records_of("acme/other").len(), 1);
        scene.stage.run().ok();
        assert_eq!(scene.stage.agent.created(), 1);
    }
}

#[test]
fn a_newer_document_is_refused_untouched() {
    for backend in [Backend::LikeSqlite, Backend::Files] {
        let scene = PullRequests::one_labelled(backend);
        let path = fixtures("newer")
            .into_iter()
            .find(|path| path.ends_with("github-pr-reviewer-version-4.json"))
            .unwrap();
        let mut newer = read(&path);
        newer["repo"] = json!("acme/widget");
        put_text(&scene.stage, "acme/widget", newer.to_string().as_bytes());
        let error = scene.stage.run().failed(1);
        assert!(error.contains("version"), "{error}");
        assert_eq!(scene.stage.document(), newer);
        assert_eq!(scene.stage.agent.created(), 0);
    }
}

#[test]
fn a_damaged_document_never_means_that_nothing_was_done() {
    for backend in [Backend::LikeSqlite, Backend::Files] {
        for path in fixtures("damaged") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).unwrap();
            let is_text = std::str::from_utf8(&bytes).is_ok();
            // What is wrong in these is wrong in documents of the news digest only.
            let of_news = ["record-is-no-object.json", "wrong-type.json"].contains(&name.as_str());
            if of_news || (backend != Backend::Files && !is_text) {
                continue;
            }
            let scene = PullRequests::one_labelled(backend);
            put_text(&scene.stage, "acme/widget", &bytes);
            let ran = scene.stage.run();
            assert_eq!(
                scene.stage.agent.created(),
                0,
                "{name} on {backend:?}: {}",
                ran.all()
            );
            let error = ran.failed(1);
            assert!(error.contains("acme"), "{name}: {error}");
        }
    }
}

#[test]
fn the_generation_before_is_used_when_the_document_is_damaged() {
    let scene = PullRequests::one_labelled(Backend::Files);
    scene.stage.run().ok();
    scene.stage.agents_finish();
    scene.stage.let_time_pass(crate::stage::A_MINUTE);
    scene.stage.run().ok();
    scene.is_done().unwrap();
    let path = scene.stage.file_of("acme/widget");
    let text = std::fs::read(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let ran = scene.stage.run();
    assert_eq!(ran.status.code(), Some(0), "{}", ran.all());
    assert!(
        !ran.target()["warnings"].as_array().unwrap().is_empty(),
        "{}",
        ran.all()
    );
    assert_eq!(scene.stage.agent.created(), 1, "nothing is reviewed again");
    let kept = std::fs::read_dir(scene.stage.scratch.state_dir()).unwrap();
    let kept = kept.filter(|file| {
        let name = file.as_ref().unwrap().file_name();
        name.to_string_lossy().contains("damaged")
    });
    assert_eq!(kept.count(), 1);
}

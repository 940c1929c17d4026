//! `state`: documents are shown, copied and forgotten, never by accident.

use crate::place::{ID, Place};
use crate::process::tree;
use serde_json::{Value, json};
use testbed::kv::{Behaviour, KvStore};

const FILE: &str = "github_pr_reviewer_label_event_a1_acme__widget.json";

fn document() -> Value {
    json!({
        "version": 3,
        "repo": "acme/widget",
        "more": {"from": "a newer program"},
        "reviews": {
            "42:label:123": {
                "status": "active", "pr_number": 42, "last_activity": 1_787_205_600.0,
                "conversation_id": "88cca966-d491-5284-af5f-c0cc9c836d60",
                "workspace_dir": "/workspace/repositories/acme__widget/pr-42-0123456789ab",
            },
            "41:label:99": {"status": "closed", "pr_number": 41},
        },
    })
}

fn place() -> Place {
    let place = Place::new(&json!({"repos": ["acme/widget"]}));
    place.document(FILE, &document());
    place
}

#[test]
fn a_reset_has_to_be_confirmed() {
    let place = place();
    let before = tree(place.scratch.root());
    let ended = place
        .command(&["state", "reset", "github-pr-reviewer"])
        .run_with("yes\n");
    insta::assert_snapshot!("reset-consequences", place.plain(ended.said(2)));
    assert!(ended.stderr.contains("--yes"), "{ended:?}");
    assert_eq!(tree(place.scratch.root()), before);

    let ended = place
        .command(&["state", "reset", "github-pr-reviewer", "--yes"])
        .run();
    assert!(
        ended.said(0).ends_with("acme/widget: forgotten\n"),
        "{ended:?}"
    );
    assert!(!place.scratch.state_dir().join(FILE).exists());
    let ended = place
        .command(&["state", "reset", "github-pr-reviewer", "--yes"])
        .run();
    assert!(
        ended.said(0).contains("there was nothing to forget"),
        "{ended:?}"
    );
}

#[test]
fn only_the_target_that_was_named_is_forgotten() {
    let place = Place::new(&json!({"repos": ["acme/widget", "acme/other"]}));
    place.document(FILE, &document());
    let other = "github_pr_reviewer_label_event_a1_acme__other.json";
    place.document(
        other,
        &json!({"version": 3, "repo": "acme/other", "reviews": {}}),
    );
    let reset = ["state", "reset", "github-pr-reviewer", "--yes", "--target"];
    let ended = place.command(&reset).args(["ACME/Other"]).run();
    ended.said(0);
    assert!(place.scratch.state_dir().join(FILE).exists());
    assert!(!place.scratch.state_dir().join(other).exists());
    let ended = place.command(&reset).args(["acme/third"]).run();
    assert_eq!(ended.said(2), "");
    assert!(
        ended.stderr.contains("it has acme/widget, acme/other"),
        "{ended:?}"
    );
}

#[test]
fn documents_are_listed_and_shown() {
    let place = place();
    std::fs::write(place.scratch.state_dir().join("news_digest_a1.json"), "{").unwrap();
    let listed = place.command(&["state", "list"]).run();
    insta::assert_snapshot!("state-list", place.plain(listed.said(0)));
    let listed = place.command(&["state", "list", "--json"]).run().json();
    assert_eq!(listed["entries"][0]["target"], "acme/widget");
    assert_eq!(listed["entries"][1]["kind"], "unusable");

    let shown = place
        .command(&["state", "show", "github-pr-reviewer"])
        .run();
    let stored = std::fs::read_to_string(place.scratch.state_dir().join(FILE)).unwrap();
    assert_eq!(shown.said(0), format!("{stored}\n"));
    let path = place
        .command(&["state", "path", "github-pr-reviewer"])
        .run();
    let expected = place.scratch.state_dir().join(FILE);
    assert_eq!(path.said(0).trim(), expected.display().to_string());

    std::fs::remove_file(expected).unwrap();
    let shown = place
        .command(&["state", "show", "github-pr-reviewer"])
        .run();
    assert_eq!(shown.said(1), "");
    assert!(shown.stderr.contains("there is no document"), "{shown:?}");
}

#[test]
fn keys_of_the_service_are_listed() {
    let place = place();
    let kv = KvStore::start(Behaviour::Strict).unwrap();
    kv.put(ID, "state:acme__widget", &document());
    let command = |arguments: &[&str]| {
        place
            .command(arguments)
            .env("AUTOMATION_API_URL", kv.api_url())
            .env("AUTOMATION_KV_TOKEN", kv.token(ID))
    };
    let listed = command(&["state", "list"]).run();
    assert!(
        listed.said(0).contains("  state:acme__widget"),
        "{listed:?}"
    );
    let path = command(&["state", "path", "github-pr-reviewer"]).run();
    assert_eq!(path.said(0), "KV key state:acme__widget\n");
    let shown = command(&["state", "show", "github-pr-reviewer"]).run();
    assert_eq!(shown.json(), document());
}

#[test]
fn an_export_moves_documents_from_files_to_the_service() {
    let place = place();
    let exported = place
        .command(&["state", "export", "github-pr-reviewer"])
        .run();
    let file = place.scratch.root().join("export.json");
    std::fs::write(&file, exported.said(0)).unwrap();
    let kv = KvStore::start(Behaviour::LikeSqlite).unwrap();
    let import = |arguments: &[&str]| {
        place
            .command(&[
                "state",
                "import",
                "github-pr-reviewer",
                file.to_str().unwrap(),
            ])
            .args(arguments)
            .env("AUTOMATION_API_URL", kv.api_url())
            .env("AUTOMATION_KV_TOKEN", kv.token(ID))
            .run()
    };
    let refused = import(&[]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(kv.keys(ID).is_empty());
    import(&["--yes"]).said(0);
    let mut stored = kv.value(ID, "state:acme__widget").unwrap();
    assert!(
        stored["written_by"]
            .as_str()
            .unwrap()
            .starts_with("by-hand/")
    );
    stored.as_object_mut().unwrap().remove("written_by");
    assert_eq!(stored, document());
    // Once more changes nothing.
    let version = kv.version(ID);
    import(&["--yes"]).said(0);
    assert_eq!(kv.version(ID), version);
}

#[test]
fn an_import_is_checked_before_anything_is_written() {
    let place = place();
    let before = std::fs::read(place.scratch.state_dir().join(FILE)).unwrap();
    let of = |documents: Value| json!({"automation": "github-pr-reviewer", "documents": documents});
    let good = document();
    let cases = [
        (json!("text"), "it is no export of github-pr-reviewer"),
        (
            json!({"automation": "news-digest"}),
            "it is no export of github-pr-reviewer",
        ),
        (of(json!({})), "it holds no documents"),
        (
            of(json!({"acme/widget": good, "acme/third": good})),
            "acme/third is not configured",
        ),
        (
            of(json!({"acme/widget": {"version": 3, "repo": "acme/other"}})),
            "of another target",
        ),
        (of(json!({"acme/widget": {"version": 4}})), "version 4"),
        (
            of(json!({"acme/widget": {"version": 3, "reviews": []}})),
            "should be an object",
        ),
    ];
    let file = place.scratch.root().join("export.json");
    for (export, why) in cases {
        std::fs::write(&file, export.to_string()).unwrap();
        let arguments = [
            "state",
            "import",
            "github-pr-reviewer",
            file.to_str().unwrap(),
            "--yes",
        ];
        let ended = place.command(&arguments).run();
        assert_eq!(ended.said(1), "");
        assert!(ended.stderr.contains(why), "{why}: {ended:?}");
    }
    assert_eq!(
        std::fs::read(place.scratch.state_dir().join(FILE)).unwrap(),
        before
    );
}

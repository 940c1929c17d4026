//! Files: what killed writers, damage, locks and refusing disks do to a document.

use crate::claim;
use lifecycle::document::{DocumentError, NEWS, REVIEW};
use lifecycle::ports::{Change, Store, StoreError};
use serde_json::json;
use state_store::{
    EntryKind, FileStore, Slot, StateStore, StoreEnv, Timing, folder_of, list, open,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const GOOD: &str = r#"{"version":1,"seen":["3f2a9c1b7d4e8a05"],"tasks":{"news:2026-08-20":{"status":"completed"}}}"#;

struct World {
    folder: TempDir,
    env: StoreEnv,
}

impl World {
    fn new() -> Self {
        let timing = Timing {
            lock_wait: Duration::from_millis(20),
            ..Timing::quick(Duration::ZERO)
        };
        let env = StoreEnv {
            run_id: "run-1".into(),
            timing,
            ..StoreEnv::default()
        };
        Self {
            folder: tempfile::tempdir().unwrap(),
            env,
        }
    }

    fn slot() -> Slot {
        Slot::new(&NEWS, Some("a1"), "news")
    }

    fn store(&self) -> FileStore {
        FileStore::new(self.folder.path().to_owned(), Self::slot(), &self.env)
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.folder
            .path()
            .join(format!("news_digest_a1.json{suffix}"))
    }

    fn write(&self, suffix: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(suffix), text).unwrap();
    }

    fn read(&self, suffix: &str) -> String {
        std::fs::read_to_string(self.path(suffix)).unwrap()
    }

    /// Names in the folder, lock files aside.
    fn names(&self) -> Vec<String> {
        names(self.folder.path())
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".lock"))
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_write_keeps_the_generation_before_and_nothing_else() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("news:1")).await.unwrap();
    assert_eq!(world.names(), ["news_digest_a1.json"]);
    let first = world.read("");
    store.update(&mut claim("news:2")).await.unwrap();
    assert_eq!(
        world.names(),
        ["news_digest_a1.json", "news_digest_a1.json.prev"]
    );
    assert_eq!(world.read(".prev"), first);
    let second = world.read("");
    assert!(second.contains("news:1") && second.contains("news:2"));
    assert!(
        second.starts_with("{\n  \""),
        "indented as the scripts write it: {second}"
    );
    store.update(&mut |_| Change::Keep).await.unwrap();
    assert_eq!((world.read(""), world.read(".prev")), (second, first));
}

#[tokio::test]
async fn a_damaged_document_is_kept_and_the_generation_before_is_used() {
    for damage in ["", "{\"version\": 1, \"seen\": [\"3f2a\"", "\0\0\0\0", "[]"] {
        let world = World::new();
        world.write("", damage);
        world.write(".prev", GOOD);
        let store = world.store();
        let loaded = store.load().await.unwrap();
        assert!(loaded.has_record("news:2026-08-20"), "{damage:?}");
        assert_eq!(world.read(""), damage, "loading replaces nothing");
        store.update(&mut claim("news:2026-08-21")).await.unwrap();
        let kept: Vec<String> = world
            .names()
            .into_iter()
            .filter(|name| name.contains(".damaged-"))
            .collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(
            std::fs::read_to_string(world.folder.path().join(&kept[0])).unwrap(),
            damage
        );
        let document = world.store().load().await.unwrap();
        assert!(document.has_record("news:2026-08-20") && document.has_record("news:2026-08-21"));
        // What is damaged does not become the generation before.
        assert_eq!(world.read(".prev"), GOOD);
    }
}

#[tokio::test]
async fn what_happened_is_told_once() {
    let world = World::new();
    world.write("", "{");
    world.write(".prev", GOOD);
    let store = StateStore::Files(world.store());
    store.load().await.unwrap();
    store.load().await.unwrap();
    let notes = store.take_notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains("damaged-") && notes[0].contains("generation before"),
        "{notes:?}"
    );
    assert!(store.take_notes().is_empty());
}

#[tokio::test]
async fn no_damaged_document_takes_the_place_of_an_earlier_one() {
    let world = World::new();
    for damage in ["{\"a", "{\"b", "{\"a"] {
        world.write("", damage);
        let error = world.store().load().await.unwrap_err();
        assert!(
            matches!(error, StoreError::Document { kept: Some(_), .. }),
            "{error}"
        );
    }
    let kept: Vec<String> = world
        .names()
        .into_iter()
        .filter(|name| name.contains(".damaged-"))
        .collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let mut texts: Vec<String> = kept
        .iter()
        .map(|name| std::fs::read_to_string(world.folder.path().join(name)).unwrap())
        .collect();
    texts.sort();
    assert_eq!(texts, ["{\"a", "{\"b"]);
}

#[tokio::test]
async fn two_damaged_generations_fail() {
    let world = World::new();
    world.write("", "{");
    world.write(".prev", "[");
    let error = world
        .store()
        .update(&mut |_| Change::Write)
        .await
        .unwrap_err();
    assert!(
        matches!(error, StoreError::Document { kept: Some(_), .. }),
        "{error}"
    );
    assert_eq!(
        (world.read(""), world.read(".prev")),
        ("{".into(), "[".into())
    );
}

#[tokio::test]
async fn a_missing_document_with_a_generation_before_is_not_a_fresh_start() {
    let world = World::new();
    world.write(".prev", GOOD);
    let store = world.store();
    assert!(store.load().await.unwrap().has_record("news:2026-08-20"));
    store.update(&mut |_| Change::Keep).await.unwrap();
    assert!(
        world.read("").contains("news:2026-08-20"),
        "it is put in place again"
    );
    let world = World::new();
    world.write(".prev", "{");
    let error = world.store().load().await.unwrap_err();
    assert!(matches!(error, StoreError::Document { .. }), "{error}");
}

#[tokio::test]
async fn a_newer_document_is_not_replaced_by_the_generation_before() {
    let world = World::new();
    let newer = r#"{"version": 2, "seen": {}}"#;
    world.write("", newer);
    world.write(".prev", GOOD);
    let error = world
        .store()
        .update(&mut |_| Change::Write)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Document {
                error: DocumentError::NewerVersion { found: 2, known: 1 },
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(
        (world.read(""), world.read(".prev")),
        (newer.into(), GOOD.into())
    );
}

#[tokio::test]
async fn leftovers_of_killed_writers_go_and_those_of_others_stay() {
    let world = World::new();
    let store = world.store();
    store.update(&mut claim("news:1")).await.unwrap();
    // The name of a temporary file is not public: it is learnt from a writer that is stopped by a
    // folder in its way.
    let probe = world.store();
    std::fs::create_dir_all(world.path(".prev")).unwrap();
    std::fs::write(world.path(".prev").join("in the way"), "").unwrap();
    let error = probe.update(&mut claim("news:2")).await.unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    assert!(error.to_string().contains("generation before"), "{error}");
    std::fs::remove_dir_all(world.path(".prev")).unwrap();
    assert_eq!(
        world.names(),
        ["news_digest_a1.json"],
        "a failed write leaves nothing"
    );
    let prefix = {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(b"news_digest_a1.json");
        digest
            .iter()
            .take(8)
            .fold(".".to_owned(), |text, byte| format!("{text}{byte:02x}"))
    };
    let ours = format!("{prefix}-0123456789abcdef.tmp");
    for name in [
        ours.as_str(),
        ".0000000000000000-0123456789abcdef.tmp",
        "news_digest_a1.json.tmp",
    ] {
        std::fs::write(world.folder.path().join(name), "{\"half").unwrap();
    }
    world.store().update(&mut claim("news:3")).await.unwrap();
    assert_eq!(
        world.names(),
        [
            ".0000000000000000-0123456789abcdef.tmp",
            "news_digest_a1.json",
            "news_digest_a1.json.prev",
            "news_digest_a1.json.tmp",
        ]
    );
}

#[tokio::test]
async fn each_point_at_which_a_writer_may_be_killed_leaves_a_whole_document() {
    let old = GOOD;
    let new = GOOD.replace("2026-08-20", "2026-08-21");
    let writing = |world: &World| world.write("", old);
    let linked = |world: &World| {
        world.write("", old);
        world.write(".prev", old);
    };
    let renamed = |world: &World| {
        world.write("", &new);
        world.write(".prev", old);
    };
    for (stopped, record) in [
        (&writing as &dyn Fn(&World), "news:2026-08-20"),
        (&linked, "news:2026-08-20"),
        (&renamed, "news:2026-08-21"),
    ] {
        let world = World::new();
        stopped(&world);
        assert!(world.store().load().await.unwrap().has_record(record));
        world.store().update(&mut claim("news:x")).await.unwrap();
        assert!(world.store().load().await.unwrap().has_record("news:x"));
    }
}

#[tokio::test]
async fn a_lock_that_is_held_is_named_and_does_not_block_others() {
    let world = World::new();
    world.store().update(&mut claim("news:1")).await.unwrap();
    let lock = std::fs::File::open(world.path(".lock")).unwrap();
    lock.lock().unwrap();
    let store = world.store();
    let mut ticks = 0;
    let mut change = claim("news:2");
    let error = tokio::select! {
        result = store.update(&mut change) => result.unwrap_err(),
        () = async {
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
                ticks += 1;
            }
        } => unreachable!(),
    };
    assert!(ticks > 1, "the thread was blocked");
    assert!(
        matches!(&error, StoreError::Unavailable { place, .. } if place.ends_with(".json.lock"))
    );
    assert!(
        error.to_string().contains("another run has held this lock"),
        "{error}"
    );
    // Reading needs no lock.
    assert!(store.load().await.unwrap().has_record("news:1"));
    lock.unlock().unwrap();
    store.update(&mut claim("news:2")).await.unwrap();
}

#[tokio::test]
async fn a_lock_file_that_was_removed_locks_nothing() {
    let world = World::new();
    world.store().update(&mut claim("news:1")).await.unwrap();
    let lock = std::fs::File::open(world.path(".lock")).unwrap();
    lock.lock().unwrap();
    std::fs::remove_file(world.path(".lock")).unwrap();
    world.store().update(&mut claim("news:2")).await.unwrap();
    assert!(world.path(".lock").exists());
}

#[tokio::test]
async fn a_place_that_is_no_folder_or_no_file_is_an_error() {
    let world = World::new();
    let file = world.folder.path().join("automation-state");
    std::fs::write(&file, "").unwrap();
    let store = FileStore::new(file, World::slot(), &world.env);
    for result in [
        store.load().await,
        store.update(&mut |_| Change::Write).await,
    ] {
        assert!(matches!(result, Err(StoreError::Io { .. })), "{result:?}");
    }
    let world = World::new();
    std::fs::create_dir(world.path("")).unwrap();
    let error = world.store().load().await.unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
}

#[tokio::test]
async fn a_read_only_folder_refuses_and_loses_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write("", GOOD);
    let mode = |mode| {
        std::fs::set_permissions(world.folder.path(), std::fs::Permissions::from_mode(mode))
            .unwrap();
    };
    mode(0o555);
    let may_write_anywhere = std::fs::write(world.path(".probe"), "").is_ok();
    let store = world.store();
    assert!(store.load().await.unwrap().has_record("news:2026-08-20"));
    if !may_write_anywhere {
        let error = store.update(&mut claim("news:2")).await.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::Io {
                    action: "opening the lock file",
                    ..
                }
            ),
            "{error}"
        );
        store.save_cache(&json!(1)).await;
    }
    mode(0o755);
    assert_eq!(world.read(""), GOOD);
}

#[tokio::test]
async fn who_only_looks_writes_nothing() {
    let world = World::new();
    world.write("", "{");
    let env = StoreEnv {
        read_only: true,
        ..world.env.clone()
    };
    let store = FileStore::new(world.folder.path().to_owned(), World::slot(), &env);
    let error = store.load().await.unwrap_err();
    assert!(
        matches!(error, StoreError::Document { kept: None, .. }),
        "{error}"
    );
    assert!(store.update(&mut |_| Change::Write).await.is_err());
    store.save_cache(&json!(1)).await;
    assert_eq!(names(world.folder.path()), ["news_digest_a1.json"]);
}

#[tokio::test]
async fn a_document_of_no_reasonable_length_is_not_read_into_memory() {
    let world = World::new();
    let file = std::fs::File::create(world.path("")).unwrap();
    file.set_len(1 << 36).unwrap();
    let error = world.store().load().await.unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
}

#[tokio::test]
async fn the_environment_decides_where_the_document_lies() {
    let home = tempfile::tempdir().unwrap();
    let client = http_client::Client::new(http_client::Policy::default()).unwrap();
    let slot = || Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let root = home.path().join("ws");
    let run = root.join("automation-runs").join("run-1");
    std::fs::create_dir_all(&run).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&run, &link).unwrap();
    for base in [&run, &link] {
        let env = StoreEnv {
            workspace_base: Some(base.clone()),
            ..StoreEnv::default()
        };
        let store = open(&env, &client, slot()).unwrap();
        store.update(&mut claim("1:label:1")).await.unwrap();
        let expected = root
            .canonicalize()
            .unwrap()
            .join("automation-state/github_pr_reviewer_label_event_a1_acme__widget.json");
        assert_eq!(store.place(), expected.display().to_string());
        assert!(expected.exists());
    }
    let env = StoreEnv {
        home: Some(home.path().to_owned()),
        ..StoreEnv::default()
    };
    assert_eq!(
        folder_of(&env).unwrap(),
        home.path().join(".openhands/workspaces/automation-state")
    );
    // A token without an address, or the other way round, is no KV store.
    let half = StoreEnv {
        kv_url: Some("http://127.0.0.1:9".into()),
        ..env.clone()
    };
    assert!(matches!(
        open(&half, &client, slot()),
        Ok(StateStore::Files(_))
    ));
    let nowhere = open(&StoreEnv::default(), &client, slot()).unwrap_err();
    assert!(nowhere.to_string().contains("WORKSPACE_BASE"), "{nowhere}");
    let token = Some(http_client::Secret::new("t"));
    let bad = StoreEnv {
        kv_url: Some("ftp://h/x".into()),
        kv_token: token,
        ..env
    };
    assert!(open(&bad, &client, slot()).is_err());
}

#[tokio::test]
async fn a_folder_can_be_listed_and_a_document_read_and_removed() {
    let world = World::new();
    let folder = world.folder.path();
    assert_eq!(list(&folder.join("not there")).unwrap(), []);
    let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let review = StateStore::Files(FileStore::new(folder.to_owned(), slot, &world.env));
    review.update(&mut claim("1:label:1")).await.unwrap();
    review.save_cache(&json!({"etag": 1})).await;
    world.write("", "{");
    assert!(world.store().load().await.is_err());
    let entries = list(folder).unwrap();
    let found: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                entry.kind,
                entry.automation.unwrap(),
                entry.target.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                EntryKind::Document,
                "github-pr-reviewer",
                Some("acme/widget")
            ),
            (EntryKind::Unusable, "news-digest", None),
            (EntryKind::SetAside, "news-digest", None),
        ]
    );
    assert_eq!(review.stored_names().await.unwrap().len(), 3);
    let news = StateStore::Files(world.store());
    assert_eq!(
        news.read_raw().await.unwrap().as_deref(),
        Some(b"{".as_slice())
    );
    assert!(news.reset().await.unwrap());
    assert_eq!(news.read_raw().await.unwrap(), None);
    assert!(!news.load().await.unwrap().has_record("news:1"));
    assert!(review.reset().await.unwrap());
    assert!(!review.reset().await.unwrap());
    assert_eq!(review.load_cache().await, None);
}

#[tokio::test]
async fn a_reset_does_not_bring_an_older_document_back() {
    let world = World::new();
    let legacy =
        r#"{"version":2,"repo":"acme/widget","reviews":{"4:label:900":{"status":"closed"}}}"#;
    let path = world
        .folder
        .path()
        .join("github_pr_reviewer_label_event_a1.json");
    std::fs::write(&path, legacy).unwrap();
    let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let store = StateStore::Files(FileStore::new(
        world.folder.path().to_owned(),
        slot,
        &world.env,
    ));
    assert!(store.load().await.unwrap().has_record("4:label:900"));
    store.reset().await.unwrap();
    assert!(!store.load().await.unwrap().has_record("4:label:900"));
    assert_eq!(std::fs::read_to_string(path).unwrap(), legacy);
}

#[tokio::test]
async fn a_damaged_older_document_is_not_passed_over() {
    let world = World::new();
    let path = world
        .folder
        .path()
        .join("github_pr_reviewer_label_event_a1.json");
    std::fs::write(&path, "{\"version\":2,\"repo\":\"acme/wid").unwrap();
    let slot = Slot::new(&REVIEW, Some("a1"), "acme/widget");
    let store = FileStore::new(world.folder.path().to_owned(), slot, &world.env);
    let error = store.load().await.unwrap_err();
    assert!(
        matches!(error, StoreError::Document { kept: Some(_), .. }),
        "{error}"
    );
    // A target that has a document of its own does not ask.
    std::fs::write(
        world
            .folder
            .path()
            .join("github_pr_reviewer_label_event_a1_acme__widget.json"),
        r#"{"version":3,"repo":"acme/widget"}"#,
    )
    .unwrap();
    store.load().await.unwrap();
}

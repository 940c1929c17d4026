//! Writers that are killed at any moment, and a disk that is full, in processes of their own.

use crate::claim;
use lifecycle::document::NEWS;
use lifecycle::ports::{Change, Store, StoreError};
use state_store::{FileStore, Slot, StoreEnv};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "STATE_STORE_TEST_FOLDER";

fn store(folder: &Path, run_id: &str) -> FileStore {
    let env = StoreEnv {
        run_id: run_id.into(),
        ..StoreEnv::default()
    };
    FileStore::new(
        folder.to_owned(),
        Slot::new(&NEWS, Some("a1"), "news"),
        &env,
    )
}

/// The folder, when this process was started by one of the tests below.
fn given_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

fn process(program: &str, test: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    if program == "sh" {
        // Eight blocks of 512 bytes a file, and an error in place of a signal.
        command.args(["-c", r#"trap "" XFSZ; ulimit -f 8; exec "$@""#, "sh"]);
        command.arg(std::env::current_exe().unwrap());
    }
    command
        .args(["--exact", test, "--ignored"])
        .env(FOLDER, folder)
        .stdout(Stdio::null());
    command
}

#[test]
#[ignore = "started by writers_may_be_killed_at_any_moment"]
fn writes_until_it_is_killed() {
    let Some(folder) = given_folder() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = store(&folder, "killed");
        for n in 0_u64.. {
            let change = &mut |document: &mut lifecycle::document::Document| {
                document.set("filling", "x".repeat(20_000));
                document.set("last_checked", n);
                Change::Write
            };
            store.update(change).await.unwrap();
        }
    });
}

#[test]
fn writers_may_be_killed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let exe = std::env::current_exe().unwrap();
    runtime
        .block_on(store(folder.path(), "first").update(&mut claim("news:1")))
        .unwrap();
    for round in 0..8 {
        let mut children: Vec<_> = (0..2)
            .map(|_| {
                process(
                    exe.to_str().unwrap(),
                    "killed::writes_until_it_is_killed",
                    folder.path(),
                )
                .spawn()
                .unwrap()
            })
            .collect();
        std::thread::sleep(Duration::from_micros(30_000 + 1_700 * round));
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let task = format!("round:{round}");
        let after = runtime
            .block_on(store(folder.path(), "after").update(&mut claim(&task)))
            .unwrap();
        assert!(after.has_record("news:1") && after.has_record(&task));
    }
    let left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        left.len(),
        3,
        "document, generation before and lock: {left:?}"
    );
    let document = runtime
        .block_on(store(folder.path(), "end").load())
        .unwrap();
    assert!(
        document.get("last_checked").is_some(),
        "no writer got anywhere"
    );
}

#[test]
#[ignore = "started by a_full_disk_loses_nothing"]
fn writes_to_a_full_disk() {
    let Some(folder) = given_folder() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let result = runtime.block_on(store(&folder, "full").update(&mut |document| {
        document.set("filling", "x".repeat(200_000));
        Change::Write
    }));
    let Err(StoreError::Io {
        action: "writing a new version",
        ..
    }) = result
    else {
        panic!("{result:?}");
    };
}

#[test]
fn a_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let store = store(folder.path(), "first");
    runtime
        .block_on(store.update(&mut claim("news:1")))
        .unwrap();
    runtime
        .block_on(store.update(&mut claim("news:2")))
        .unwrap();
    let before = snapshot(folder.path());
    let mut command = process("sh", "killed::writes_to_a_full_disk", folder.path());
    assert!(command.status().unwrap().success());
    let after = snapshot(folder.path());
    assert_eq!(after, before, "nothing is changed, nothing is left behind");
    let document = runtime.block_on(store.load()).unwrap();
    assert!(document.has_record("news:1") && document.has_record("news:2"));
}

fn snapshot(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let bytes = std::fs::read(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), bytes)
        })
        .collect();
    files.sort();
    files
}

//! Archives as they come from strangers, on the whole way from the label to the workspace.

use crate::stage::scenes::PullRequests;
use crate::stage::{A_MINUTE, Backend};
use std::path::{Path, PathBuf};
use testbed::github::Archive;

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/archives");
    std::fs::read(path.join(format!("{name}.tar.gz"))).unwrap()
}

/// A labelled pull request whose head has this archive, and one run.
fn reviewed(archive: Archive) -> (PullRequests, crate::stage::process::Ran) {
    let scene = PullRequests::one_labelled(Backend::LikeSqlite);
    let head = scene.pull(1).head_sha();
    scene.repo.set_archive(&head, archive);
    let ran = scene.stage.run().ok();
    (scene, ran)
}

fn checkout(scene: &PullRequests) -> PathBuf {
    scene.stage.record()["workspace_dir"]
        .as_str()
        .unwrap()
        .into()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != ".git")
        .collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_plain_archive_is_unpacked_without_its_global_header() {
    let (scene, _) = reviewed(Archive::Bytes(fixture("T01a-global-header")));
    let dir = checkout(&scene);
    assert_eq!(names(&dir), ["README.md", "run.sh", "src"]);
    assert_ne!(mode(&dir.join("run.sh")) & 0o100, 0);
}

#[test]
fn links_are_left_out_and_counted() {
    let (scene, ran) = reviewed(Archive::Bytes(fixture("T02a-symlinks")));
    assert_eq!(names(&checkout(&scene)), ["README.md", "after.txt"]);
    assert!(ran.log.contains("2 symbolic links"), "{}", ran.log);
}

#[test]
fn submodules_and_large_file_pointers_are_told_to_the_agent() {
    let (scene, _) = reviewed(Archive::Bytes(fixture(
        "T04a-submodule-and-large-file-pointer",
    )));
    let dir = checkout(&scene);
    assert!(dir.join("vendor/dep").is_dir() && dir.join("model.bin").is_file());
    let prompt = scene
        .stage
        .agent
        .conversations()
        .pop()
        .unwrap()
        .prompt
        .to_lowercase();
    assert!(
        prompt.contains("submodule") && prompt.contains("pointer"),
        "{prompt}"
    );
}

#[test]
fn no_set_uid_bit_survives() {
    let (scene, _) = reviewed(Archive::Bytes(fixture("T07a-set-uid-and-world-writable")));
    let dir = checkout(&scene);
    assert_eq!(mode(&dir.join("tool")) & 0o7000, 0);
    assert_ne!(mode(&dir.join("tool")) & 0o100, 0);
    assert_eq!(mode(&dir.join("open")) & 0o002, 0);
}

/// The archive is refused: nothing on disk, no claim, no comment, no conversation; and with a good
/// one the next poll goes on.
fn refused(archive: Archive, words: &str, config: Option<(&str, u64)>) {
    let mut scene = PullRequests::one_labelled(Backend::LikeSqlite);
    if let Some((key, value)) = config {
        scene.stage.config[key] = value.into();
    }
    let head = scene.pull(1).head_sha();
    scene.repo.set_archive(&head, archive);
    let ran = scene.stage.run().ok();
    assert!(ran.log.contains(words), "{words}: {}", ran.all());
    assert_eq!(ran.skipped("1"), "setup-failed", "{}", ran.all());
    assert!(
        scene.stage.records().is_empty(),
        "{:#}",
        scene.stage.document()
    );
    assert_eq!(scene.stage.guards(), Vec::<String>::new());
    assert_eq!(scene.stage.left_on_disk(), Vec::<String>::new());
    assert_eq!(scene.stage.agent.created(), 0);
    assert!(scene.pull(1).comments().is_empty());
    scene
        .repo
        .set_archive(&head, Archive::Bytes(fixture("T01a-global-header")));
    scene.stage.let_time_pass(A_MINUTE);
    assert_eq!(scene.stage.run().ok().count("started"), 1);
    scene.check();
}

#[test]
fn a_path_that_goes_up_refuses_the_whole_archive() {
    refused(
        Archive::Bytes(fixture("T03a-parent-directory")),
        "goes up with ..",
        None,
    );
}

#[test]
fn a_download_that_was_cut_short_is_tried_again() {
    refused(
        Archive::Bytes(fixture("T06a-download-cut-short")),
        "broken",
        None,
    );
}

#[test]
fn what_is_no_archive_is_an_error() {
    refused(
        Archive::Bytes(b"<html>Sign in</html>".to_vec()),
        "not started",
        None,
    );
    refused(Archive::Bytes(Vec::new()), "not started", None);
}

#[test]
fn a_bomb_is_refused_at_the_written_limit() {
    // 300 MiB of zeros in a few hundred kilobytes.
    let bomb = || Archive::Large {
        files: 3,
        bytes_each: 100 << 20,
        noise: false,
    };
    refused(bomb(), "104857600", Some(("max_archive_bytes", 100 << 20)));
    let many = || Archive::Large {
        files: 5_000,
        bytes_each: 1,
        noise: false,
    };
    refused(many(), "1000", Some(("max_archive_entries", 1000)));
}

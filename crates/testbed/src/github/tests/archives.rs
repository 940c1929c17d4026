//! The redirect to the download host and the archives that it makes.

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use tar::{Archive as Tar, EntryType};

use super::*;
use crate::github::Archive;
use crate::tree::Entry;

fn download(world: &World, sha: &str) -> Answer {
    let answer = world.get(&format!("/repos/acme/widget/tarball/{sha}"));
    assert_eq!(answer.status, 302);
    Call::get(answer.header("location").unwrap())
        .send()
        .unwrap()
}

/// Path to type, mode, size and link of every entry.
fn listing(bytes: &[u8]) -> BTreeMap<String, (EntryType, u32, u64, Option<String>)> {
    let mut tar = Tar::new(GzDecoder::new(bytes));
    let entries = tar.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let header = entry.header();
        let link = entry
            .link_name()
            .unwrap()
            .map(|link| link.display().to_string());
        let path = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        (
            path,
            (
                header.entry_type(),
                header.mode().unwrap(),
                entry.size(),
                link,
            ),
        )
    });
    entries.collect()
}

#[test]
fn an_archive_has_one_root_a_global_header_and_all_kinds_of_entries() {
    let world = World::new();
    let long = format!("deep/{}/file.txt", "d".repeat(120));
    let pull = world.repo.open_pull(NewPull::titled("x").files([
        ("run.sh", Entry::Executable(b"#!/bin/sh\n".to_vec())),
        ("src/lib.rs", Entry::from("code")),
        ("link", Entry::Symlink("src/lib.rs".to_owned())),
        ("far", Entry::Symlink("x".repeat(150))),
        ("vendor/sub", Entry::Submodule("1".repeat(40))),
        ("ümlaut.txt", Entry::from("u")),
        (long.as_str(), Entry::from("deep")),
    ]));
    let sha = pull.head_sha();
    let answer = download(&world, &sha);
    assert_eq!(answer.header("content-type"), Some("application/x-gzip"));
    let root = format!("acme-widget-{}", &sha[..7]);
    let list = listing(&answer.body);
    let at = |path: &str| list.get(&format!("{root}/{path}")).cloned().unwrap();
    assert_eq!(list["pax_global_header"].0, EntryType::XGlobalHeader);
    assert_eq!(at("run.sh"), (EntryType::Regular, 0o775, 10, None));
    assert_eq!(at("src/lib.rs"), (EntryType::Regular, 0o664, 4, None));
    assert_eq!(
        at("link"),
        (EntryType::Symlink, 0o777, 0, Some("src/lib.rs".to_owned()))
    );
    assert_eq!(at("far").3, Some("x".repeat(150)));
    assert_eq!(at("vendor/sub/").0, EntryType::Directory);
    assert_eq!(at("ümlaut.txt").2, 1);
    assert_eq!(at(&long).2, 4);
    assert!(
        list.keys()
            .all(|path| path.starts_with(&root) || path == "pax_global_header")
    );
    let mut first = Vec::new();
    let mut tar = Tar::new(GzDecoder::new(answer.body.as_slice()));
    tar.entries()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .read_to_end(&mut first)
        .unwrap();
    assert_eq!(first, format!("52 comment={sha}\n").into_bytes());
    world.github.check().unwrap();
}

#[test]
fn the_token_must_not_follow_the_redirect() {
    let world = World::new();
    let pull = world.pull();
    let answer = world.get(&format!("/repos/acme/widget/tarball/{}", pull.head_sha()));
    let location = answer.header("location").unwrap();
    assert!(location.starts_with(world.github.codeload().base_url()));
    assert_eq!(
        Call::get(location).bearer("ghp_1").send().unwrap().status,
        403
    );
    let told = world.github.check().unwrap_err().to_string();
    assert!(told.contains("followed the redirect"), "{told}");
    let without = location.split('?').next().unwrap();
    assert_eq!(
        Call::get(without).send().unwrap().status,
        404,
        "the one-time token is needed"
    );
}

#[test]
fn a_commit_that_is_gone_has_no_archive() {
    let world = World::new();
    let pull = world.pull();
    let (old, new) = (pull.head_sha(), pull.force_push([("a", "b")]));
    assert_eq!(
        world
            .get(&format!("/repos/acme/widget/tarball/{old}"))
            .status,
        404
    );
    assert_eq!(download(&world, &new).status, 200);
    assert_eq!(
        world.get("/repos/acme/widget/tarball").status,
        302,
        "the default branch"
    );
    world.repo.set_archive(&new, Archive::Missing);
    assert_eq!(download(&world, &new).status, 404);
}

#[test]
fn archives_of_any_shape_stand_in() {
    let world = World::new();
    let sha = world.pull().head_sha();
    world
        .repo
        .set_archive(&sha, Archive::Bytes(b"no archive".to_vec()));
    assert_eq!(download(&world, &sha).text(), "no archive");
    let tree = [("a".to_owned(), Entry::from("b"))].into_iter().collect();
    world.repo.set_archive(&sha, Archive::Tree(tree));
    assert_eq!(listing(&download(&world, &sha).body).len(), 3);
}

#[test]
fn large_archives_are_made_while_they_are_sent() {
    let world = World::new();
    let sha = world.pull().head_sha();
    let (files, bytes_each) = (3, 200_000);
    world.repo.set_archive(
        &sha,
        Archive::Large {
            files,
            bytes_each,
            noise: false,
        },
    );
    let zeros = download(&world, &sha).body;
    assert!(zeros.len() < 20_000, "{}", zeros.len());
    world.repo.set_archive(
        &sha,
        Archive::Large {
            files,
            bytes_each,
            noise: true,
        },
    );
    let noise = download(&world, &sha).body;
    assert!(noise.len() > 500_000, "{}", noise.len());
    for body in [zeros, noise] {
        let sizes: u64 = listing(&body).values().map(|entry| entry.2).sum();
        assert_eq!(sizes, 600_000 + 52);
    }
}

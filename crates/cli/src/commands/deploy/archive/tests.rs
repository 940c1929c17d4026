//! Archives that are found, looked into and given a configuration.

use super::*;
use std::collections::BTreeMap;

fn packed(entries: &[(&str, &[u8], u32)]) -> Vec<u8> {
    let mut builder = Builder::new(
        GzBuilder::new()
            .mtime(77)
            .write(Vec::new(), Compression::fast()),
    );
    for (name, text, mode) in entries {
        let mut header = Header::new_gnu();
        header.set_size(as_u64(text));
        header.set_mode(*mode);
        header.set_mtime(1_700_000_000);
        header.set_cksum();
        builder.append_data(&mut header, name, *text).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

fn example() -> Archive {
    let long = format!("{}/notes.txt", "deep".repeat(40));
    let bytes = packed(&[
        ("bin/news-digest.xz", b"\xfd7zXZ not really", 0o644),
        ("setup.sh", b"#!/bin/sh\n", 0o755),
        ("config.json", b"{\"feeds\": []}", 0o640),
        (&long, b"kept", 0o600),
    ]);
    Archive::of_bytes("a.tar.gz", bytes).unwrap()
}

fn contents(bytes: &[u8]) -> BTreeMap<String, (String, u32)> {
    let mut archive = tar::Archive::new(MultiGzDecoder::new(bytes));
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut text = Vec::new();
        entry.read_to_end(&mut text).unwrap();
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let mode = entry.header().mode().unwrap();
        (name, (String::from_utf8_lossy(&text).into_owned(), mode))
    });
    entries.collect()
}

#[test]
fn only_the_configuration_is_replaced() {
    let before = example();
    let after = before
        .with_config("{\"feeds\": [\"https://example.org/\"]}\n")
        .unwrap();
    let mut expected = contents(&before.bytes);
    let config = expected.get_mut("config.json").unwrap();
    config.0 = "{\"feeds\": [\"https://example.org/\"]}\n".into();
    assert_eq!(config.1, 0o640);
    assert_eq!(contents(&after.bytes), expected);
    assert_eq!(
        after.config().as_deref(),
        Some("{\"feeds\": [\"https://example.org/\"]}\n")
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let text = "{\"feeds\": [\"https://example.org/\"]}";
    let once = example().with_config(text).unwrap();
    assert_eq!(once.bytes, example().with_config(text).unwrap().bytes);
    // Also over a detour.
    let detour = example().with_config("{}").unwrap();
    let detour = Archive::of_bytes("b", detour.bytes).unwrap();
    assert_eq!(once.bytes, detour.with_config(text).unwrap().bytes);
    assert_eq!(&once.bytes[4..8], [0; 4], "no time");
}

#[test]
fn an_archive_without_a_configuration_gets_one() {
    for name in ["./bin/news-digest", "bin/news-digest"] {
        let archive = Archive::of_bytes("a", packed(&[(name, b"ELF", 0o755)])).unwrap();
        archive.check(Automation::News).unwrap();
        assert_eq!(archive.config(), None);
        let after = archive.with_config("{}").unwrap();
        assert_eq!(contents(&after.bytes)["config.json"], ("{}".into(), 0o644));
    }
    let dotted = Archive::of_bytes("a", packed(&[("./config.json", b"1", 0o644)])).unwrap();
    let after = dotted.with_config("{}").unwrap();
    assert_eq!(contents(&after.bytes).len(), 1);
}

#[test]
fn a_run_starts_the_executable_where_it_lies_or_is_unpacked() {
    for (automation, entry, expected) in [
        (
            Automation::Review,
            "github-pr-reviewer",
            "./github-pr-reviewer",
        ),
        (
            Automation::Review,
            "./github-pr-reviewer.xz",
            "./github-pr-reviewer",
        ),
        (Automation::News, "bin/news-digest", "./bin/news-digest"),
        (Automation::News, "bin/news-digest.xz", "./bin/news-digest"),
    ] {
        let archive = Archive::of_bytes("a", packed(&[(entry, b"ELF", 0o755)])).unwrap();
        assert_eq!(archive.entrypoint(automation).unwrap(), expected, "{entry}");
    }
    let elsewhere = packed(&[("lib/news-digest", b"ELF", 0o755)]);
    let elsewhere = Archive::of_bytes("a", elsewhere).unwrap();
    let error = elsewhere.entrypoint(Automation::News).unwrap_err();
    assert!(
        matches!(&error, ArchiveError::Other { found, .. } if found == "lib/news-digest"),
        "{error:?}"
    );
}

#[test]
fn no_file_may_stand_where_workspaces_go() {
    let (move_it, leave_it_out) = ("put the executable into `bin/`", "leave it out");
    for (automation, entries, file, advice) in [
        (
            Automation::News,
            &["news-digest"][..],
            "news-digest",
            move_it,
        ),
        (
            Automation::News,
            &["./news-digest.xz", "setup.sh"],
            "news-digest.xz",
            move_it,
        ),
        (
            Automation::News,
            &["news-digest", "bin/news-digest"],
            "news-digest",
            leave_it_out,
        ),
        (
            Automation::Review,
            &["bin/github-pr-reviewer", "repositories"],
            "repositories",
            leave_it_out,
        ),
        (
            Automation::Review,
            &["github-pr-reviewer", "repositories"],
            "repositories",
            leave_it_out,
        ),
        (
            Automation::Issue,
            &["gitlab-issue-to-mr", "./issue-to-mr"],
            "issue-to-mr",
            leave_it_out,
        ),
    ] {
        let entries: Vec<_> = entries
            .iter()
            .map(|name| (*name, &b"x"[..], 0o755))
            .collect();
        let archive = Archive::of_bytes("a", packed(&entries)).unwrap();
        let error = archive.check(automation).unwrap_err();
        assert!(
            matches!(&error, ArchiveError::InTheWay { file: found, .. } if found == file),
            "{error}"
        );
        let error = error.to_string();
        assert!(error.contains(&format!("file `{file}`")), "{error}");
        assert!(error.contains(advice), "{error}");
        let other = [move_it, leave_it_out].map(|advice| error.contains(advice));
        assert_ne!(other[0], other[1], "{error}");
    }
    // A folder of that name is none.
    let inside = packed(&[
        ("bin/news-digest", b"x", 0o755),
        ("news-digest/a", b"x", 0o644),
    ]);
    let archive = Archive::of_bytes("a", inside).unwrap();
    archive.check(Automation::News).unwrap();
}

#[test]
fn another_archive_is_noticed() {
    example().check(Automation::News).unwrap();
    let error = example().check(Automation::Review).unwrap_err();
    assert!(
        matches!(
            &error,
            ArchiveError::Other {
                name: "github-pr-reviewer",
                ..
            }
        ),
        "{error:?}"
    );
    let error = error.to_string();
    assert!(
        error.starts_with(
            "a.tar.gz: this is no archive of github-pr-reviewer: it holds bin/news-digest.xz"
        ),
        "{error}"
    );
    for bytes in [
        b"no archive".to_vec(),
        example().bytes[..100].to_vec(),
        Vec::new(),
    ] {
        let error = Archive::of_bytes("b", bytes);
        assert!(
            matches!(error, Err(ArchiveError::Damaged { .. })),
            "{error:?}"
        );
    }
}

#[test]
fn archives_lie_beside_the_program_or_where_they_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("target");
    std::fs::create_dir_all(target.join("package")).unwrap();
    std::fs::create_dir_all(target.join("release")).unwrap();
    let program = target.join("release/openhands-automations");
    let elsewhere = folder.path().join("elsewhere");
    let error = Archive::of_file(None, Automation::News, Some(&program), &elsewhere).unwrap_err();
    let first = target.join("release/news-digest.tar.gz");
    assert!(
        matches!(&error, ArchiveError::NotFound { name: "news-digest", places }
            if places.contains(&first.display().to_string())),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .contains("cargo xtask package news-digest"),
        "{error}"
    );
    let made = target.join("package/news-digest.tar.gz");
    std::fs::write(&made, example().bytes).unwrap();
    for (program, working_dir) in [
        (Some(program.as_path()), elsewhere.as_path()),
        (None, folder.path()),
    ] {
        let found = Archive::of_file(None, Automation::News, program, working_dir).unwrap();
        assert_eq!(found.source(), made.display().to_string());
    }
    let named = Archive::of_file(
        Some(Path::new("/nowhere.tar.gz")),
        Automation::News,
        None,
        &elsewhere,
    );
    assert!(matches!(named, Err(ArchiveError::Unreadable { .. })));
}

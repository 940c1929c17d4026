//! What the disk refuses, in the core's own words.

use super::*;
use workspace_fs::Area;

#[tokio::test]
async fn what_is_not_ours_is_told_from_what_the_disk_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let port =
        |base: &Path| WorkspacesPort::new(WorkspaceRoots::new(base, Area::NewsDigest).unwrap());
    let ours = port(folder.path());
    let dir = ours.create(&["2026-08-18"]).await.unwrap();
    assert_eq!(dir, ours.path_of(&["2026-08-18"]));
    for (dir, is_there) in [
        (dir.as_str(), true),
        (&ours.path_of(&["2026-08-19"]), false),
        ("/etc", false),
    ] {
        assert_eq!(ours.exists(dir).await, Ok(is_there), "{dir}");
    }
    assert_eq!(
        ours.read_file("/etc", "hostname", 10).await,
        Err(WorkspaceError::OutsideRoots { dir: "/etc".into() })
    );

    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let nowhere = port(&file);
    let error = nowhere.create(&["2026-08-18"]).await.unwrap_err();
    let expected = nowhere.path_of(&["2026-08-18"]);
    assert!(
        matches!(&error, WorkspaceError::Io { dir, detail }
            if *dir == expected && detail.starts_with("cannot create ")),
        "{error:?}"
    );
}

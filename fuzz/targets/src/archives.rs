//! Archives of repositories: `.tar.gz` as a code host may send it, with whatever a stranger put into
//! the tree, or as nobody would.
//!
//! An input that begins like gzip is unpacked as it is. Any other is taken for a tar stream: the
//! checksums of its headers are made right (or hardly any change would get past them), and it is
//! compressed. The rules are those of `workspace_fs::extract`: nothing outside the workspace, no
//! links, no special files, no set-uid, the limits held, and nothing left behind by a failure.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use workspace_fs::{Area, Extracted, Limits, WorkspaceRoots, extract};

/// Bytes of a tar block.
const BLOCK: usize = 512;
/// Small, so that inputs reach them.
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_entries: 64,
};

/// Where all this happens: a folder with the base of the workspaces and something beside it.
struct Scene {
    folder: TempDir,
    roots: WorkspaceRoots,
    runtime: Runtime,
}

thread_local! {
    static SCENE: Option<Scene> = Scene::new();
}

impl Scene {
    fn new() -> Option<Self> {
        let folder = TempDir::new().ok()?;
        fs::write(folder.path().join("canary"), "alive").ok()?;
        let roots = WorkspaceRoots::new(folder.path().join("base"), Area::Repositories).ok()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .ok()?;
        Some(Self {
            folder,
            roots,
            runtime,
        })
    }
}

/// Unpacks an archive and looks at the disk.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let archive = if data.starts_with(&[0x1f, 0x8b]) {
        data.to_vec()
    } else {
        compressed(&with_checksums(data))
    };
    SCENE.with(|scene| match scene {
        Some(scene) => unpack(scene, &archive),
        None => panic!("no folder to work in"),
    });
}

fn unpack(scene: &Scene, archive: &[u8]) {
    let parts = ["acme__widget", "pr-7-6dcb09b5b578"];
    let workspace = scene.runtime.block_on(scene.roots.create(&parts));
    let Ok(workspace) = workspace else {
        panic!("no workspace: {workspace:?}");
    };
    let path = workspace.path().to_owned();
    match extract(archive, &workspace, &LIMITS) {
        Ok(report) => look(&path, &report),
        Err(error) => {
            assert!(!path.exists(), "a failure left {}", path.display());
            assert!(crate::is_line(&error.to_string()), "{error}");
        }
    }
    let base = scene.folder.path().join("base");
    assert_eq!(names(scene.folder.path()), ["base", "canary"]);
    assert_eq!(names(&base), ["repositories"]);
    assert!(names(&base.join("repositories")).len() <= 1);
    assert_eq!(
        fs::read(scene.folder.path().join("canary")).ok().as_deref(),
        Some(&b"alive"[..])
    );
    let removed = scene.runtime.block_on(scene.roots.remove(&path));
    assert!(removed.is_ok(), "{removed:?}");
    assert!(!path.exists());
}

fn look(path: &Path, report: &Extracted) {
    let (mut files, mut bytes, mut entries) = (0, 0, 0);
    let mut waiting = vec![path.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in entries_of(&folder) {
            entries += 1;
            let Ok(metadata) = fs::symlink_metadata(&entry) else {
                panic!("{} cannot be looked at", entry.display());
            };
            let kind = metadata.file_type();
            assert!(!kind.is_symlink(), "a link: {}", entry.display());
            let special = kind.is_fifo() || kind.is_socket();
            assert!(!special && !kind.is_block_device() && !kind.is_char_device());
            assert_eq!(
                metadata.permissions().mode() & 0o7002,
                0,
                "{}",
                entry.display()
            );
            let name = entry.file_name().unwrap_or_default().to_ascii_lowercase();
            assert_ne!(name, ".git");
            if kind.is_dir() {
                waiting.push(entry);
            } else {
                files += 1;
                bytes += metadata.len();
            }
        }
    }
    assert_eq!((files, bytes), (report.files, report.bytes));
    assert!(bytes <= LIMITS.max_bytes, "{bytes} bytes");
    assert!(entries <= LIMITS.max_entries, "{entries} entries");
    assert!(report.skipped.samples.len() <= 20);
    assert!(
        report
            .skipped
            .samples
            .iter()
            .all(|sample| crate::is_line(sample))
    );
}

fn entries_of(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let names = entries_of(folder).into_iter();
    let mut names: Vec<String> = names
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}

/// A tar stream whose headers have the right checksums, as far as headers can be found.
fn with_checksums(data: &[u8]) -> Vec<u8> {
    let mut tar = data.to_vec();
    tar.resize(tar.len().next_multiple_of(BLOCK), 0);
    let mut at = 0;
    while let Some(block) = tar.get_mut(at..at + BLOCK) {
        if block.iter().all(|byte| *byte == 0) {
            break;
        }
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let size = String::from_utf8_lossy(&block[124..136]);
        let size = size.trim_matches(['\0', ' ']);
        let size = usize::from_str_radix(size, 8).unwrap_or(0).min(tar.len());
        at += BLOCK + size.next_multiple_of(BLOCK);
    }
    tar.extend([0; 2 * BLOCK]);
    tar
}

fn compressed(tar: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    match encoder.write_all(tar).and_then(|()| encoder.finish()) {
        Ok(archive) => archive,
        Err(error) => panic!("nothing was compressed: {error}"),
    }
}

//! Archives of code hosts, and what a stranger could make of one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use workspace_fs::{Area, Extracted, Limits, Workspace, WorkspaceError, WorkspaceRoots, extract};

use crate::tarball::{Tarball, gzip};

type Outcome = Result<Extracted, WorkspaceError>;

pub(crate) async fn workspace() -> (TempDir, Workspace) {
    let tmp = TempDir::new().unwrap();
    let roots = WorkspaceRoots::new(tmp.path(), Area::Repositories).unwrap();
    let workspace = roots.create(&["acme__widget", "pr-1-abc"]).await.unwrap();
    (tmp, workspace)
}

/// Unpacks, and checks what holds for every archive: an error leaves nothing, nothing is written
/// outside, no link or device exists, and no mode is dangerous.
async fn unpack(archive: impl Read) -> (Outcome, BTreeMap<String, Vec<u8>>, TempDir) {
    unpack_within(archive, &Limits::default()).await
}

async fn unpack_within(
    archive: impl Read,
    limits: &Limits,
) -> (Outcome, BTreeMap<String, Vec<u8>>, TempDir) {
    let (tmp, workspace) = workspace().await;
    let result = extract(archive, &workspace, limits);
    assert_eq!(workspace.path().exists(), result.is_ok());
    let mut files = BTreeMap::new();
    for (path, metadata) in walk(tmp.path()) {
        let kind = metadata.file_type();
        assert!(!kind.is_symlink() && !kind.is_fifo() && !kind.is_char_device());
        assert_eq!(
            metadata.permissions().mode() & 0o7002,
            0,
            "{}",
            path.display()
        );
        if kind.is_file() {
            let below = path.strip_prefix(workspace.path()).expect("inside");
            let name = String::from_utf8_lossy(below.as_os_str().as_bytes()).into_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    (result, files, tmp)
}

fn walk(dir: &Path) -> Vec<(PathBuf, fs::Metadata)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            all.extend(walk(&path));
        }
        all.push((path, metadata));
    }
    all
}

/// The names of all files, and what was skipped, in words.
async fn lists(archive: Tarball) -> String {
    let (result, files, _tmp) = unpack(&archive.gz()[..]).await;
    let report = result.unwrap();
    assert_eq!(report.files, files.len() as u64);
    let names: Vec<String> = files.into_keys().collect();
    format!("{}; skipped {}", names.join(" "), report.skipped)
}

async fn refusal(archive: Tarball) -> String {
    let (result, ..) = unpack(&archive.gz()[..]).await;
    match result.unwrap_err() {
        error @ WorkspaceError::ArchiveRefused { .. } => error.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn is_broken(archive: &[u8]) -> bool {
    let (result, ..) = unpack(archive).await;
    matches!(result, Err(WorkspaceError::ArchiveBroken { .. }))
}

/// Each archive in the folder gives the listing beside it.
#[tokio::test]
async fn fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/archives");
    let mut checked = 0;
    for (path, _) in walk(&folder) {
        let Some(name) = path.to_str().and_then(|path| path.strip_suffix(".tar.gz")) else {
            continue;
        };
        let (result, files, tmp) = unpack(fs::File::open(&path).unwrap()).await;
        let mut listing = String::new();
        let top = tmp.path().join("repositories/acme__widget/pr-1-abc");
        let mut entries = if top.exists() { walk(&top) } else { Vec::new() };
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        for (path, metadata) in entries {
            let below = path.strip_prefix(&top).unwrap().display().to_string();
            let mode = metadata.permissions().mode() & 0o7777;
            match files.get(&below) {
                Some(content) => {
                    listing += &format!("file {mode:o} {} bytes {below}\n", content.len());
                }
                None => listing += &format!("dir  {mode:o} {below}\n"),
            }
        }
        listing += &match result {
            Ok(report) => format!(
                "skipped: {}\nsubmodules: {}\nlarge file pointers: {}\n",
                report.skipped, report.has_submodules, report.has_lfs_pointers
            ),
            Err(error) => format!("error: {error}\n"),
        };
        let expected = format!("{name}.expected.txt");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&expected, &listing).unwrap();
        }
        assert_eq!(listing, fs::read_to_string(&expected).unwrap(), "{name}");
        checked += 1;
    }
    assert!(checked >= 6);
}

#[tokio::test]
async fn the_commit_is_read_from_the_global_header() {
    let sha = "0123456789abcdef0123456789abcdef01234567";
    let archive = Tarball::default()
        .pax(b'g', &[("comment", sha.as_bytes())])
        .dir("root/")
        .file("root/a", b"x");
    let (result, files, _tmp) = unpack(&archive.gz()[..]).await;
    assert_eq!(result.unwrap().commit.as_deref(), Some(sha));
    assert_eq!(files.len(), 1);
}

#[tokio::test]
async fn paths_that_leave_the_tree_refuse_the_archive() {
    for path in [
        "/etc/cron.d/x",
        "root/../../x",
        "root/a/../b",
        "../x",
        "root/..",
        "..",
    ] {
        let error = refusal(Tarball::rooted().file(path, b"x")).await;
        assert!(error.contains(path), "{error}");
    }
    let long = [b"/tmp/".to_vec(), vec![b'x'; 120]].concat();
    refusal(
        Tarball::rooted()
            .pax(b'x', &[("path", &long)])
            .file("root/a", b""),
    )
    .await;
    refusal(
        Tarball::rooted()
            .long_name(b"root/../x")
            .file("root/a", b""),
    )
    .await;
    refusal(
        Tarball::rooted()
            .pax(b'x', &[("path", b"root/a\0b")])
            .file("root/a", b""),
    )
    .await;
}

#[tokio::test]
async fn there_is_one_root() {
    refusal(Tarball::rooted().file("other/a", b"")).await;
    refusal(Tarball::rooted().file("top-level-file", b"")).await;
    refusal(Tarball::default().entry(b'2', "root", 0o777, b"")).await;
    refusal(Tarball::default().file("root", b"")).await;
    refusal(Tarball::default()).await;
    assert_eq!(
        lists(Tarball::default().dir("./").file("./root/a", b"")).await,
        "a; skipped nothing"
    );
}

#[tokio::test]
async fn links_and_devices_are_counted_and_nothing_goes_through_them() {
    let archive = Tarball::rooted()
        .entry(b'2', "root/link", 0o777, b"")
        .file("root/link/through", b"x")
        .entry(b'1', "root/hard", 0o644, b"")
        .file("root/hard", b"through")
        .entry(b'3', "root/char", 0o666, b"")
        .entry(b'4', "root/block", 0o666, b"")
        .entry(b'6', "root/fifo", 0o666, b"")
        .entry(b'V', "root/volume", 0o666, b"")
        .file("root/plain", b"x")
        .file("root/plain/through", b"x")
        .dir("root/plain");
    assert_eq!(
        lists(archive).await,
        "plain; skipped symbolic links: 1, hard links: 1, devices: 3, duplicate paths: 1, \
         paths through other entries: 3, entries of unknown type: 1"
    );
}

#[tokio::test]
async fn the_first_of_equal_paths_wins() {
    let archive = Tarball::rooted()
        .file("root/a", b"first")
        .file("root/a", b"second")
        .file("root/A", b"third")
        .file("root/Dir/x", b"")
        .file("root/dir/y", b"")
        .dir("root/Dir/");
    let (result, files, _tmp) = unpack(&archive.gz()[..]).await;
    let skipped = result.unwrap().skipped;
    assert_eq!(
        skipped.to_string(),
        "duplicate paths: 1, paths that differ in case only: 2"
    );
    assert_eq!(skipped.total(), 3);
    assert_eq!(skipped.samples, ["root/a", "root/A", "root/dir/y"]);
    assert_eq!(files.keys().collect::<Vec<_>>(), ["Dir/x", "a"]);
    assert_eq!(files["a"], b"first");
}

#[tokio::test]
async fn long_names() {
    let (fits, too_long) = ("n".repeat(255), "n".repeat(256));
    let deep = "d/".repeat(2000);
    let archive = Tarball::rooted()
        .long_name(format!("root/{fits}").as_bytes())
        .file("root/cut", b"x")
        .pax(b'x', &[("path", format!("root/{too_long}").as_bytes())])
        .file("root/cut", b"x")
        .pax(b'x', &[("path", format!("root/{deep}x").as_bytes())])
        .file("root/cut", b"x")
        .file("root/after", b"x");
    let expected = format!("after {fits}; skipped names that are too long: 2");
    assert_eq!(lists(archive).await, expected);
}

#[tokio::test]
async fn names_need_not_be_utf8() {
    let (result, _files, tmp) =
        unpack(&Tarball::rooted().file(b"root/caf\xe9", b"x").gz()[..]).await;
    let report = result.unwrap();
    // Some file systems take any bytes, some do not.
    assert_eq!(report.files + report.skipped.unusable_names, 1);
    let there = walk(tmp.path())
        .iter()
        .any(|(path, _)| path.as_os_str().as_bytes().ends_with(b"caf\xe9"));
    assert_eq!(there, report.files == 1);
}

#[tokio::test]
async fn git_metadata_is_left_out() {
    let archive = Tarball::rooted()
        .file("root/.git/config", b"[core]\n\tfsmonitor = touch canary\n")
        .file("root/sub/.GIT/hooks/post-checkout", b"")
        .file("root/.git", b"gitdir: /elsewhere\n")
        .file("root/.gitignore", b"*.log\n");
    assert_eq!(lists(archive).await, ".gitignore; skipped .git entries: 3");
}

#[tokio::test]
async fn modes_are_kept_as_far_as_they_are_safe() {
    let archive = Tarball::rooted()
        .entry(b'0', "root/tool", 0o6777, b"")
        .entry(b'0', "root/plain", 0o640, b"")
        .entry(b'0', "root/none", 0, b"")
        .entry(b'5', "root/sticky", 0o1777, b"")
        .entry(b'5', "root/closed", 0, b"")
        .file("root/closed/inside", b"")
        .file("root/implied/inside", b"");
    let (result, _files, tmp) = unpack(&archive.gz()[..]).await;
    assert_eq!(result.unwrap().dirs, 3);
    let mode = |name: &str| {
        let path = tmp
            .path()
            .join("repositories/acme__widget/pr-1-abc")
            .join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    };
    assert_eq!(mode("tool"), 0o775);
    assert_eq!(mode("plain"), 0o640);
    assert_eq!(mode("none"), 0o600);
    assert_eq!(mode("sticky"), 0o775);
    assert_eq!(mode("closed"), 0o700);
    assert_eq!(mode("implied") & 0o700, 0o700);
}

#[tokio::test]
async fn limits_say_their_figure() {
    let limits = Limits {
        max_bytes: 1000,
        max_entries: 3,
    };
    let error = |archive: Tarball| async move {
        let (result, ..) = unpack_within(&archive.gz()[..], &limits).await;
        result.unwrap_err().to_string()
    };
    let many = Tarball::rooted()
        .file("root/a", b"")
        .file("root/b", b"")
        .file("root/c", b"");
    assert!(
        error(many)
            .await
            .contains("more than 3 entries (max_archive_entries)")
    );
    let large = Tarball::rooted()
        .file("root/a", &[0; 600])
        .file("root/b", &[0; 600]);
    assert!(
        error(large)
            .await
            .contains("more than 1000 bytes (max_archive_bytes)")
    );
    // A size that is only claimed is over the limit too, before anything is written.
    let claimed = Tarball::rooted().sized(b'0', "root/a", 0o644, b"", 7 << 30);
    assert!(error(claimed).await.contains("more than 1000 bytes"));
    let in_skipped = Tarball::rooted().entry(b'V', "root/v", 0o644, &[0; 1200]);
    assert!(error(in_skipped).await.contains("more than 1000 bytes"));
    let after_the_end = [Tarball::rooted().tar(), vec![0; 5000]].concat();
    let (result, ..) = unpack_within(&gzip(&after_the_end)[..], &limits).await;
    assert!(matches!(
        result,
        Err(WorkspaceError::ArchiveTooLarge { limit: 1000 })
    ));
}

#[tokio::test]
async fn extension_headers_are_bounded() {
    let huge = vec![b'x'; 1 << 20];
    refusal(Tarball::rooted().long_name(&huge).file("root/a", b"")).await;
    refusal(
        Tarball::rooted()
            .pax(b'x', &[("comment", &huge)])
            .file("root/a", b""),
    )
    .await;
    let mut endless = Tarball::rooted();
    for _ in 0..20 {
        endless = endless.pax(b'x', &[("comment", b"x")]);
    }
    refusal(endless.file("root/a", b"")).await;
    refusal(
        Tarball::default()
            .pax(b'g', &[("path", b"root/x")])
            .dir("root/"),
    )
    .await;
    refusal(Tarball::rooted().entry(b'S', "root/sparse", 0o644, b"")).await;
    refusal(
        Tarball::rooted()
            .pax(b'x', &[("GNU.sparse.major", b"1")])
            .file("root/a", b""),
    )
    .await;
    refusal(Tarball::rooted().entry(b'5', "root/dir", 0o755, b"content")).await;
}

#[tokio::test]
async fn broken_archives_leave_nothing() {
    let content: Vec<u8> = (0u32..50_000)
        .flat_map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    let whole = Tarball::rooted()
        .file("root/a", &content)
        .file("root/b", b"x")
        .gz();
    let (result, ..) = unpack(&whole[..]).await;
    assert_eq!(result.unwrap().files, 2);
    for cut in [
        0,
        1,
        9,
        10,
        11,
        whole.len() / 2,
        whole.len() - 9,
        whole.len() - 8,
        whole.len() - 1,
    ] {
        assert!(
            is_broken(&whole[..cut]).await,
            "cut at {cut} of {}",
            whole.len()
        );
    }
    for spot in [12, whole.len() / 2, whole.len() - 8, whole.len() - 4] {
        let mut damaged = whole.clone();
        damaged[spot] ^= 0x55;
        assert!(is_broken(&damaged).await, "damaged at {spot}");
    }
    assert!(is_broken(&[&whole[..], b"garbage"].concat()).await);
    assert!(is_broken(b"<html>Rate limit exceeded</html>").await);
    // The compression is whole, the tar stream in it is not.
    assert!(is_broken(&gzip(&Tarball::rooted().file("root/a", b"x").endless())).await);
    assert!(is_broken(&gzip(&[Tarball::rooted().tar(), b"more".to_vec()].concat())).await);
    assert!(is_broken(&gzip(&[7; 2048])).await);
    let mut header = Tarball::rooted().tar();
    header[0] = b'R';
    assert!(is_broken(&gzip(&header)).await);
}

#[tokio::test]
async fn several_gzip_members_are_one_archive() {
    let tar = Tarball::rooted().file("root/a", b"content").tar();
    let (one, two) = tar.split_at(700);
    let (result, files, _tmp) = unpack(&[gzip(one), gzip(two)].concat()[..]).await;
    assert!(result.is_ok());
    assert_eq!(files["a"], b"content");
}

#[tokio::test]
async fn archives_of_a_tar_writer_are_read() {
    let mut builder = tar::Builder::new(Vec::new());
    builder.mode(tar::HeaderMode::Deterministic);
    let long = format!("root/{}/{}", "long".repeat(40), "name".repeat(50));
    for path in ["root/short", &long] {
        let mut header = tar::Header::new_gnu();
        header.set_size(5);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, path, &b"hello"[..])
            .unwrap();
    }
    let (result, files, _tmp) = unpack(&gzip(&builder.into_inner().unwrap())[..]).await;
    result.unwrap();
    assert_eq!(files[long.strip_prefix("root/").unwrap()], b"hello");
}

#[tokio::test]
async fn a_link_planted_while_unpacking_is_not_followed() {
    /// Hands out the archive and plants a link half way.
    struct Planting<'a> {
        parts: Vec<Vec<u8>>,
        dir: &'a Path,
        outside: &'a Path,
    }
    impl Read for Planting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.parts.len() == 1 && !self.dir.join("sub").exists() {
                symlink(self.outside, self.dir.join("sub")).unwrap();
            }
            let Some(part) = self.parts.first_mut() else {
                return Ok(0);
            };
            let n = part.as_slice().read(buffer)?;
            part.drain(..n);
            if part.is_empty() {
                self.parts.remove(0);
            }
            Ok(n)
        }
    }
    let (tmp, workspace) = workspace().await;
    let outside = tmp.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let start = Tarball::rooted()
        .file("root/a", &vec![0; 300_000])
        .endless();
    let rest = Tarball::default()
        .file("root/sub/x", b"x")
        .file("root/b", b"x")
        .tar();
    let planting = Planting {
        parts: vec![gzip(&start), gzip(&rest)],
        dir: workspace.path(),
        outside: &outside,
    };
    let report = extract(planting, &workspace, &Limits::default()).unwrap();
    assert_eq!(report.skipped.conflicts, 1);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

/// 300 MiB of zeros arrive in a few hundred kilobytes: memory does not grow with what is unpacked,
/// and a smaller limit refuses them with a clean disk.
#[tokio::test]
async fn a_bomb_costs_no_memory() {
    let header = Tarball::rooted()
        .sized(b'0', "root/zeros.bin", 0o644, b"", 300 << 20)
        .endless();
    let mut archive = Vec::new();
    let mut encoder = flate2::write::GzEncoder::new(&mut archive, flate2::Compression::fast());
    io::copy(
        &mut header.chain(io::repeat(0).take((300 << 20) + 1024)),
        &mut encoder,
    )
    .unwrap();
    encoder.finish().unwrap();
    assert!(archive.len() < 2 << 20);
    let before = peak_kib();
    let limits = Limits {
        max_bytes: 200 << 20,
        ..Limits::default()
    };
    let (result, ..) = unpack_within(&archive[..], &limits).await;
    assert!(result.unwrap_err().to_string().contains("209715200 bytes"));
    let (_tmp, workspace) = workspace().await;
    let report = extract(&archive[..], &workspace, &Limits::default()).unwrap();
    assert_eq!(report.bytes, 300 << 20);
    assert!(peak_kib() - before < 64 << 10, "memory grew");
}

/// Peak memory of this process in KiB; 0 where it cannot be read.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Archives with bytes changed at random never panic, and never write outside.
#[tokio::test]
async fn random_damage() {
    let base = Tarball::rooted()
        .pax(b'x', &[("path", b"root/some/long/path"), ("size", b"3")])
        .file("root/cut", b"abc")
        .long_name(b"root/other")
        .file("root/cut", b"abc")
        .entry(b'2', "root/link", 0o777, b"")
        .file("root/link/x", b"x")
        .tar();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    let interesting = [
        0, b'.', b'/', b'0', b'7', b'2', b'x', b'g', b'L', 0x80, 0xff, b' ',
    ];
    for _ in 0..400 {
        let mut damaged = base.clone();
        for _ in 0..=random(4) {
            let block = random(damaged.len() / 512) * 512;
            let spot = block + random(512);
            damaged[spot] = interesting[random(interesting.len())];
            // A right checksum lets the change get further in.
            damaged[block + 148..block + 156].fill(b' ');
            let sum: u32 = damaged[block..block + 512]
                .iter()
                .map(|byte| u32::from(*byte))
                .sum();
            damaged[block + 148..block + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
        let limits = Limits {
            max_bytes: 1 << 20,
            max_entries: 100,
        };
        let _outcome = unpack_within(&gzip(&damaged)[..], &limits).await;
    }
}

/// A path implies the directories that it lies in; a few entries must not make a million of them.
#[tokio::test]
async fn implied_directories_count_as_entries() {
    let limits = Limits {
        max_bytes: 1 << 20,
        max_entries: 100,
    };
    let mut deep = Tarball::rooted();
    for number in 0..10 {
        let path = format!("root/{number}/{}x", "d/".repeat(50));
        deep = deep
            .pax(b'x', &[("path", path.as_bytes())])
            .file("root/x", b"");
    }
    let (result, files, _tmp) = unpack_within(&deep.gz()[..], &limits).await;
    assert!(
        matches!(
            result,
            Err(WorkspaceError::ArchiveTooManyEntries { limit: 100 })
        ),
        "{result:?}"
    );
    assert_eq!(files.len(), 0);
}

//! A disk that is full, at any point of a run, or that cannot be written to: the run says so and ends,
//! and once that is over later runs finish the work. On a small file system of its own, which root may
//! mount; elsewhere this is not checked, and says so.

use crate::stage::scenes::{Scene, fresh_work};
use crate::stage::{A_MINUTE, Automation, Backend};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: usize = 4096;
/// Pages of the file system.
const PAGES: usize = 512;

/// A small file system that is mounted while this lives.
struct SmallDisk {
    place: PathBuf,
}

impl SmallDisk {
    fn mount(place: &Path) -> Option<Self> {
        std::fs::create_dir_all(place).unwrap();
        let size = format!("size={}", PAGES * PAGE);
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(place)
            .output()
            .is_ok_and(|done| done.status.success());
        if !mounted {
            // Past what the tests' runner keeps to itself when all is well.
            let mut loud = std::io::stderr();
            let _ = writeln!(
                loud,
                "!!! NOT CHECKED HERE !!! full and read-only disks: no file system can be mounted \
                 (root can)"
            );
            return None;
        }
        let place = place.to_owned();
        Some(Self { place })
    }

    /// Fills it up but for so many pages.
    fn leave(&self, pages: usize) {
        let filler = self.place.join("filler");
        // More than there is room for: what fits is written.
        let _ = std::fs::write(&filler, vec![b'x'; PAGES * PAGE]);
        let length = std::fs::metadata(&filler).unwrap().len();
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(&filler)
            .unwrap();
        file.set_len(length.saturating_sub((pages * PAGE) as u64))
            .unwrap();
    }

    fn remount(&self, how: &str) {
        let options = format!("remount,{how}");
        let mut mount = Command::new("mount");
        let done = mount.args(["-o", &options]).arg(&self.place).output();
        assert!(done.unwrap().status.success());
    }

    fn free(&self) {
        std::fs::remove_file(self.place.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.place).output();
    }
}

/// A scene whose documents or workspaces are on such a disk; `None` where there can be none.
fn on_a_small_disk(
    automation: Automation,
    backend: Backend,
    folder: &str,
) -> Option<(Box<dyn Scene>, SmallDisk)> {
    let mut scene = fresh_work(automation, backend);
    let config = scene.stage().aside.path().join("config.json");
    std::fs::write(&config, scene.stage().config.to_string()).unwrap();
    let path = config.display().to_string();
    scene.stage_mut().set("AUTOMATION_CONFIG", &path);
    scene.stage_mut().config_beside = false;
    let disk = SmallDisk::mount(&scene.stage().scratch.root().join(folder))?;
    Some((scene, disk))
}

/// One run with so many pages left, then later runs with room.
fn full_once(scene: &mut dyn Scene, disk: &SmallDisk, pages: usize) {
    disk.leave(pages);
    let ran = scene.stage().run();
    let of = format!("{pages} pages in {}: {}", disk.place.display(), ran.all());
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{of}");
    assert_eq!(ran.told.callbacks.len(), 1, "{of}");
    if scene.stage().agent.created() == 0 {
        // Git rarely says why it cannot write.
        let told = ran.log.contains("space") || ran.log.contains("not started: git clone");
        assert!(told, "it does not say what is wrong: {of}");
    }
    disk.free();
    made_good(scene, &of);
}

/// Nothing was done twice, and everything is done in the end.
fn made_good(scene: &mut dyn Scene, of: &str) {
    scene.doubled().unwrap_or_else(|why| panic!("{why}: {of}"));
    scene
        .polls_until_quiet()
        .unwrap_or_else(|why| panic!("{why}\nafter {of}"));
}

fn full_at_first(automation: Automation, backend: Backend, folder: &str, pages: usize) {
    if let Some((mut scene, disk)) = on_a_small_disk(automation, backend, folder) {
        full_once(scene.as_mut(), &disk, pages);
    }
}

/// The disk fills while the agent works.
fn full_at_last(automation: Automation, pages: usize) {
    let documents = on_a_small_disk(automation, Backend::Files, "automation-state");
    if let Some((mut scene, disk)) = documents {
        scene.stage().run().ok();
        scene.stage().agents_finish();
        scene.stage().let_time_pass(A_MINUTE);
        full_once(scene.as_mut(), &disk, pages);
    }
}

#[test]
fn a_full_disk_below_the_documents_loses_nothing() {
    for automation in [Automation::News, Automation::Review, Automation::Issue] {
        for pages in 0..6 {
            full_at_first(automation, Backend::Files, "automation-state", pages);
        }
    }
}

#[test]
fn a_full_disk_below_the_workspaces_loses_nothing() {
    for pages in 0..4 {
        full_at_first(
            Automation::Review,
            Backend::LikeSqlite,
            "automation-runs",
            pages,
        );
    }
    for pages in [0, 1, 3, 6, 10, 15, 21, 28] {
        full_at_first(
            Automation::Issue,
            Backend::LikeSqlite,
            "automation-runs",
            pages,
        );
    }
}

#[test]
fn a_disk_that_is_full_when_the_work_is_done_loses_nothing() {
    for automation in [Automation::News, Automation::Review, Automation::Issue] {
        for pages in 0..4 {
            full_at_last(automation, pages);
        }
    }
}

#[test]
fn documents_that_can_only_be_read_are_named_and_stay_as_they_are() {
    for automation in [Automation::News, Automation::Review, Automation::Issue] {
        for begun in [false, true] {
            let documents = on_a_small_disk(automation, Backend::Files, "automation-state");
            let Some((mut scene, disk)) = documents else {
                return;
            };
            if begun {
                scene.stage().run().ok();
                scene.stage().agents_finish();
                scene.stage().let_time_pass(A_MINUTE);
            }
            let before = scene.stage().agent.created();
            disk.remount("ro");
            let ran = scene.stage().run();
            let error = ran.failed(1);
            assert!(
                error.contains("automation-state") && error.contains("Read-only file system"),
                "{}",
                ran.all()
            );
            assert_eq!(scene.stage().agent.created(), before, "{}", ran.all());
            disk.remount("rw");
            made_good(scene.as_mut(), &ran.all());
        }
    }
}

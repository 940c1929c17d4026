//! Writes entries below the workspace: every directory is opened by its own name and never through
//! a link, every file is created anew.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::entries::{Entries, Entry, EntryKind, refused, source};
use super::paths::{Checked, Claim, Taken, check};
use super::report::Extracted;
use crate::beneath::Dir;
use crate::error::WorkspaceError;
use crate::workspace::Workspace;

/// How a Git LFS pointer begins (from the Git LFS specification, version 1).
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
/// Size under which a pointer stays, in bytes (same source).
const LFS_POINTER_MAX: u64 = 1024;

pub(super) struct Sink<'a> {
    workspace: &'a Workspace,
    root: Option<Vec<u8>>,
    taken: Taken,
    /// The directory of the last file, since neighbours mostly follow each other.
    last: Option<(Vec<u8>, Dir)>,
    buffer: Vec<u8>,
    report: Extracted,
}

impl<'a> Sink<'a> {
    pub(super) fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            root: None,
            taken: Taken::default(),
            last: None,
            buffer: vec![0; super::BUFFER],
            report: Extracted::default(),
        }
    }

    /// What came of it; an archive without any directory is an error.
    pub(super) fn finish(self, commit: Option<String>) -> Result<Extracted, WorkspaceError> {
        if self.root.is_none() {
            return Err(refused("it holds no directory"));
        }
        Ok(Extracted {
            commit,
            ..self.report
        })
    }

    /// Writes one entry, or counts why not.
    pub(super) fn take<R: Read>(
        &mut self,
        entry: &Entry,
        content: &mut Entries<R>,
    ) -> Result<(), WorkspaceError> {
        let skipped = &mut self.report.skipped;
        let whole = |reason| refused(format!("{} has {reason}", shown(&entry.path)));
        let names = match check(&entry.path).map_err(whole)? {
            Checked::Nothing => return Ok(()),
            Checked::TooLong => {
                skipped.unusable_names += 1;
                skipped.remember(&entry.path);
                return Ok(());
            }
            Checked::GitMetadata => {
                skipped.git_metadata += 1;
                skipped.remember(&entry.path);
                return Ok(());
            }
            Checked::Below { root, names } => {
                let known = self.root.get_or_insert_with(|| root.to_vec());
                if known != root {
                    return Err(refused(format!(
                        "it has two roots, {} and {}",
                        shown(known),
                        shown(root)
                    )));
                }
                names
            }
        };
        if names.is_empty() {
            return match entry.kind {
                EntryKind::Dir => Ok(()),
                _ => Err(refused(format!(
                    "{} is outside of any directory",
                    shown(&entry.path)
                ))),
            };
        }
        let claim = self.taken.claim(&names, entry.kind == EntryKind::Dir);
        // Paths imply directories, and one long path implies a thousand of them.
        content.count_paths(self.taken.len())?;
        let counter = match (claim, entry.kind) {
            (Claim::Duplicate, _) => &mut skipped.duplicates,
            (Claim::CaseCollision, _) => &mut skipped.case_collisions,
            (Claim::Conflict, _) => &mut skipped.conflicts,
            (Claim::Free, EntryKind::Symlink) => &mut skipped.symlinks,
            (Claim::Free, EntryKind::HardLink) => &mut skipped.hard_links,
            (Claim::Free, EntryKind::Device) => &mut skipped.devices,
            (Claim::Free, EntryKind::Other) => &mut skipped.others,
            (Claim::Free, EntryKind::Dir | EntryKind::File) => {
                return self.write(entry, &names, content);
            }
        };
        *counter += 1;
        skipped.remember(&entry.path);
        Ok(())
    }

    fn write<R: Read>(
        &mut self,
        entry: &Entry,
        names: &[&[u8]],
        content: &mut Entries<R>,
    ) -> Result<(), WorkspaceError> {
        let result = match entry.kind {
            EntryKind::Dir => self.dir(names, entry.mode),
            _ => self.file(names, entry.mode, content)?,
        };
        match result {
            Ok(()) => Ok(()),
            Err(error) => {
                let skipped = &mut self.report.skipped;
                match error.kind() {
                    // The file system does not tell two names apart that we do.
                    io::ErrorKind::AlreadyExists => skipped.case_collisions += 1,
                    io::ErrorKind::NotADirectory => skipped.conflicts += 1,
                    io::ErrorKind::InvalidFilename => skipped.unusable_names += 1,
                    _ if is_illegal_name(&error) => skipped.unusable_names += 1,
                    _ => return Err(self.failed(names, error)),
                }
                skipped.remember(&entry.path);
                Ok(())
            }
        }
    }

    fn dir(&mut self, names: &[&[u8]], mode: u32) -> io::Result<()> {
        let dir = self.open(names)?;
        dir.set_mode(permissions(mode) | 0o700)?;
        self.last = Some((names.join(&b'/'), dir));
        Ok(())
    }

    /// Creates a file (the inner result: whether the file system takes it) and fills it.
    fn file<R: Read>(
        &mut self,
        names: &[&[u8]],
        mode: u32,
        content: &mut Entries<R>,
    ) -> Result<io::Result<()>, WorkspaceError> {
        let Some((name, above)) = names.split_last() else {
            return Ok(Ok(()));
        };
        let parent = match self.last.take() {
            Some((path, dir)) if path == above.join(&b'/') => Ok(dir),
            _ => self.open(above),
        };
        let created = parent.and_then(|parent| {
            let file = parent.create_file(OsStr::from_bytes(name), permissions(mode) | 0o600);
            self.last = Some((above.join(&b'/'), parent));
            file
        });
        let mut file = match created {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let mut size = 0;
        let mut pointer = false;
        loop {
            let n = match content.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(source(error)),
            };
            let chunk = &self.buffer[..n];
            pointer |= size == 0 && chunk.starts_with(LFS_POINTER);
            size += n as u64;
            if let Err(error) = file.write_all(chunk) {
                return Err(self.failed(names, error));
            }
        }
        self.report.files += 1;
        self.report.bytes += size;
        self.report.has_lfs_pointers |= pointer && size < LFS_POINTER_MAX;
        self.report.has_submodules |= size > 0 && names == [b".gitmodules"];
        Ok(Ok(()))
    }

    /// Opens a directory below the workspace and makes what is missing on the way.
    fn open(&mut self, names: &[&[u8]]) -> io::Result<Dir> {
        let mut current = self.workspace.dir().again()?;
        for name in names {
            let name = OsStr::from_bytes(name);
            current = match current.sub(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    current.make_sub(name, 0o755)?;
                    self.report.dirs += 1;
                    current.sub(name)?
                }
                other => other?,
            };
        }
        Ok(current)
    }

    fn failed(&self, names: &[&[u8]], error: io::Error) -> WorkspaceError {
        let below = PathBuf::from(OsStr::from_bytes(&names.join(&b'/')));
        WorkspaceError::io("write", &self.workspace.path().join(below), error)
    }
}

/// Read, write and execute, without write for everybody, without set-uid, set-gid and sticky bit.
fn permissions(mode: u32) -> u16 {
    u16::try_from(mode & 0o775).unwrap_or(0o644)
}

/// Bytes that the file system does not accept in a name.
fn is_illegal_name(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::ILSEQ.raw_os_error())
        || code == Some(rustix::io::Errno::INVAL.raw_os_error())
}

/// A path of strangers for an error text.
fn shown(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    let short: String = text.escape_debug().take(120).collect();
    format!("\"{short}\"")
}

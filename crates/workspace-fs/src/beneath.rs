//! Directories held open, and what is done below them one name at a time.
//!
//! An agent may replace any part of a path by a symbolic link while we look away. So nothing here
//! takes a path: a [`Dir`] is an open directory, and every step goes from one to the next by a
//! single name that is never followed when it is a link.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

/// An open directory.
#[derive(Debug)]
pub(crate) struct Dir(OwnedFd);

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File {
        /// Length in bytes.
        len: u64,
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Special,
}

impl Kind {
    /// For error texts.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::File { .. } => "file",
            Self::Dir => "directory",
            Self::Link => "symbolic link",
            Self::Special => "special file",
        }
    }
}

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

impl Dir {
    /// Opens a trusted path; links in it are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(
            CWD,
            path,
            DIRECTORY,
            Mode::empty(),
        )?))
    }

    /// Another handle of the same directory.
    pub(crate) fn again(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Opens a directory in this one; a link is an error.
    pub(crate) fn sub(&self, name: &OsStr) -> io::Result<Self> {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        Ok(Self(rustix::fs::openat(
            &self.0,
            single(name)?,
            flags,
            Mode::empty(),
        )?))
    }

    /// Opens a directory in this one and gives its owner back the permissions to list and change
    /// it, which an agent may have taken away.
    pub(crate) fn sub_repaired(&self, name: &OsStr) -> io::Result<Self> {
        let dir = match self.sub(name) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.give_back(name, Mode::RWXU)?;
                self.sub(name)?
            }
            other => other?,
        };
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&dir.0)?.st_mode);
        if !mode.contains(Mode::RWXU) {
            rustix::fs::fchmod(&dir.0, mode | Mode::RWXU)?;
        }
        Ok(dir)
    }

    /// Adds permissions to what cannot be opened. The handle names the very thing, so a link put in
    /// its place meanwhile is not followed.
    #[cfg(target_os = "linux")]
    fn give_back(&self, name: &OsStr, wanted: Mode) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.0, single(name)?, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&handle)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            return Err(rustix::io::Errno::LOOP.into());
        }
        let by_handle = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let mode = Mode::from_raw_mode(stat.st_mode) | wanted;
        rustix::fs::chmodat(CWD, by_handle, mode, AtFlags::empty())?;
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn give_back(&self, name: &OsStr, wanted: Mode) -> io::Result<()> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let stat = rustix::fs::statat(&self.0, single(name)?, flags)?;
        let mode = Mode::from_raw_mode(stat.st_mode) | wanted;
        rustix::fs::chmodat(&self.0, single(name)?, mode, flags)?;
        Ok(())
    }

    /// Makes a directory; `false` when the name is taken.
    pub(crate) fn make_sub(&self, name: &OsStr, mode: u16) -> io::Result<bool> {
        match rustix::fs::mkdirat(&self.0, single(name)?, bits(mode)) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the permission bits of this directory.
    pub(crate) fn set_mode(&self, mode: u16) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.0, bits(mode))?)
    }

    /// What stands under a name, itself and not what it may point to; `None` for nothing.
    pub(crate) fn kind(&self, name: &OsStr) -> io::Result<Option<Kind>> {
        let stat = match rustix::fs::statat(&self.0, single(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File {
                len: u64::try_from(stat.st_size).unwrap_or(0),
                executable: stat.st_mode & 0o100 != 0,
            },
            FileType::Directory => Kind::Dir,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        }))
    }

    /// Names in this directory, `.` and `..` aside, at most `max` of them.
    pub(crate) fn names(&self, max: usize) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name: &CStr = entry.file_name();
            let name = name.to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
            if names.len() == max {
                break;
            }
        }
        Ok(names)
    }

    /// Creates a file that was not there and opens it for writing.
    pub(crate) fn create_file(&self, name: &OsStr, mode: u16) -> io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.0, single(name)?, flags, bits(mode))?;
        // The process's umask has had its say at creation; the mode asked for is meant.
        rustix::fs::fchmod(&fd, bits(mode))?;
        Ok(File::from(fd))
    }

    /// Opens a regular file for reading; `None` when there is nothing, or something else. Never
    /// waits (a FIFO would). Gives its owner back the permission to read.
    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
        if !matches!(self.kind(name)?, Some(Kind::File { .. })) {
            return Ok(None);
        }
        let file = match self.open_for_reading(name) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.give_back(name, Mode::RUSR | Mode::WUSR)?;
                self.open_for_reading(name)?
            }
            other => other?,
        };
        Ok(file.metadata()?.is_file().then_some(file))
    }

    fn open_for_reading(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.0, single(name)?, flags, Mode::empty())?;
        Ok(File::from(fd))
    }

    /// Reads a regular file of at most `max` bytes; `None` when it is absent, larger, or not a
    /// regular file.
    pub(crate) fn read(&self, name: &OsStr, max: u64) -> io::Result<Option<Vec<u8>>> {
        use io::Read;
        let Some(file) = self.open_file(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok((bytes.len() as u64 <= max).then_some(bytes))
    }

    /// Where a symbolic link points, as its bytes.
    pub(crate) fn read_link(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(&self.0, single(name)?, Vec::new())?.into_bytes())
    }

    /// Removes anything but a directory.
    pub(crate) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(
            &self.0,
            single(name)?,
            AtFlags::empty(),
        )?)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(
            &self.0,
            single(name)?,
            AtFlags::REMOVEDIR,
        )?)
    }

    /// Moves an entry of this directory into another one.
    pub(crate) fn move_to(&self, name: &OsStr, to: &Self, new_name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(
            &self.0,
            single(name)?,
            &to.0,
            single(new_name)?,
        )?)
    }
}

/// Nothing but one plain name may pass.
fn single(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a single name",
        ));
    }
    Ok(name)
}

fn bits(mode: u16) -> Mode {
    Mode::from_raw_mode(mode.into())
}

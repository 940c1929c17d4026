//! The archive that is uploaded: found, looked into, and given the configuration.
//!
//! `cargo xtask package` makes one per automation, a `.tar.gz` with the executable in `bin/` (perhaps
//! packed, with what unpacks it) and an example `config.json` at the top. Only `config.json` is
//! replaced, and the same archive with the same configuration has the same bytes every time.

mod error;

use crate::run::Automation;
use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

pub(super) use error::ArchiveError;

/// The name of the configuration in an archive.
const CONFIG: &str = "config.json";
/// Bytes that an archive may unpack to; ours are a few MiB.
const MOST_UNPACKED: u64 = 512 << 20;
/// Names that an error shows.
const SHOWN: usize = 8;

/// An archive, and what is in it.
#[derive(Clone, Debug)]
pub(super) struct Archive {
    source: String,
    bytes: Vec<u8>,
    names: Vec<String>,
    config: Option<Vec<u8>>,
}

impl Archive {
    /// Reads the archive that was named, or the one that `cargo xtask package` made.
    pub(super) fn of_file(
        named: Option<&Path>,
        automation: Automation,
        executable: Option<&Path>,
        working_dir: &Path,
    ) -> Result<Self, ArchiveError> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => find(automation, executable, working_dir)?,
        };
        let name = path.display().to_string();
        let bytes = std::fs::read(&path).map_err(|source| ArchiveError::Unreadable {
            path: name.clone(),
            source,
        })?;
        Self::of_bytes(&name, bytes)
    }

    /// Looks into an archive; `source` names it in messages.
    pub(super) fn of_bytes(source: &str, bytes: Vec<u8>) -> Result<Self, ArchiveError> {
        let damaged = |error: io::Error| ArchiveError::Damaged {
            source_name: source.to_owned(),
            detail: error.to_string(),
        };
        let (mut names, mut config) = (Vec::new(), None);
        let mut archive = tar::Archive::new(unpacked(&bytes));
        for entry in archive.entries().map_err(damaged)? {
            let mut entry = entry.map_err(damaged)?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let name = plain(&entry.path_bytes());
            if name == CONFIG {
                let mut text = Vec::new();
                entry.read_to_end(&mut text).map_err(damaged)?;
                config = Some(text);
            }
            names.push(name);
        }
        Ok(Self {
            source: source.to_owned(),
            bytes,
            names,
            config,
        })
    }

    /// Where it comes from.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Its bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The text of its configuration.
    pub(super) fn config(&self) -> Option<String> {
        let bytes = self.config.as_deref()?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Makes sure that it holds the executable of an automation, as it is or packed.
    pub(super) fn check(&self, automation: Automation) -> Result<(), ArchiveError> {
        self.entrypoint(automation).map(drop)
    }

    /// The command that a run is started with. The executable is at the top of the archive or in
    /// `bin`. The working directory of a run on a shared agent server is also its `WORKSPACE_BASE`:
    /// a file at the top may stand in the way of the folder for workspaces, which has the name of the
    /// executable in one case.
    pub(super) fn entrypoint(&self, automation: Automation) -> Result<String, ArchiveError> {
        let name = automation.name();
        let packed = format!("{name}.");
        let executable_in = |folder: &str| {
            let mut inside = self
                .names
                .iter()
                .filter_map(|name| name.strip_prefix(folder));
            inside.find(|file| *file == name || file.starts_with(&packed))
        };
        let (at_top, in_bin) = (executable_in(""), executable_in("bin/"));
        let start = match (at_top, in_bin) {
            (Some(_), _) => name.to_owned(),
            (None, Some(_)) => format!("bin/{name}"),
            (None, None) => return Err(self.holds_another(name)),
        };
        let folder = automation.area().folder();
        let executable = at_top.filter(|_| start == folder);
        let file = self.names.iter().find(|name| *name == folder);
        if let Some(file) = executable.or(file.map(String::as_str)) {
            return Err(ArchiveError::InTheWay {
                source_name: self.source.clone(),
                folder,
                file: file.to_owned(),
                advice: if executable.is_some() && in_bin.is_none() {
                    format!("put the executable into `bin/`, as `cargo xtask package {name}` does")
                } else {
                    "leave it out, or put it into another folder".to_owned()
                },
            });
        }
        Ok(format!("./{start}"))
    }

    fn holds_another(&self, name: &'static str) -> ArchiveError {
        let shown = self.names.iter().take(SHOWN).cloned();
        let mut found = shown.collect::<Vec<_>>().join(", ");
        if found.is_empty() {
            "no files".clone_into(&mut found);
        } else if self.names.len() > SHOWN {
            found.push_str(", …");
        }
        ArchiveError::Other {
            source_name: self.source.clone(),
            name,
            found,
        }
    }

    /// The same archive with another configuration.
    pub(super) fn with_config(&self, text: &str) -> Result<Self, ArchiveError> {
        let bytes = self.rendered(text.as_bytes());
        let bytes = bytes.map_err(|error| ArchiveError::Damaged {
            source_name: self.source.clone(),
            detail: error.to_string(),
        })?;
        Ok(Self {
            bytes,
            config: Some(text.as_bytes().to_vec()),
            ..self.clone()
        })
    }

    fn rendered(&self, text: &[u8]) -> io::Result<Vec<u8>> {
        // No time and no file name, so that nothing but the contents decides about the bytes.
        let packer = GzBuilder::new()
            .mtime(0)
            .write(Vec::new(), Compression::best());
        let mut builder = Builder::new(packer);
        let mut age = None;
        let mut replaced = false;
        let mut archive = tar::Archive::new(unpacked(&self.bytes));
        // Raw: what one entry says about the next is passed on as it is.
        for entry in archive.entries()?.raw(true) {
            let mut entry = entry?;
            let header = entry.header().clone();
            age = age.or(header.mtime().ok());
            if header.entry_type().is_file() && plain(&entry.path_bytes()) == CONFIG {
                let mut header = header;
                header.set_size(as_u64(text));
                header.set_cksum();
                builder.append(&header, text)?;
                replaced = true;
            } else {
                builder.append(&header, &mut entry)?;
            }
        }
        if !replaced {
            let mut header = Header::new_ustar();
            header.set_path(CONFIG)?;
            header.set_entry_type(EntryType::Regular);
            header.set_mode(0o644);
            header.set_mtime(age.unwrap_or(1));
            header.set_size(as_u64(text));
            header.set_cksum();
            builder.append(&header, text)?;
        }
        builder.into_inner()?.finish()
    }
}

fn unpacked(bytes: &[u8]) -> io::Take<MultiGzDecoder<&[u8]>> {
    MultiGzDecoder::new(bytes).take(MOST_UNPACKED)
}

fn as_u64(text: &[u8]) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// The name of an entry without the dot that some tools put before it.
fn plain(path: &[u8]) -> String {
    let path = String::from_utf8_lossy(path);
    path.trim_start_matches("./").to_owned()
}

/// The first archive of that name where one may lie.
fn find(
    automation: Automation,
    executable: Option<&Path>,
    working_dir: &Path,
) -> Result<PathBuf, ArchiveError> {
    let name = automation.name();
    let file = format!("{name}.tar.gz");
    let beside = executable.and_then(Path::parent);
    let mut places: Vec<PathBuf> = Vec::new();
    for place in beside
        .into_iter()
        .flat_map(|folder| {
            // A release has it beside the program, a checkout in target/package.
            let target = folder.parent().map(|target| target.join("package"));
            [
                Some(folder.to_owned()),
                Some(folder.join("package")),
                target,
            ]
        })
        .flatten()
        .chain([working_dir.join("target/package"), working_dir.to_owned()])
    {
        let place = place.join(&file);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return Ok(found.clone());
    }
    let places: Vec<String> = places
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    Err(ArchiveError::NotFound {
        name,
        places: places.join(", "),
    })
}

#[cfg(test)]
mod tests;

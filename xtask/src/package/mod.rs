//! `cargo xtask package`: one archive per automation, small enough for the automation service.
//!
//! An archive holds the executable as xz, an example `config.json` and `setup.sh`, which unpacks the
//! executable where it is to run. The same commit gives the same bytes. How the executables got small
//! enough: `docs/packaging.md`.

mod archive;
mod build;
mod elf;

use crate::console::{block, say};
use crate::error::TaskError;
use crate::process::target_dir;

/// The most bytes that the automation service takes as an upload.
const LIMIT: usize = 1_048_576;
/// The newest glibc that a binary may ask for: that of Debian 11.
const GLIBC: (u32, u32) = (2, 31);
/// How many crates are named by their weight.
const HEAVIEST: usize = 10;

/// The automations.
pub(crate) const NAMES: [&str; 3] = ["news-digest", "github-pr-reviewer", "gitlab-issue-to-mr"];

/// Builds the archives of these automations, or of all.
pub(crate) fn run(automations: &[String]) -> Result<(), TaskError> {
    if let Some(unknown) = automations
        .iter()
        .find(|name| !NAMES.contains(&name.as_str()))
    {
        return Err(TaskError::found(format!(
            "{unknown} is no automation; there are {}",
            NAMES.join(", ")
        )));
    }
    let wanted: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| automations.is_empty() || automations.iter().any(|wanted| wanted == name))
        .collect();
    build::binaries(&wanted)?;
    let folder = target_dir().join("package");
    std::fs::create_dir_all(&folder).map_err(|error| TaskError::file(&folder, error))?;
    let mut wrong = Vec::new();
    for name in wanted {
        let built = build::binary(name)?;
        let stripped = elf::stripped(&built, &folder)?;
        let packed = archive::archive(name, &stripped)?;
        let path = folder.join(format!("{name}.tar.gz"));
        std::fs::write(&path, &packed).map_err(|error| TaskError::file(&path, error))?;
        let left = LIMIT.cast_signed() - packed.len().cast_signed();
        say(&format!(
            "{name}: executable {} bytes, archive {} bytes, {left} bytes left",
            stripped.len(),
            packed.len()
        ));
        block(&elf::heaviest(&built, HEAVIEST)?);
        if left < 0 {
            wrong.push(format!("{name}: the archive is {} bytes too large", -left));
        }
        let newest = elf::newest_glibc(&stripped);
        say(&format!("{name}: asks for glibc {}.{}", newest.0, newest.1));
        if newest > GLIBC {
            wrong.push(format!(
                "{name}: asks for glibc {}.{}, newer than {}.{}",
                newest.0, newest.1, GLIBC.0, GLIBC.1
            ));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(TaskError::found(wrong.join("\n")))
    }
}

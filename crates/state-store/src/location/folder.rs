//! The folder of the state documents of an installation.

use std::path::{Component, Path, PathBuf};

/// The folder's name under the root of the workspaces.
pub const STATE_FOLDER: &str = "automation-state";

/// The folder that holds the documents: `automation-state` under the root of the workspaces.
///
/// - `WORKSPACE_BASE` is `{root}/automation-runs/{run_id}` in local mode, so the root lies two
///   levels up. That is the documented rule, and the deployed scripts apply it to whatever the
///   variable holds; so does this, for their documents to be found.
/// - One exception: where two levels up would be the root of the file system although the base is
///   no run directory (`/workspace` in a sandbox), the folder lies in the base itself. What a run
///   was not given is not written to.
/// - Without `WORKSPACE_BASE` the root is `~/.openhands/workspaces`; `None` when there is no home.
///
/// An empty path counts as absent. `..` and `.` are resolved in the text alone; who wants
/// symlinks resolved does so before.
pub fn state_folder(workspace_base: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    let given = |path: Option<&Path>| path.filter(|p| !p.as_os_str().is_empty()).map(plain);
    if let Some(base) = given(workspace_base) {
        return Some(root_above(&base).join(STATE_FOLDER));
    }
    Some(
        given(home)?
            .join(".openhands")
            .join("workspaces")
            .join(STATE_FOLDER),
    )
}

fn root_above(base: &Path) -> &Path {
    let above = base.parent();
    let is_run_directory = above
        .and_then(Path::file_name)
        .is_some_and(|name| name == "automation-runs");
    match above.and_then(Path::parent) {
        Some(root) if is_run_directory || root.parent().is_some() => root,
        _ => base,
    }
}

fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            // At the root it stays at the root, as everywhere else.
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

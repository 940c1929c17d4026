//! The disk, as a run sees it.

use super::Link;
use crate::world::{Fault, Folder, Service};
use lifecycle::decide::Stopped;
use lifecycle::ports::{WorkspaceError, Workspaces};

fn error(fault: Fault, dir: &str) -> WorkspaceError {
    WorkspaceError::Io {
        dir: dir.to_owned(),
        detail: format!("{fault:?}"),
    }
}

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

impl Workspaces for Link {
    async fn create(&self, parts: &[&str]) -> Result<String, WorkspaceError> {
        let dir = self.world.borrow().workspace_path(self.run, &owned(parts));
        let call = Self::call_of(Service::Disk, true, format!("makes {dir}"));
        let path = dir.clone();
        let made = self.call(call, move |world, run| {
            world.remove_folder(run, &path);
            if world.disk_is_full {
                return false;
            }
            let home = world.home_of(run);
            world.disk.folders.insert((home, path), Folder::default());
            true
        });
        match made.await {
            Ok(true) => Ok(dir),
            Ok(false) => Err(error(Fault::Disk, &dir)),
            Err(fault) => Err(error(fault, &dir)),
        }
    }

    fn path_of(&self, parts: &[&str]) -> String {
        let mut world = self.world.borrow_mut();
        let path = world.workspace_path(self.run, &owned(parts));
        if world.is_mutated(crate::mutation::Mutation::Collision) {
            // Another spelling each time, so that no two are found to be the same.
            world.calls += 1;
            let slashes = "/".repeat(usize::try_from(world.calls % 50).unwrap_or(0) + 1);
            return format!("{path}{slashes}");
        }
        path
    }

    async fn remove(&self, dir: &str, _stopped: &Stopped) -> Result<(), WorkspaceError> {
        let dir = dir.trim_end_matches('/').to_owned();
        if !self.world.borrow().is_ours(self.run, &dir) {
            return Err(WorkspaceError::OutsideRoots { dir });
        }
        let call = Self::call_of(Service::Disk, true, format!("removes {dir}"));
        let path = dir.clone();
        self.call(call, move |world, run| {
            world.remove_folder(run, &path);
        })
        .await
        .map_err(|fault| error(fault, &dir))
    }

    async fn read_file(
        &self,
        dir: &str,
        path: &str,
        _max: u64,
    ) -> Result<Option<String>, WorkspaceError> {
        let dir = dir.trim_end_matches('/').to_owned();
        let call = Self::call_of(Service::Disk, false, format!("reads {dir}/{path}"));
        let (place, file) = (dir.clone(), path.to_owned());
        self.call(call, move |world, run| {
            let home = world.home_of(run);
            let folder = world.disk.folders.get(&(home, place));
            folder.and_then(|folder| folder.files.get(&file).cloned())
        })
        .await
        .map_err(|fault| error(fault, &dir))
    }

    async fn exists(&self, dir: &str) -> Result<bool, WorkspaceError> {
        let place = dir.trim_end_matches('/').to_owned();
        let call = Self::call_of(Service::Disk, false, format!("looks for {place}"));
        let dir = place.clone();
        self.call(call, move |world, run| {
            let home = world.home_of(run);
            world.disk.folders.contains_key(&(home, place))
        })
        .await
        .map_err(|fault| error(fault, &dir))
    }
}

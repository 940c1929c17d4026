//! Releasing: a workspace goes only with proof that its conversation has stopped.

use super::poll::Watched;
use super::{Engine, Lease, World};
use crate::decide::{Step, Stopped, decide};
use crate::document::{Document, Field, Record};
use crate::policy::Policy;
use crate::ports::{Agents, WorkspaceError, Workspaces};
use std::rc::Rc;

impl<X: World, P: Policy> Engine<'_, X, P> {
    /// Removes the workspace of a task that has just ended, if its conversation was seen to have
    /// stopped.
    pub(super) async fn release_if_stopped(&self, one: &Watched, ended: &Record, lease: &Lease) {
        let sandbox = self.world.agents().is_sandbox();
        match decide(ended, &one.seen, sandbox, &self.run.run_id, one.at) {
            Step::Release(stopped) => self.release(&one.task, ended, lease, &stopped).await,
            Step::Tidy | Step::Rest => {
                self.delete_claim_key(lease, ended).await;
            }
            _ => {}
        }
    }

    /// Removes the workspace of an ended task and forgets it.
    pub(super) async fn release(
        &self,
        task: &str,
        record: &Record,
        lease: &Lease,
        stopped: &Stopped,
    ) {
        let Some(dir) = record.workspace_dir() else {
            return;
        };
        match self.world.workspaces().remove(dir, stopped).await {
            Ok(()) => {
                self.forget_workspace(task, dir);
                self.delete_claim_key(lease, record).await;
                self.report.borrow_mut().released += 1;
                self.note(task, "workspace removed");
            }
            Err(error @ WorkspaceError::OutsideRoots { .. }) => {
                self.warn(task, &error.to_string());
            }
            Err(error) => {
                self.warn(
                    task,
                    &format!("its workspace could not be removed: {error}"),
                );
            }
        }
    }

    pub(super) fn forget_workspace(&self, task: &str, dir: &str) {
        let (task, dir) = (task.to_owned(), dir.to_owned());
        self.desk.later(Rc::new(move |document: &mut Document| {
            let Some(mut record) = document.record(&task) else {
                return;
            };
            if record.workspace_dir() == Some(dir.as_str()) && !record.status().is_live() {
                record.unset(Field::WorkspaceDir);
                document.put_record(&task, record);
            }
        }));
    }
}

//! Git for the project in [`super::gitlab`]: clones whose work is a number of commits.

use super::gitlab::{BASE, GitLab};
use super::others;
use lifecycle::ports::{CloneFacts, CloneRequest, Clones, PushError, PushRequest, Pushed, Work};

impl Clones for GitLab {
    async fn clone_branch(&self, request: &CloneRequest) -> Result<CloneFacts, PushError> {
        self.log.add(format!("git clone {}", request.branch));
        others().await;
        if let Some(error) = self.clone_errors.borrow_mut().pop_front() {
            return Err(error);
        }
        Ok(CloneFacts {
            base_sha: BASE.into(),
            ..CloneFacts::default()
        })
    }

    async fn inspect(
        &self,
        _dir: &str,
        base_sha: &str,
        _branch: &str,
        _url: &str,
    ) -> Result<Work, PushError> {
        assert_eq!(base_sha, BASE);
        others().await;
        if let Some(error) = self.inspect_errors.borrow_mut().pop_front() {
            return Err(error);
        }
        Ok(self.work.get())
    }

    async fn push(&self, request: &PushRequest) -> Result<Pushed, PushError> {
        self.log.add(format!("git push {}", request.branch));
        others().await;
        if let Some(error) = self.push_errors.borrow_mut().pop_front() {
            return Err(error);
        }
        self.branches.borrow_mut().insert(request.branch.clone());
        self.pushes.borrow_mut().push(request.clone());
        Ok(Pushed {
            sha: "c".repeat(40),
            commits: self.work.get().commits,
        })
    }
}

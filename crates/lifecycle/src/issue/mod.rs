//! The issue automation: a label on an issue becomes a merge request.
//! Lifecycle and document: `docs/state/gitlab-issue-to-mr.md`.

mod branches;
mod closing;
mod discovery;
mod finish;
mod notes;
mod prompt;
mod push;
#[cfg(test)]
mod tests;

pub use notes::{MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, description, plain_text, title};
pub use prompt::{PromptFacts, prompt};

use crate::document::{Document, Field, ISSUE, Record, Schema};
use crate::engine::{Claim, World};
use crate::error::TargetError;
use crate::policy::{Discovery, Finish, Finishing, Policy, Prepared, SetupError, Trigger};
use crate::ports::{
    CloneRequest, Clones, Issue, IssueForge, Listing, Project, PushError, Workspaces,
};
use crate::report::SkipReason;

/// The access level that can push at least (GitLab: Developer).
pub const DEVELOPER: u64 = 30;

/// Whether merge requests are opened as drafts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MergeRequestMode {
    /// As a draft.
    #[default]
    Draft,
    /// Ready for review.
    Ready,
}

/// The configuration of the issue automation, for one project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueSettings {
    /// `group/…/project`, as configured.
    pub project: String,
    /// The label that asks for work; compared without case.
    pub trigger_label: String,
    /// What branch names begin with.
    pub branch_prefix: String,
    /// Whether merge requests are opened as drafts.
    pub mode: MergeRequestMode,
    /// The access level that who applies the label must hold; `None` for anybody.
    pub trigger_level: Option<u64>,
    /// Whether work of conversations that failed is pushed.
    pub keep_failed_work: bool,
    /// Base address of the API, for the agent.
    pub api_url: String,
    /// Name of the secret that holds the token, for the agent; empty when it gets none.
    pub token_secret: String,
}

/// The policy of the issue automation, for one project.
#[derive(Debug)]
pub struct IssuePolicy<'a, F, G> {
    /// The project.
    pub forge: &'a F,
    /// Git.
    pub clones: &'a G,
    /// The configuration.
    pub settings: &'a IssueSettings,
}

/// What a first look at the project gave.
#[derive(Debug)]
pub struct Survey {
    project: Project,
    default_branch: String,
    listing: Listing<Issue>,
}

/// What a trigger remembers until its start.
#[derive(Clone, Debug)]
pub struct Payload {
    issue: Issue,
    project: Project,
    default_branch: String,
    event_created_at: String,
    actor: Option<String>,
}

impl<F: IssueForge, G: Clones> Policy for IssuePolicy<'_, F, G> {
    type Survey = Survey;
    type Payload = Payload;

    fn schema(&self) -> &'static Schema {
        &ISSUE
    }

    fn target(&self) -> &str {
        &self.settings.project
    }

    async fn survey(&self) -> Result<Survey, TargetError> {
        let label = self.settings.trigger_label.as_str();
        let (project, spelling) =
            futures_util::future::join(self.forge.project(), self.forge.label_spelling(label))
                .await;
        let project = project?;
        let default_branch = usable(&project)?;
        let listing = match spelling? {
            Some(spelling) => self.forge.list_labelled(&spelling).await?,
            // A project without the label has no issue that carries it.
            None => Listing {
                items: Vec::new(),
                warnings: Vec::new(),
                moved_to: None,
            },
        };
        Ok(Survey {
            project,
            default_branch,
            listing,
        })
    }

    async fn suspect(&self, survey: &Survey, record: &Record) -> bool {
        let Some(iid) = record.count(Field::IssueIid) else {
            return false;
        };
        if survey.listing.items.iter().any(|issue| issue.iid == iid) {
            return false;
        }
        // Not in the list of labelled open issues: closed, or only the label was taken off.
        match self.forge.issue(iid).await {
            Ok(issue) => issue.is_none_or(|issue| !issue.open),
            Err(_) => false,
        }
    }

    async fn discover<X: World>(
        &self,
        world: &X,
        survey: &Survey,
        document: &Document,
    ) -> Result<Discovery<Payload>, TargetError> {
        self.find_triggers(world, survey, document).await
    }

    async fn confirm<X: World>(
        &self,
        _world: &X,
        trigger: &mut Trigger<Payload>,
        _document: &Document,
    ) -> Result<(), SetupError> {
        let issue = match self.forge.issue(trigger.payload.issue.iid).await {
            Ok(Some(issue)) if issue.open => issue,
            Ok(_) => return Err(SetupError::Skip(SkipReason::NoLongerOpen, String::new())),
            Err(error) => return Err(error.into()),
        };
        if !has_label(&issue, &self.settings.trigger_label) {
            return Err(SetupError::Skip(SkipReason::LostLabel, String::new()));
        }
        trigger
            .record
            .set_text(Field::IssueTitle, &issue.title, 300);
        trigger.payload.issue = issue;
        Ok(())
    }

    async fn prepare<X: World>(
        &self,
        world: &X,
        claim: &Claim,
        trigger: &Trigger<Payload>,
        document: &Document,
    ) -> Result<Prepared, SetupError> {
        let payload = &trigger.payload;
        let identity = self.forge.identity().await.map_err(SetupError::from)?;
        let branch = self
            .free_branch(payload.issue.iid, claim.task(), document)
            .await
            .map_err(SetupError::from)?;
        let Some(branch) = branch else {
            return Err(SetupError::Failed(format!(
                "the branches {0} to {0}-{1} are all taken; delete those that are done",
                self.branch_name(payload.issue.iid),
                branches::LAST_SUFFIX
            )));
        };
        let parts: Vec<&str> = trigger.workspace.iter().map(String::as_str).collect();
        let dir = world
            .workspaces()
            .create(&parts)
            .await
            .map_err(SetupError::from)?;
        let request = CloneRequest {
            url: payload.project.http_url.clone(),
            base_branch: payload.default_branch.clone(),
            branch: branch.clone(),
            dir,
            identity,
        };
        let clone = self
            .clones
            .clone_branch(&request)
            .await
            .map_err(|error| SetupError::Failed(clone_failed(&error)))?;
        let facts = PromptFacts {
            settings: self.settings,
            project: &payload.project,
            issue: &payload.issue,
            label_event_at: &payload.event_created_at,
            labelled_by: payload.actor.as_deref(),
            base_branch: &payload.default_branch,
            base_sha: &clone.base_sha,
            branch: &branch,
            has_submodules: clone.has_submodules,
            has_lfs: clone.has_lfs,
        };
        let note = format!("cloned {} at {}", payload.default_branch, clone.base_sha);
        let fields = vec![
            (Field::Branch, branch.as_str().into()),
            (Field::BaseSha, clone.base_sha.as_str().into()),
        ];
        Ok(Prepared {
            prompt: prompt(&facts),
            fields,
            note,
        })
    }

    async fn acknowledge<X: World>(
        &self,
        _world: &X,
        _task: &str,
        _record: &Record,
    ) -> Result<(), String> {
        // The issue hears of a result only; the branch and the conversation are work in progress.
        Ok(())
    }

    async fn finish<X: World>(&self, world: &X, finishing: &Finishing<'_>) -> Finish {
        self.collect(world, finishing).await
    }

    async fn give_up<X: World>(&self, world: &X, finishing: &Finishing<'_>, error: &str) -> Finish {
        self.gave_up(world, finishing, error).await
    }

    fn tidy(&self, document: &mut Document) {
        let label = self.settings.trigger_label.as_str();
        if document
            .get("trigger_label")
            .and_then(|value| value.as_str())
            != Some(label)
        {
            document.set("trigger_label", label);
        }
    }
}

/// The default branch of a project that can be worked on, or why it cannot.
fn usable(project: &Project) -> Result<String, TargetError> {
    let unsuitable = |text: &str| Err(TargetError::Unsuitable(text.to_owned()));
    if project.archived {
        return unsuitable("the project is archived; unarchive it or take it off the list");
    }
    if !project.issues_enabled {
        return unsuitable("issues are switched off in this project; switch them on");
    }
    if !project.repository_enabled {
        return unsuitable("the repository is switched off in this project; switch it on");
    }
    if let Some(level) = project.access_level.filter(|level| *level < DEVELOPER) {
        return Err(TargetError::Unsuitable(format!(
            "the token has access level {level} here, below Developer ({DEVELOPER}), which is the \
             least that can push; raise its role"
        )));
    }
    match &project.default_branch {
        Some(branch) if !branch.is_empty() => Ok(branch.clone()),
        _ => unsuitable("the repository is empty: it has no default branch; push a first commit"),
    }
}

fn has_label(issue: &Issue, label: &str) -> bool {
    let wanted = label.to_lowercase();
    issue
        .labels
        .iter()
        .any(|label| label.to_lowercase() == wanted)
}

fn clone_failed(error: &PushError) -> String {
    match error {
        PushError::Refused(text) => format!("git clone was refused: {text}"),
        other => format!("git clone: {other}"),
    }
}

//! The pull request reviewer: a label becomes one published review of exactly one commit.
//! Lifecycle and document: `docs/state/github-pr-reviewer.md`.

mod comments;
mod discovery;
mod finish;
mod prompt;
mod snapshots;
#[cfg(test)]
mod tests;

pub(crate) use comments::without_marks;
pub use comments::{MAX_COMMENT_CHARS, acknowledgement, outcome};
pub use prompt::{Guide, PromptFacts, prompt};

use crate::document::{Document, Field, REVIEW, Record, Schema};
use crate::engine::{Claim, World};
use crate::error::TargetError;
use crate::identity::{self, Kind};
use crate::policy::{
    Discovery, Finish, Finishing, Policy, Prepared, SetupError, Trigger, triggered_at,
};
use crate::ports::{
    Agents, CheckoutError, Checkouts, Clock, ForgeError, Listing, Pull, PullDetails, ReviewForge,
    Workspaces,
};
use crate::report::SkipReason;

/// Bytes of a repository's review guide that are read.
pub const MAX_GUIDE_BYTES: u64 = 32 * 1024;

/// How the agent should sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Everything worth saying.
    #[default]
    Thorough,
    /// Only what matters most.
    Concise,
    /// Encouraging.
    Friendly,
}

/// The configuration of the reviewer, for one repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewSettings {
    /// `owner/repo`, as configured.
    pub repo: String,
    /// The label that asks for a review; compared without case.
    pub trigger_label: String,
    /// How the agent should sound.
    pub tone: Tone,
    /// More about style, in the words of the team.
    pub style_instructions: String,
    /// Path of the review guide in the repository; empty for none.
    pub guide_path: String,
    /// Whether drafts are reviewed.
    pub review_drafts: bool,
    /// Base address of the API, for the agent.
    pub api_url: String,
    /// Name of the secret that holds the token, for the agent; empty when it gets none.
    pub token_secret: String,
}

/// The policy of the reviewer, for one repository.
#[derive(Debug)]
pub struct ReviewPolicy<'a, F, C> {
    /// The repository.
    pub forge: &'a F,
    /// Where its commits come from.
    pub checkouts: &'a C,
    /// The configuration.
    pub settings: &'a ReviewSettings,
}

/// What one listing of the open pull requests gave.
#[derive(Debug)]
pub struct Survey {
    listing: Listing<Pull>,
}

/// What a trigger remembers until its start.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    number: u64,
    details: Option<PullDetails>,
    event_created_at: String,
    actor: Option<String>,
}

impl<F: ReviewForge, C: Checkouts> Policy for ReviewPolicy<'_, F, C> {
    type Survey = Survey;
    type Payload = Payload;

    fn schema(&self) -> &'static Schema {
        &REVIEW
    }

    fn target(&self) -> &str {
        &self.settings.repo
    }

    async fn survey(&self) -> Result<Survey, TargetError> {
        let listing = self.forge.list_open().await?;
        Ok(Survey { listing })
    }

    async fn suspect(&self, survey: &Survey, record: &Record) -> bool {
        let Some(number) = record.count(Field::PrNumber) else {
            return false;
        };
        let open = survey
            .listing
            .items
            .iter()
            .find(|pull| pull.number == number);
        open.is_none_or(|pull| Some(pull.head_sha.as_str()) != record.text(Field::HeadSha))
    }

    async fn discover<X: World>(
        &self,
        world: &X,
        survey: &Survey,
        document: &Document,
    ) -> Result<Discovery<Payload>, TargetError> {
        self.find_triggers(world.clock().now(), survey, document)
            .await
    }

    async fn confirm<X: World>(
        &self,
        _world: &X,
        trigger: &mut Trigger<Payload>,
        _document: &Document,
    ) -> Result<(), SetupError> {
        let details = match self.forge.pull(trigger.payload.number).await {
            Ok(Some(details)) if details.open => details,
            Ok(_) => return Err(SetupError::Skip(SkipReason::NoLongerOpen, String::new())),
            Err(error) => return Err(error.into()),
        };
        if !self.is_labelled(&details.pull) {
            return Err(SetupError::Skip(SkipReason::LostLabel, String::new()));
        }
        if details.pull.draft && !self.settings.review_drafts {
            return Err(SetupError::Skip(
                SkipReason::Draft,
                "review_drafts is false".into(),
            ));
        }
        let head = &details.pull.head_sha;
        trigger.record.set(Field::HeadSha, head.as_str());
        trigger.workspace = vec![
            self.settings.repo.replace('/', "__"),
            format!("pr-{}-{}", trigger.payload.number, short(head)),
        ];
        trigger.payload.details = Some(details);
        Ok(())
    }

    async fn prepare<X: World>(
        &self,
        world: &X,
        _claim: &Claim,
        trigger: &Trigger<Payload>,
        _document: &Document,
    ) -> Result<Prepared, SetupError> {
        let Some(details) = &trigger.payload.details else {
            return Err(SetupError::Failed("it was not confirmed".into()));
        };
        let parts: Vec<&str> = trigger.workspace.iter().map(String::as_str).collect();
        let dir = world
            .workspaces()
            .create(&parts)
            .await
            .map_err(SetupError::from)?;
        let report = match self.checkouts.checkout(&details.pull.head_sha, &dir).await {
            Ok(report) => report,
            Err(CheckoutError::Gone(why)) => {
                return Err(SetupError::Skip(SkipReason::HeadMoved, why));
            }
            Err(CheckoutError::Forge(error)) => return Err(error.into()),
            Err(error) => return Err(SetupError::Failed(error.to_string())),
        };
        let guide = self.guide(world, details, &dir).await?;
        let facts = PromptFacts {
            settings: self.settings,
            details,
            label_event_at: &trigger.payload.event_created_at,
            labelled_by: trigger.payload.actor.as_deref(),
            checkout: &report,
            guide,
        };
        let note = if report.skipped.is_empty() {
            format!("{} files unpacked", report.files)
        } else {
            format!(
                "{} files unpacked; left out: {}",
                report.files, report.skipped
            )
        };
        Ok(Prepared {
            prompt: prompt(&facts),
            fields: Vec::new(),
            note,
        })
    }

    async fn acknowledge<X: World>(
        &self,
        world: &X,
        task: &str,
        record: &Record,
    ) -> Result<(), String> {
        let Some(number) = record.count(Field::PrNumber) else {
            return Ok(());
        };
        let url = world
            .agents()
            .conversation_url(record.conversation_id().unwrap_or_default());
        let body = acknowledgement(task, record, &url);
        self.comment_once(number, task, Kind::Acknowledgement, record, &body)
            .await
            .map_err(|error| error.to_string())
    }

    async fn finish<X: World>(&self, world: &X, finishing: &Finishing<'_>) -> Finish {
        self.collect(world, finishing).await
    }

    async fn give_up<X: World>(
        &self,
        world: &X,
        _finishing: &Finishing<'_>,
        error: &str,
    ) -> Finish {
        finish::closed(
            vec![(Field::Error, crate::text::cut_bytes(error, 300).into())],
            world.clock().now(),
            format!("closed without telling its result: {error}"),
        )
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

impl<F: ReviewForge, C: Checkouts> ReviewPolicy<'_, F, C> {
    fn is_labelled(&self, pull: &Pull) -> bool {
        let wanted = self.settings.trigger_label.to_lowercase();
        pull.labels
            .iter()
            .any(|label| label.to_lowercase() == wanted)
    }

    /// The team's own review guide. A fork must not bring its own.
    async fn guide<X: World>(
        &self,
        world: &X,
        details: &PullDetails,
        dir: &str,
    ) -> Result<Option<Guide>, SetupError> {
        let path = self.settings.guide_path.trim().trim_start_matches('/');
        if path.is_empty() {
            return Ok(None);
        }
        let text = if details.from_fork {
            self.forge
                .file_at(path, &details.base_sha, MAX_GUIDE_BYTES + 1)
                .await
                .map_err(SetupError::from)?
        } else {
            world
                .workspaces()
                .read_file(dir, path, MAX_GUIDE_BYTES + 1)
                .await
                .map_err(SetupError::from)?
        };
        Ok(text
            .filter(|text| !text.trim().is_empty())
            .map(|text| Guide {
                path: path.to_owned(),
                at_base: details.from_fork,
                cut: text.len() as u64 > MAX_GUIDE_BYTES,
                text: crate::text::cut_bytes(&text, usize::try_from(MAX_GUIDE_BYTES).unwrap_or(0)),
            }))
    }

    /// Posts a comment unless one with the same mark is there.
    async fn comment_once(
        &self,
        number: u64,
        task: &str,
        kind: Kind,
        record: &Record,
        body: &str,
    ) -> Result<(), ForgeError> {
        let marker = identity::marker(task, kind);
        let since = triggered_at(record);
        if self
            .forge
            .find_comment(number, &marker, since)
            .await?
            .is_some()
        {
            return Ok(());
        }
        match self.forge.comment(number, body).await {
            // Too long after all: once more, much shorter.
            Err(ForgeError::Refused { status: 422, .. }) if body.chars().count() > 2000 => {
                let shorter = comments::shorten(body, body.chars().count() / 2);
                self.forge.comment(number, &shorter).await.map(|_| ())
            }
            other => other.map(|_| ()),
        }
    }
}

/// The first twelve digits of a commit.
fn short(sha: &str) -> &str {
    sha.get(..12).unwrap_or(sha)
}

//! Pull requests, as a run sees them.

use super::{Link, forge_error};
use crate::mutation::Mutation;
use crate::world::{Fault, LABEL, Service};
use lifecycle::ports::{
    CheckoutError, CheckoutReport, Checkouts, ForgeError, LabelEvent, Listing, Pull, PullDetails,
    ReviewForge, ReviewRef,
};

/// Seconds by which the adapters look further back for a mark.
pub(super) const ALLOWED_SKEW: f64 = 30.0;

impl Link {
    /// A call to the forge.
    pub(super) async fn ask<R: 'static>(
        &self,
        writes: bool,
        what: String,
        effect: impl FnOnce(&mut crate::world::World, usize) -> R + 'static,
    ) -> Result<R, ForgeError> {
        let name = what.clone();
        let call = Self::call_of(Service::Forge, writes, what);
        self.call(call, effect)
            .await
            .map_err(|fault| forge_error(fault, &name))
    }

    pub(super) fn finds_marks(&self) -> bool {
        !self.world.borrow().is_mutated(Mutation::Marker)
    }
}

impl ReviewForge for Link {
    async fn list_open(&self) -> Result<Listing<Pull>, ForgeError> {
        self.ask(false, "lists pull requests".into(), |world, _| {
            let open = world.pulls.all.iter().filter(|pull| pull.item.is_open);
            Listing {
                items: open.map(crate::world::PullRequest::listed).collect(),
                warnings: Vec::new(),
                moved_to: None,
            }
        })
        .await
    }

    async fn newest_label_event(
        &self,
        number: u64,
        label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        if !label.eq_ignore_ascii_case(LABEL) {
            return Ok(None);
        }
        self.ask(
            false,
            format!("asks for the label events of {number}"),
            move |world, _| world.item(number).and_then(crate::world::Item::label_event),
        )
        .await
    }

    async fn pull(&self, number: u64) -> Result<Option<PullDetails>, ForgeError> {
        self.ask(
            false,
            format!("looks at pull request {number}"),
            move |world, _| {
                world
                    .pulls
                    .get(number)
                    .map(crate::world::PullRequest::details)
            },
        )
        .await
    }

    async fn published_review(
        &self,
        number: u64,
        head_sha: &str,
        since: f64,
    ) -> Result<Option<ReviewRef>, ForgeError> {
        let head = head_sha.to_owned();
        self.ask(
            false,
            format!("looks for a review of {number}"),
            move |world, _| {
                let pull = world.pulls.get(number)?;
                let at = pull
                    .reviews
                    .iter()
                    .rposition(|(of, at, _)| *of == head && *at >= since)?;
                Some(ReviewRef {
                    id: at as u64,
                    html_url: format!("https://forge.example/pull/{number}#review{at}"),
                })
            },
        )
        .await
    }

    async fn find_comment(
        &self,
        number: u64,
        marker: &str,
        since: f64,
    ) -> Result<Option<String>, ForgeError> {
        let (marker, finds) = (marker.to_owned(), self.finds_marks());
        self.ask(
            false,
            format!("looks for a mark on {number}"),
            move |world, _| {
                let item = world.item(number).filter(|_| finds)?;
                item.marked(&marker, since - ALLOWED_SKEW)
            },
        )
        .await
    }

    async fn comment(&self, number: u64, body: &str) -> Result<String, ForgeError> {
        let body = body.to_owned();
        let first = body.lines().next().unwrap_or_default().to_owned();
        self.ask(
            true,
            format!("comments on {number}: {first}"),
            move |world, _| world.comment(number, body),
        )
        .await
    }

    async fn file_at(
        &self,
        path: &str,
        _reference: &str,
        _max: u64,
    ) -> Result<Option<String>, ForgeError> {
        self.ask(false, format!("reads {path}"), |_, _| None).await
    }
}

impl Checkouts for Link {
    async fn checkout(&self, head_sha: &str, dir: &str) -> Result<CheckoutReport, CheckoutError> {
        let place = dir.trim_end_matches('/').to_owned();
        let call = Self::call_of(
            Service::Forge,
            false,
            format!("unpacks {head_sha} into {dir}"),
        );
        let unpacked = self.call(call, move |world, run| {
            let home = world.home_of(run);
            let is_full = world.disk_is_full;
            let folder = world.disk.folders.get_mut(&(home, place))?;
            if is_full {
                return None;
            }
            folder.files.insert("README.md".into(), "text".into());
            Some(())
        });
        match unpacked.await {
            Ok(Some(())) => Ok(CheckoutReport {
                files: 1,
                ..CheckoutReport::default()
            }),
            Ok(None) => Err(CheckoutError::Failed("the disk is full".into())),
            Err(Fault::Status(404)) => Err(CheckoutError::Gone("404".into())),
            Err(Fault::Disk) => Err(CheckoutError::Failed("cut off".into())),
            Err(fault) => Err(forge_error(fault, "unpacking").into()),
        }
    }
}

//! Doing what was planned, and undoing it when it cannot be finished: at the end everything is there,
//! or nothing is, or the error names what is left.

use super::ability::without_kv_store;
use super::arguments::Order;
use super::kind::{Neighbour, neighbours};
use super::plan::{Cargo, Plan, exists};
use crate::automation_service::{
    Automation as Deployed, AutomationService, Created, Draft, Keys, ServiceError, Upload,
};
use crate::commands::error::CommandError;
use crate::console::Console;

/// What is there now.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) automation: Deployed,
    pub(super) tarball_path: String,
    pub(super) warnings: Vec<String>,
}

/// Asks the service for its verdict before anything is made.
pub(super) async fn preflight(
    service: &AutomationService,
    plan: &Plan,
) -> Result<(), CommandError> {
    if plan
        .existing
        .as_ref()
        .is_some_and(|existing| !existing.is_scheduled())
    {
        // Its trigger is another, and stays.
        return Ok(());
    }
    match service.validate(&plan.draft).await? {
        Some(wrong) if !wrong.is_empty() => Err(CommandError::Usage(format!(
            "the automation service would refuse this: {}",
            wrong.join("; ")
        ))),
        _ => Ok(()),
    }
}

/// Uploads, and creates or changes.
pub(super) async fn carry_out(
    service: &AutomationService,
    order: &Order,
    plan: &Plan,
    cargo: Cargo,
    console: &Console,
) -> Result<Made, CommandError> {
    let (tarball_path, upload) = match cargo {
        Cargo::Remote(archive) => (archive.source().to_owned(), None),
        Cargo::Upload(archive) => {
            console.line(&format!("uploading {} bytes", archive.size()));
            let name = format!("{}-{}", plan.automation.name(), env!("CARGO_PKG_VERSION"));
            let upload = service.upload(&name, archive.into_bytes()).await?;
            let path = upload.tarball_path.clone().unwrap_or_default();
            (path, Some(upload))
        }
    };
    let work = Work {
        service,
        order,
        plan,
        tarball_path: &tarball_path,
        upload: upload.as_ref(),
    };
    let (automation, warnings) = match &plan.existing {
        None => work.create().await?,
        Some(existing) => (work.change(existing).await?, Vec::new()),
    };
    Ok(Made {
        automation,
        tarball_path,
        warnings,
    })
}

/// The step after the upload.
struct Work<'a> {
    service: &'a AutomationService,
    order: &'a Order,
    plan: &'a Plan,
    tarball_path: &'a str,
    upload: Option<&'a Upload>,
}

impl Work<'_> {
    async fn create(&self) -> Result<(Deployed, Vec<String>), CommandError> {
        let draft = Draft {
            tarball_path: Some(self.tarball_path.to_owned()),
            ..self.plan.draft.clone()
        };
        let made = match self.service.create(&draft).await {
            Ok(Created::New(made)) => made,
            Ok(Created::Existing(one)) => {
                return Err(self.undone(exists(self.plan.automation, &one)).await);
            }
            Err(error) if error.is_effect_unknown() => self.find_created(error).await?,
            Err(error) => return Err(self.undone(error.into()).await),
        };
        // A service that could not say beforehand what it has can say it now.
        let mut warnings = Vec::new();
        if let Ok(Keys::NoStore) = self.service.keys(&made.id).await
            && let Err(error) = without_kv_store(self.order, self.plan.mode, &mut warnings)
        {
            return Err(self.removed(&made, error).await);
        }
        Ok((made, warnings))
    }

    /// The answer got lost: what was created is found by its archive.
    async fn find_created(&self, error: ServiceError) -> Result<Deployed, CommandError> {
        let name = &self.plan.draft.name;
        let all = match self.service.automations().await {
            Ok(all) => all,
            Err(second) => {
                return Err(CommandError::Failed(format!(
                    "{error}. Whether {name} was created is not known, because the service cannot \
                     be asked ({second}); `openhands-automations deploy list` shows it. Its archive \
                     is {}",
                    self.tarball_path
                )));
            }
        };
        let found = neighbours(&all, self.plan.automation, name);
        let found = found.into_iter().find_map(|neighbour| match neighbour {
            Neighbour::Same(one) if one.tarball_path == self.tarball_path => Some(one.clone()),
            _ => None,
        });
        match found {
            Some(made) => Ok(made),
            None => Err(self.undone(error.into()).await),
        }
    }

    async fn change(&self, existing: &Deployed) -> Result<Deployed, CommandError> {
        let change = self.plan.change(self.order, self.tarball_path.to_owned());
        let error = match self.service.change(&existing.id, &change).await {
            Ok(changed) => return Ok(changed),
            Err(error) => error,
        };
        if !error.is_effect_unknown() {
            return Err(self.unchanged(existing, error).await);
        }
        match self.service.automation(&existing.id).await {
            Ok(now) if now.tarball_path == self.tarball_path => Ok(now),
            Ok(_) => Err(self.unchanged(existing, error).await),
            Err(second) => Err(CommandError::Failed(format!(
                "{error}. Whether {} ({}) was changed is not known, because the service cannot be \
                 asked ({second}); it was `{}` from {}, and the new archive is {}",
                existing.name,
                existing.id,
                existing.entrypoint,
                existing.tarball_path,
                self.tarball_path
            ))),
        }
    }

    async fn unchanged(&self, existing: &Deployed, error: ServiceError) -> CommandError {
        let error = CommandError::from(error);
        let text = format!("{error}. {} ({}) is as it was", existing.name, existing.id);
        let error = match error {
            CommandError::Usage(_) => CommandError::Usage(text),
            _ => CommandError::Failed(text),
        };
        self.undone(error).await
    }

    /// The error after the upload was removed; where that fails, it is named.
    async fn undone(&self, error: CommandError) -> CommandError {
        let Some(upload) = self.upload else {
            return error;
        };
        match self.service.remove_upload(&upload.id).await {
            Ok(()) => error,
            Err(second) => amended(
                &error,
                &format!(
                    "the archive that was uploaded is left behind ({}): {second}",
                    upload.id
                ),
            ),
        }
    }

    /// The error after the automation and its archive were removed.
    async fn removed(&self, made: &Deployed, error: CommandError) -> CommandError {
        match self.service.remove(&made.id).await {
            Ok(()) => self.undone(error).await,
            Err(second) => amended(
                &error,
                &format!(
                    "the automation that was made is left behind ({}): {second}",
                    made.id
                ),
            ),
        }
    }
}

/// An error with more to say, of the same kind.
fn amended(error: &CommandError, more: &str) -> CommandError {
    let text = format!("{error}. Besides, {more}");
    match error {
        CommandError::Failed(_) => CommandError::Failed(text),
        CommandError::Usage(_) | CommandError::Config(_) => CommandError::Usage(text),
    }
}

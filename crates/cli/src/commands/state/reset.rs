//! `state reset`: forgets targets, after saying what that means.

use super::{Place, consent};
use crate::commands::configured::Configured;
use crate::commands::error::CommandError;
use crate::commands::plain::{counted, harmless};
use crate::commands::{DONE, WRONG};
use crate::run::Automation;
use lifecycle::document::Document;
use lifecycle::ports::Store;
use state_store::StateStore;

pub(super) async fn reset(
    place: &Place,
    configured: &Configured,
    targets: &[String],
    yes: bool,
) -> Result<u8, CommandError> {
    let console = &place.session.console;
    let mut stores = Vec::new();
    for target in targets {
        let store = place.document(configured, target, false)?;
        console.output(&consequences(configured, target, &store).await);
        stores.push((target, store));
    }
    let question = format!("Forget {}?", counted(targets.len(), "target", "targets"));
    consent::given(console, yes, &question)?;
    let mut code = DONE;
    for (target, store) in stores {
        match store.reset().await {
            Ok(true) => console.output(&format!("{target}: forgotten")),
            Ok(false) => console.output(&format!("{target}: there was nothing to forget")),
            Err(error) => {
                console.error(&format!("{target}: {error}"));
                code = WRONG;
            }
        }
    }
    Ok(code)
}

/// What is lost with a document.
async fn consequences(configured: &Configured, target: &str, store: &StateStore) -> String {
    let place = store.place();
    let document = match store.load().await {
        Ok(document) => document,
        Err(error) => return format!("{target}: {error}\n  It would be removed as it is."),
    };
    let count = document.records().count();
    let again = match configured.automation() {
        Automation::News => "Stories that were told would be told again.",
        Automation::Review => {
            "Label events that were handled would be handled again: every open pull request that \
             carries the label would be reviewed once more."
        }
        Automation::Issue => {
            "Label events that were handled would be handled again: every open issue that carries \
             the label would be worked on once more."
        }
    };
    let records = counted(count, "record", "records");
    let mut lines = vec![
        format!("{target}: {records} in {place}"),
        format!("  {again}"),
    ];
    lines.extend(left_behind(&document));
    lines.join("\n")
}

/// What nobody would look after any more.
fn left_behind(document: &Document) -> Vec<String> {
    let mut lines = Vec::new();
    for (task, record) in document.records() {
        let task = harmless(task, 60);
        if record.status().is_live() {
            let id = record.conversation_id().unwrap_or("not started yet");
            lines.push(format!(
                "  at work: {task}, whose result would not be collected (conversation {})",
                harmless(id, 100)
            ));
        }
        if let Some(dir) = record.workspace_dir() {
            lines.push(format!(
                "  workspace of {task}, which nobody would remove: {}",
                harmless(dir, 400)
            ));
        }
    }
    lines
}

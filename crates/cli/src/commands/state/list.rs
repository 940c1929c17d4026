//! `state list`.

use super::Place;
use crate::commands::DONE;
use crate::commands::error::CommandError;
use crate::commands::plain::{harmless, table};
use crate::run::wiring::automation_id;
use lifecycle::document::NEWS;
use serde_json::{Value, json};
use state_store::{Entry, EntryKind, Slot, StateStore, folder_of};

pub(super) async fn list(place: &Place, json: bool) -> Result<u8, CommandError> {
    let env = place.env(1, true);
    let id = automation_id(&place.session.environment);
    // Any slot will do: what is asked is all that lies beside it.
    let store = state_store::open(&env, &place.client, Slot::new(&NEWS, Some(&id), "news"));
    let (kind, location, entries, rows) = match store.map_err(CommandError::failed)? {
        store @ StateStore::Kv(_) => {
            let names = store.stored_names().await.map_err(CommandError::failed)?;
            let url = env.kv_url.unwrap_or_default();
            let entries = names.iter().map(|name| json!({ "name": name })).collect();
            let rows: Vec<Vec<String>> =
                names.iter().map(|name| vec![harmless(name, 300)]).collect();
            ("kv", url, entries, rows)
        }
        StateStore::Files(_) => {
            let folder = folder_of(&env).unwrap_or_default();
            let entries = state_store::list(&folder).map_err(CommandError::failed)?;
            let rows = entries.iter().map(row).collect();
            let entries: Vec<Value> = entries.iter().map(described).collect();
            ("files", folder.display().to_string(), entries, rows)
        }
    };
    let console = &place.session.console;
    if json {
        let report = json!({"kind": kind, "place": location, "entries": entries});
        console.output(&serde_json::to_string_pretty(&report).unwrap_or_default());
        return Ok(DONE);
    }
    if rows.is_empty() {
        console.output(&format!("{location}: nothing is stored here"));
    } else {
        console.output(&format!("{location}\n{}", table("  ", &rows)));
    }
    Ok(DONE)
}

fn kind(entry: &Entry) -> &'static str {
    match entry.kind {
        EntryKind::Document => "document",
        EntryKind::Unusable => "UNUSABLE",
        EntryKind::SetAside => "set aside",
    }
}

fn name(entry: &Entry) -> String {
    let name = entry.path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn row(entry: &Entry) -> Vec<String> {
    vec![
        kind(entry).to_owned(),
        entry.automation.unwrap_or("?").to_owned(),
        harmless(entry.target.as_deref().unwrap_or("-"), 100),
        format!("{} bytes", entry.bytes),
        harmless(&name(entry), 300),
    ]
}

fn described(entry: &Entry) -> Value {
    json!({
        "name": name(entry),
        "kind": kind(entry).to_lowercase(),
        "automation": entry.automation,
        "target": entry.target,
        "bytes": entry.bytes,
        "has_previous": entry.has_previous,
    })
}

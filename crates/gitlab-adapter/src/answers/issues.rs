//! Issues, their label events and notes, and the labels of the project.

use forge_http::answers::{Item, Newest, read, same_label, unreadable};
use http_client::AtMost;
use lifecycle::moment;
use lifecycle::ports::{Issue, LabelEvent};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::Account;

/// Labels of one issue that are read; more is no answer of GitLab's.
const MAX_LABELS: usize = 10_000;

#[derive(Deserialize)]
#[serde(expecting = "an issue")]
struct IssueWire {
    iid: u64,
    state: String,
    title: Option<String>,
    labels: Option<AtMost<LabelWire, MAX_LABELS>>,
    updated_at: Option<String>,
    web_url: Option<String>,
}

/// A label is a plain name, or an object where details are asked for.
#[derive(Deserialize)]
#[serde(untagged)]
enum LabelWire {
    Plain(String),
    Detailed { name: String },
    Other(IgnoredAny),
}

impl LabelWire {
    fn name(self) -> Option<String> {
        match self {
            Self::Plain(name) | Self::Detailed { name } => Some(name),
            Self::Other(_) => None,
        }
    }
}

/// One issue.
pub(crate) fn issue(value: &RawValue) -> Result<Issue, String> {
    let wire: IssueWire = read(value)?;
    Ok(Issue {
        iid: wire.iid,
        title: wire.title.unwrap_or_default(),
        open: wire.state == "opened" || wire.state == "reopened",
        labels: wire
            .labels
            .into_iter()
            .flat_map(|AtMost(labels)| labels)
            .filter_map(LabelWire::name)
            .collect(),
        updated_at: wire.updated_at.unwrap_or_default(),
        web_url: wire.web_url.unwrap_or_default(),
    })
}

/// An item of the list of issues, or a line that names it and says what is wrong with it. `place`
/// counts from 1.
pub(crate) fn listed_issue(item: &RawValue, place: usize) -> Result<Issue, String> {
    issue(item).map_err(|why| {
        #[derive(Deserialize)]
        struct Identified {
            iid: u64,
        }
        let iid = read::<Identified>(item).ok().map(|item| item.iid);
        unreadable("issue", iid, place, &why)
    })
}

/// Whether an issue carries a label (compared without case).
pub(crate) fn carries(issue: &Issue, label: &str) -> bool {
    issue.labels.iter().any(|name| same_label(name, label))
}

/// The newest event among `items` that put `label` on. Events of other kinds may have any shape, and
/// those of a label that was deleted (`null`) say nothing; one of this label that cannot be read is
/// an error, because an older one must not take its place.
pub(crate) fn newest_label_event(
    items: &[Item],
    label: &str,
) -> Result<Option<LabelEvent>, String> {
    #[derive(Deserialize)]
    struct Named {
        name: Option<String>,
    }
    #[derive(Deserialize)]
    struct Kind {
        action: Option<String>,
        label: Option<Named>,
    }
    #[derive(Deserialize)]
    struct EventWire {
        id: u64,
        created_at: String,
        user: Option<Account>,
    }
    let mut newest = Newest::default();
    for item in items {
        let Ok(kind) = read::<Kind>(item) else {
            continue;
        };
        let name = kind.label.and_then(|label| label.name);
        if kind.action.as_deref() != Some("add")
            || !name.is_some_and(|name| same_label(&name, label))
        {
            continue;
        }
        let wire: EventWire =
            read(item).map_err(|why| format!("a label event cannot be read: {why}"))?;
        newest.look_at(LabelEvent {
            id: wire.id,
            created_at: wire.created_at,
            actor_id: wire.user.as_ref().and_then(|user| user.id),
            actor: wire.user.map(|user| user.username),
        })?;
    }
    Ok(newest.found())
}

/// How a project spells a label.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Just so.
    Exact,
    /// In another case. GitLab allows labels that differ in case only, so an exact one may follow.
    Other(String),
    /// It has none of that name.
    Unknown,
}

/// How a page of a project's labels spells `label`.
pub(crate) fn spelling(items: &[Item], label: &str) -> Spelling {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let mut spelling = Spelling::Unknown;
    for item in items {
        let Ok(Named { name }) = read(item) else {
            continue;
        };
        if name == label {
            return Spelling::Exact;
        }
        if spelling == Spelling::Unknown && same_label(&name, label) {
            spelling = Spelling::Other(name);
        }
    }
    spelling
}

/// What a page of notes, newest first, says about a marker.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    /// The number of the newest note that holds it.
    Found(u64),
    /// It is not on this page, and older pages lie before the moment.
    Over,
    /// It is not on this page.
    NotHere,
}

/// Looks for the newest note that `username` wrote and that holds `marker`: anybody can copy a marker
/// into a note of their own. Notes from before `since` (seconds since the epoch) end the search.
pub(crate) fn marked_note(items: &[Item], username: &str, marker: &str, since: f64) -> Marked {
    #[derive(Deserialize)]
    struct NoteWire {
        id: u64,
        body: String,
        author: Account,
        created_at: String,
        system: Option<bool>,
    }
    for item in items {
        let Ok(wire) = read::<NoteWire>(item) else {
            continue;
        };
        if moment::parse_rfc3339(&wire.created_at).is_some_and(|at| at < since) {
            return Marked::Over;
        }
        let ours = wire.system != Some(true)
            && wire.author.username.eq_ignore_ascii_case(username)
            && wire.body.contains(marker);
        if ours {
            return Marked::Found(wire.id);
        }
    }
    Marked::NotHere
}

//! Finding the document of a slot among what is stored. The same for every backend.
//!
//! The rules (nothing is lost to bad state):
//! - A document whose own `repo` or `project` names another target is passed over, whatever else
//!   is in it; the later comer has a name with a short hash.
//! - A newer version than is known here is refused untouched.
//! - One that cannot be read is set aside under a new name. The generation before it is used if
//!   it is good, else the slot fails. What is damaged also stays where it is, so that the next run
//!   does not find nothing and start afresh.
//! - Where a target has no document, one of an earlier version that names it is adopted; it is
//!   left as it is.

use crate::location::Slot;
use lifecycle::document::{Document, DocumentError};
use lifecycle::ports::StoreError;
use serde_json::Value;

/// What lies under a name.
pub(crate) struct Held<T> {
    /// Its JSON, or why it is none.
    pub(crate) content: Result<Value, String>,
    /// What a backend has to know of it when it is replaced.
    pub(crate) stamp: T,
}

/// Reading access to a backend.
pub(crate) trait Shelf {
    /// What a backend has to know of a value when it replaces it.
    type Stamp;

    /// What lies under a name.
    async fn fetch(&self, name: &str) -> Result<Option<Held<Self::Stamp>>, StoreError>;

    /// The generation before what lies under a name, if this backend keeps one.
    async fn previous(&self, name: &str) -> Result<Option<Result<Value, String>>, StoreError>;

    /// Keeps what lies under a name under a new one as well, and tells that one. `None` when that
    /// did not work out: the original is still there.
    async fn set_aside(&self, name: &str, held: &Held<Self::Stamp>) -> Option<String>;

    /// How an error names it.
    fn place(&self, name: &str) -> String;

    /// Something a person should know, though it is no failure.
    fn note(&self, note: String);
}

/// What is there at present where a document is to be written.
pub(crate) enum Under<T> {
    Nothing,
    Good(T),
    Damaged(Held<T>),
}

/// The document of a slot and where it belongs.
pub(crate) struct Spot<T> {
    pub(crate) name: String,
    pub(crate) under: Under<T>,
    pub(crate) document: Document,
    /// It was adopted or restored: it has to be written even if nobody changes it.
    pub(crate) must_write: bool,
}

/// The names that a slot has in a backend.
pub(crate) struct Names {
    pub(crate) own: Vec<String>,
    pub(crate) legacy: Option<String>,
}

/// Finds the document of a slot, or the place for a new one.
pub(crate) async fn locate<S: Shelf>(
    shelf: &S,
    slot: &Slot,
    names: &Names,
) -> Result<Spot<S::Stamp>, StoreError> {
    let mut vacant = None;
    for name in &names.own {
        match look(shelf, slot, name).await? {
            Look::Nothing => {
                vacant.get_or_insert(name);
            }
            Look::Foreign => {}
            Look::Ours(spot) => return Ok(spot),
        }
    }
    let Some(name) = vacant else {
        return Err(StoreError::Unavailable {
            place: names
                .own
                .first()
                .map(|name| shelf.place(name))
                .unwrap_or_default(),
            detail: "documents of other targets hold every name that this one could have".into(),
        });
    };
    let adopted = match &names.legacy {
        Some(legacy) => adopt(shelf, slot, legacy).await?,
        None => None,
    };
    Ok(Spot {
        name: name.clone(),
        under: Under::Nothing,
        must_write: adopted.is_some(),
        document: adopted.unwrap_or_else(|| slot.empty()),
    })
}

enum Look<T> {
    Nothing,
    Foreign,
    Ours(Spot<T>),
}

async fn look<S: Shelf>(shelf: &S, slot: &Slot, name: &str) -> Result<Look<S::Stamp>, StoreError> {
    let Some(held) = shelf.fetch(name).await? else {
        // Somebody was stopped between two steps, or removed the document by hand.
        return Ok(match restore(shelf, slot, name).await? {
            Previous::Good(document) => {
                shelf.note(format!(
                    "{}: missing; the generation before it is used",
                    shelf.place(name)
                ));
                restored(name, Under::Nothing, document)
            }
            Previous::Foreign => Look::Foreign,
            Previous::None => Look::Nothing,
            Previous::Damaged(error) => return Err(failed(shelf, name, error, None)),
        });
    };
    let error = match judge(slot, &held.content) {
        Judged::Foreign => return Ok(Look::Foreign),
        Judged::Ours(Ok(document)) => {
            return Ok(Look::Ours(Spot {
                name: name.to_owned(),
                under: Under::Good(held.stamp),
                document,
                must_write: false,
            }));
        }
        Judged::Ours(Err(error @ DocumentError::NewerVersion { .. })) => {
            return Err(failed(shelf, name, error, None));
        }
        Judged::Ours(Err(error)) => error,
    };
    let kept = shelf.set_aside(name, &held).await;
    let Previous::Good(document) = restore(shelf, slot, name).await? else {
        return Err(failed(shelf, name, error, kept));
    };
    shelf.note(format!(
        "{}: {error}; {}the generation before it is used",
        shelf.place(name),
        kept.map(|kept| format!("its bytes are kept as {kept}; "))
            .unwrap_or_default(),
    ));
    Ok(restored(name, Under::Damaged(held), document))
}

fn restored<T>(name: &str, under: Under<T>, document: Document) -> Look<T> {
    Look::Ours(Spot {
        name: name.to_owned(),
        under,
        document,
        must_write: true,
    })
}

enum Previous {
    None,
    Foreign,
    Good(Document),
    Damaged(DocumentError),
}

async fn restore<S: Shelf>(shelf: &S, slot: &Slot, name: &str) -> Result<Previous, StoreError> {
    Ok(match shelf.previous(name).await? {
        None => Previous::None,
        Some(content) => match judge(slot, &content) {
            Judged::Foreign => Previous::Foreign,
            Judged::Ours(Ok(document)) => Previous::Good(document),
            Judged::Ours(Err(error)) => Previous::Damaged(error),
        },
    })
}

enum Judged {
    /// The document of another target.
    Foreign,
    /// The document of this target, or nobody can say whose it is.
    Ours(Result<Document, DocumentError>),
}

fn judge(slot: &Slot, content: &Result<Value, String>) -> Judged {
    let value = match content {
        Ok(value) => value,
        Err(why) => return Judged::Ours(Err(DocumentError::Unreadable(why.clone()))),
    };
    match slot.owner_of(value) {
        Some(owner) if !slot.is_owner(owner) => Judged::Foreign,
        _ => Judged::Ours(Document::from_value(slot.schema(), value.clone())),
    }
}

/// The document of an earlier version, if it names this target.
async fn adopt<S: Shelf>(
    shelf: &S,
    slot: &Slot,
    legacy: &str,
) -> Result<Option<Document>, StoreError> {
    let Some(held) = shelf.fetch(legacy).await? else {
        return Ok(None);
    };
    // What cannot be read at all may be that of this target, whose reviews would all be made again.
    let names_nobody = held
        .content
        .as_ref()
        .is_ok_and(|value| value.is_object() && slot.owner_of(value).is_none());
    match judge(slot, &held.content) {
        Judged::Ours(Ok(document)) if !names_nobody => Ok(Some(document)),
        Judged::Ours(Err(error)) if !names_nobody => {
            let kept = match error {
                DocumentError::NewerVersion { .. } => None,
                DocumentError::Unreadable(_) => shelf.set_aside(legacy, &held).await,
            };
            Err(failed(shelf, legacy, error, kept))
        }
        _ => Ok(None),
    }
}

/// Makes sure that what is to be written can be read again: a document that breaks its schema would be
/// set aside by the next reader, and the change with it.
pub(crate) fn check<S: Shelf>(shelf: &S, spot: &Spot<S::Stamp>) -> Result<(), StoreError> {
    let followed = spot.document.check();
    followed.map_err(|error| failed(shelf, &spot.name, error, None))
}

fn failed<S: Shelf>(
    shelf: &S,
    name: &str,
    error: DocumentError,
    kept: Option<String>,
) -> StoreError {
    StoreError::Document {
        place: shelf.place(name),
        error,
        kept,
    }
}

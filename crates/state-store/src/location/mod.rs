//! Where the document of a target lives: file names and KV keys. Pure; nothing here looks at a
//! disk or a service.
//!
//! The rules are those of the sections "Storage" of the three schema documents (`docs/state/`).
//! An ordinary name comes out as documented, byte for byte. A name that would not be one safe
//! component (control characters, a backslash, more than 255 bytes) is made one, and a short hash
//! tells it apart from what it would collide with.

mod folder;
pub(crate) mod name;
#[cfg(test)]
mod tests;

pub use folder::{STATE_FOLDER, state_folder};

use lifecycle::document::{Document, Schema};
use name::{fit, hash, part};
use serde_json::Value;

/// What the deployed scripts put where the automation id is missing.
const NO_AUTOMATION_ID: &str = "default";

/// The place of one document: an automation and one of its targets.
///
/// ```
/// use lifecycle::document::REVIEW;
/// use state_store::Slot;
///
/// let slot = Slot::new(&REVIEW, Some("abc-1"), "acme/widget");
/// assert_eq!(slot.kv_key(), "state:acme__widget");
/// assert_eq!(slot.file_name(), "github_pr_reviewer_label_event_abc-1_acme__widget.json");
/// ```
#[derive(Clone, Debug)]
pub struct Slot {
    schema: &'static Schema,
    automation_id: String,
    target: String,
}

impl Slot {
    /// The place of a target's document. `automation_id` is the field of the event payload; where
    /// it is missing or blank, the name holds `default` in its place, as the scripts have it.
    /// `target` is the configured name (`owner/repo`, `group/team/service`; the news digest has
    /// one target, `news`, and does not show it in names).
    pub fn new(schema: &'static Schema, automation_id: Option<&str>, target: &str) -> Self {
        let id = automation_id.map(str::trim).filter(|id| !id.is_empty());
        Self {
            schema,
            automation_id: id.unwrap_or(NO_AUTOMATION_ID).to_owned(),
            target: target.to_owned(),
        }
    }

    /// The schema of the document.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// The configured name of the target.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The documented KV key: `state:{owner}__{repo}`, for news `state`.
    pub fn kv_key(&self) -> String {
        fit(&self.kv_stem(), "")
    }

    /// The documented file name:
    /// `github_pr_reviewer_label_event_{automation_id}_{owner}__{repo}.json`,
    /// `gitlab_issue_to_mr_{automation_id}_{group}__{project}.json`,
    /// `news_digest_{automation_id}.json`.
    pub fn file_name(&self) -> String {
        fit(&self.file_stem(), ".json")
    }

    /// Keys in the order in which they are looked at: the documented one, then those of a target
    /// that came later to a key which a document of another target holds.
    pub(crate) fn kv_keys(&self) -> Vec<String> {
        self.candidates(&self.kv_stem(), "")
    }

    /// File names, likewise.
    pub(crate) fn file_names(&self) -> Vec<String> {
        self.candidates(&self.file_stem(), ".json")
    }

    /// The key that held the one document of earlier versions, if this automation had any.
    pub(crate) fn legacy_kv_key(&self) -> Option<String> {
        self.had_one_document().then(|| "state".to_owned())
    }

    /// The file that held the one document of earlier versions, if this automation had any.
    pub(crate) fn legacy_file_name(&self) -> Option<String> {
        self.had_one_document()
            .then(|| fit(&self.file_base(), ".json"))
    }

    /// The key of a guard. `name` is free text; what may not stand in a key is replaced, and a
    /// hash of the whole name then keeps it apart from its like.
    pub(crate) fn guard_key(&self, name: &str) -> String {
        fit(
            &format!("guard:{}:{}", self.own_key(), name::plain(name)),
            "",
        )
    }

    /// What the keys of all guards of this slot start with, unless the target's name is very long.
    pub(crate) fn guard_prefix(&self) -> String {
        format!("guard:{}:", self.own_key())
    }

    /// The key of what is remembered for speed only.
    pub(crate) fn cache_key(&self) -> String {
        fit(&format!("cache:{}", self.own_key()), "")
    }

    /// The file of what is remembered for speed only, inside the folder `cache`.
    pub(crate) fn cache_file_name(&self) -> String {
        fit(
            &format!("{}{}", self.file_stem(), self.tell_apart()),
            ".json",
        )
    }

    /// Whether a document that names this owner is the one of this slot. GitHub and GitLab
    /// compare names without case, and their names are ASCII.
    pub(crate) fn is_owner(&self, owner: &str) -> bool {
        owner.eq_ignore_ascii_case(&self.target)
    }

    /// Whose document a stored value is, as far as it says so, whatever else is wrong with it.
    pub(crate) fn owner_of<'a>(&self, value: &'a Value) -> Option<&'a str> {
        value.get(self.schema.owner?)?.as_str()
    }

    /// The document of a target that was never polled.
    pub(crate) fn empty(&self) -> Document {
        Document::empty(self.schema, &self.target)
    }

    /// Makes a document that is about to be written say whose it is, if it does not yet.
    pub(crate) fn sign(&self, document: &mut Document) {
        if let Some(field) = self.schema.owner
            && document.owner().is_none()
        {
            document.set(field, self.target.as_str());
        }
    }

    fn candidates(&self, stem: &str, suffix: &str) -> Vec<String> {
        let mut names = vec![fit(stem, suffix)];
        if self.schema.owner.is_some() {
            // Sixteen digits for the case that the name with eight is somebody's own name.
            let digits = hash(&self.target);
            names.push(fit(stem, &format!("-{}{suffix}", &digits[..8])));
            names.push(fit(stem, &format!("-{digits}{suffix}")));
        }
        names
    }

    fn kv_stem(&self) -> String {
        match self.schema.owner {
            Some(_) => format!("state:{}", part(&self.target, "__")),
            None => "state".to_owned(),
        }
    }

    fn file_stem(&self) -> String {
        match self.schema.owner {
            Some(_) => format!("{}_{}", self.file_base(), part(&self.target, "__")),
            None => self.file_base(),
        }
    }

    fn file_base(&self) -> String {
        let prefix = match self.schema.automation {
            "github-pr-reviewer" => "github_pr_reviewer_label_event".to_owned(),
            other => other.replace('-', "_"),
        };
        format!("{prefix}_{}", part(&self.automation_id, "_"))
    }

    fn own_key(&self) -> String {
        format!("{}{}", self.kv_stem(), self.tell_apart())
    }

    /// Guards and caches hold no owner, so targets that share a key (`a/b__c`, `a__b/c`) are told
    /// apart in the key itself: all but the one that the key reads back as get a hash.
    fn tell_apart(&self) -> String {
        let slug = self.target.replace('/', "__");
        if self.schema.owner.is_none() || slug.replace("__", "/") == self.target {
            String::new()
        } else {
            format!("-{}", &hash(&self.target)[..8])
        }
    }

    fn had_one_document(&self) -> bool {
        self.schema.automation == "github-pr-reviewer"
    }
}

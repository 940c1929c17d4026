//! Configuration of `github-pr-reviewer`.

use super::{Config, ConfigError, Reader, Shared};
use github_adapter::{RepoName, api_base, parse_repo};
use lifecycle::review::Tone;
use serde_json::Value;
use url::Url;

/// Name of the secret with the token.
pub(crate) const TOKEN_SECRET: &str = "GITHUB_PERSONAL_ACCESS_TOKEN";

/// What is reviewed, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewConfig {
    /// Repositories, each once.
    pub repos: Vec<RepoName>,
    /// The label that asks for a review.
    pub trigger_label: String,
    /// How the agent should sound.
    pub tone: Tone,
    /// More about style.
    pub style_instructions: String,
    /// Path of the review guide in a repository; empty for none.
    pub guide_path: String,
    /// Whether drafts are reviewed.
    pub review_drafts: bool,
    /// Base address of the API.
    pub api_url: Url,
    /// Bytes that an archive may unpack to.
    pub max_archive_bytes: u64,
    /// Entries that an archive may have.
    pub max_archive_entries: u64,
    /// What every automation has.
    pub shared: Shared,
}

impl Config for ReviewConfig {
    fn read(reader: &mut Reader) -> Result<Self, ConfigError> {
        let address = reader.text("github_api_url", "https://api.github.com")?;
        let api_url = api_base(&address).map_err(|error| {
            let expected = format!("the address of a GitHub API ({error})");
            reader.wrong("github_api_url", expected, &Value::String(address.clone()))
        })?;
        let mut repos: Vec<RepoName> = Vec::new();
        for spec in reader.full_list("repos")? {
            let repo = parse_repo(&spec, &api_url).map_err(|error| {
                let expected = format!("a list of owner/repo names ({error})");
                reader.wrong("repos", expected, &Value::String(spec.clone()))
            })?;
            let same = |other: &RepoName| other.to_string().eq_ignore_ascii_case(&repo.to_string());
            if !repos.iter().any(same) {
                repos.push(repo);
            }
        }
        let tones = [
            ("thorough", Tone::Thorough),
            ("concise", Tone::Concise),
            ("friendly", Tone::Friendly),
        ];
        Ok(Self {
            repos,
            trigger_label: reader.full_text("trigger_label", "openhands-review")?,
            tone: reader.choice("review_tone", &tones, Tone::Thorough)?,
            style_instructions: reader.text("review_style_instructions", "")?,
            guide_path: reader.text(
                "repo_review_guide_path",
                ".agents/skills/custom-codereview-guide.md",
            )?,
            review_drafts: reader.flag("review_drafts", true)?,
            api_url,
            max_archive_bytes: reader.whole("max_archive_bytes", 1024..=1 << 50, 2 << 30)?,
            max_archive_entries: reader.whole("max_archive_entries", 1..=100_000_000, 200_000)?,
            shared: reader.shared(&[TOKEN_SECRET], 10, 0)?,
        })
    }
}

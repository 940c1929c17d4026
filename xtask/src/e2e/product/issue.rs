//! The issue automation: a label becomes a merge request, opened by it or by the agent.

use lifecycle::document::ISSUE;
use serde_json::{Value, json};
use testbed::gitlab::{GitLab, Issue, NewIssue, Project};
use testbed::scripted_llm::{Asked, Play, Turn};
use testbed::tree::Entry;

use super::{A_MINUTE, Ran, Stage, Subject, between};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;

pub(in crate::e2e) const SECRET: &str = "GITLAB_TOKEN";
pub(in crate::e2e) const TOKEN: &str = "glpat-of-the-stand-in";
const BOT: &str = "issue-bot";
const LABEL: &str = "openhands";
const MESSAGE: &str = "Raise the limit to 3";
/// What an agent does about the issue.
const WORK: &str =
    "printf '3\\n' > limit.txt && git commit --quiet --all --message 'Raise the limit to 3'";

/// Shows it.
pub(in crate::e2e) fn run(stage: &mut Stage, facts: &mut Facts) -> Result<(), E2eError> {
    opened_by_us(stage, facts)?;
    opened_by_the_agent(stage, facts)
}

/// A GitLab below a path with a labelled issue, and the token of the automation.
pub(in crate::e2e) struct Scene {
    pub(in crate::e2e) forge: GitLab,
    pub(in crate::e2e) project: Project,
    pub(in crate::e2e) issue: Issue,
}

impl Scene {
    pub(in crate::e2e) fn new(stage: &Stage, path: &str) -> Result<Self, E2eError> {
        let forge = GitLab::start_below("/gitlab")?;
        forge.token(TOKEN, BOT);
        stage.services.set_secret(SECRET, TOKEN)?;
        let files = [("README.md", "# service\n"), ("limit.txt", "1\n")];
        let project = forge.project_with(path, files)?;
        project.set_member(BOT, 30);
        project.set_member("maintainer", 40);
        let issue = project.open_issue(NewIssue::titled(MESSAGE).by("maintainer"));
        issue.label(LABEL, "maintainer");
        Ok(Self {
            forge,
            project,
            issue,
        })
    }

    /// The configuration for that project, and the key of its document.
    pub(in crate::e2e) fn configured(&self) -> (Value, String) {
        let path = self.project.path();
        let config = json!({"projects": [path], "gitlab_api_url": self.forge.url()});
        (config, format!("state:{}", path.replace('/', "__")))
    }

    /// What project and issue hold in the end: one branch, one merge request with the agent's
    /// commit, one note that links it.
    pub(in crate::e2e) fn one_of_each(&self, facts: &mut Facts) {
        let branches = self.project.branches();
        let branch = format!("openhands/issue-{}", self.issue.iid());
        facts.check(
            "issue: there is one branch beside main, named after the issue, pushed once and not forced",
            branches.len() == 2
                && branches.contains_key(&branch)
                && matches!(self.project.pushes().as_slice(), [push]
                    if push.reference == format!("refs/heads/{branch}") && !push.forced),
            &format!("{branches:?}, {:?}", self.project.pushes()),
        );
        let requests = self.project.merge_requests();
        let closes = format!("Closes #{}", self.issue.iid());
        facts.check(
            "issue: there is one merge request, a draft onto main that closes the issue",
            matches!(requests.as_slice(), [request]
                if request.state == "opened"
                    && request.draft
                    && request.author.as_deref() == Some(BOT)
                    && request.source_branch == branch
                    && request.target_branch == "main"
                    && request.description.as_deref().unwrap_or_default().contains(&closes)),
            &format!("{requests:?}"),
        );
        let commits = self.project.commits(&format!("main..{branch}"));
        let changed = self.project.files(&branch);
        facts.check(
            "issue: it holds the agent's commit on top of main, and nothing else",
            matches!(commits.as_slice(), [commit] if commit.message.trim() == MESSAGE)
                && changed.get("limit.txt") == Some(&Entry::from("3\n"))
                && changed.len() == 2,
            &format!("{commits:?}, {changed:?}"),
        );
        let notes: Vec<String> = self
            .issue
            .notes()
            .into_iter()
            .filter(|note| !note.system)
            .map(|note| note.body)
            .collect();
        facts.check(
            "issue: there is one note, and it links the merge request",
            matches!(notes.as_slice(), [note] if note.contains("/-/merge_requests/1")),
            &notes.join("\n"),
        );
    }
}

/// The play of an agent that commits and leaves the rest to us.
pub(in crate::e2e) fn commits() -> Play {
    Play::new().terminal(WORK).finish("The limit is 3 now.")
}

/// What an agent does that takes everything from its prompt: the command that pushes, as it stands
/// there.
fn pushes(asked: &Asked) -> Turn {
    Turn::terminal(
        &between(&asked.prompt, "```sh\n", "```")
            .replace("\\\n", " ")
            .replace('\n', " "),
    )
}

fn opens(asked: &Asked) -> Turn {
    let prompt = asked.prompt.as_str();
    let url = between(prompt, "merge request: `POST ", "`");
    let branch = between(prompt, "`source_branch` `", "`");
    let base = between(prompt, "`target_branch` `", "`");
    let closes = between(prompt, "with the lines `", "`");
    let authorization = between(prompt, "`curl --header ", " …`");
    let request = json!({
        "source_branch": branch, "target_branch": base, "title": "Draft: Raise the limit to 3",
        "description": format!("The limit is 3 now.\n\n{closes}"),
    });
    Turn::terminal(&format!(
        "curl --silent --show-error --fail-with-body --request POST --header {authorization} \
         --header 'Content-Type: application/json' --data '{request}' '{url}'"
    ))
}

/// The first run of a task, and what it leaves.
fn begun(subject: &Subject<'_>, scene: &Scene, facts: &mut Facts) -> Result<Ran, E2eError> {
    let first = subject.run()?;
    first.check(facts, "issue, first run");
    let (_, record) = subject.record()?;
    let branch = format!("openhands/issue-{}", scene.issue.iid());
    let main = scene.project.tip("main").unwrap_or_default();
    facts.check(
        "issue, first run: it is active on a branch of its own at main's commit",
        first.counts() == (1, 0)
            && record["status"] == "active"
            && record["branch"] == json!(branch)
            && record["base_branch"] == "main"
            && record["base_sha"] == json!(main)
            && record["issue_title"] == MESSAGE,
        &record.to_string(),
    );
    first.names_conversation(facts, &record["conversation_id"]);
    let clone = record["workspace_dir"].as_str().unwrap_or_default();
    let config = std::fs::read_to_string(format!("{clone}/.git/config")).unwrap_or_default();
    facts.check(
        "issue: the clone holds no credential",
        config.contains("[user]") && !config.contains(TOKEN) && !config.contains("extraHeader"),
        &config,
    );
    let ended = subject.wait_for_agent()?;
    facts.equal(
        "issue: the agent finishes",
        &json!(ended),
        &json!("finished"),
    );
    Ok(first)
}

fn opened_by_us(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let scene = Scene::new(stage, "group/team/service")?;
    stage.llm.play_for("of group/team/service", commits());
    let (config, key) = scene.configured();
    let subject = Subject::new(stage, &ISSUE, &key, config)?;
    begun(&subject, &scene, facts)?;
    facts.check(
        "issue: the agent has committed and pushed nothing",
        scene.project.pushes().is_empty(),
        &format!("{:?}", scene.project.pushes()),
    );
    subject.date_back(A_MINUTE)?;
    subject.run()?.check(facts, "issue, second run");
    scene.one_of_each(facts);
    opener(&subject, facts, "automation")?;
    subject.ended(facts, "closed")?;
    scene.forge.check()?;
    Ok(())
}

fn opened_by_the_agent(stage: &Stage, facts: &mut Facts) -> Result<(), E2eError> {
    let scene = Scene::new(stage, "group/helpful/service")?;
    let play = Play::new()
        .terminal(WORK)
        .think(pushes)
        .think(opens)
        .finish("It is open.");
    stage.llm.play_for("of group/helpful/service", play);
    let (config, key) = scene.configured();
    let subject = Subject::new(stage, &ISSUE, &key, config)?;
    begun(&subject, &scene, facts)?;
    facts.check(
        "issue: the agent has pushed and opened the merge request itself, as its prompt tells it",
        scene.project.merge_requests().len() == 1,
        &format!("{:?}", scene.forge.server().log().lines()),
    );
    let asked = stage
        .llm
        .server()
        .log()
        .matching("POST", "/chat/completions");
    facts.check(
        "issue: the model never sees the token",
        !asked.iter().any(|request| request.text().contains(TOKEN)),
        "it was in a request",
    );
    subject.date_back(A_MINUTE)?;
    subject
        .run()?
        .check(facts, "issue, second run, which adopts the merge request");
    scene.one_of_each(facts);
    opener(&subject, facts, "agent")?;
    subject.ended(facts, "closed")?;
    scene.forge.check()?;
    Ok(())
}

fn opener(subject: &Subject<'_>, facts: &mut Facts, who: &str) -> Result<(), E2eError> {
    let (_, record) = subject.record()?;
    facts.check(
        &format!("issue: the record names the merge request and says that the {who} opened it"),
        record["opened_by"] == who
            && record["merge_request_iid"] == 1
            && record["merge_request_url"]
                .as_str()
                .is_some_and(|url| url.ends_with("/-/merge_requests/1")),
        &record.to_string(),
    );
    Ok(())
}

//! A labelled issue becomes a merge request.

use super::news::only_conversation;
use super::review::indented;
use super::stage::Stage;
use crate::console::{block, say};
use crate::error::TaskError;
use serde_json::json;
use testbed::agent_server::{Pace, Script, Status};
use testbed::gitlab::{GitLab, NewIssue};
use testbed::tree::Entry;

const KEY: &str = "state:group__team__service";
const TOKEN: &str = "stand-in-gitlab-token";

pub(super) fn play() -> Result<(), TaskError> {
    let stage = Stage::new("gitlab-issue-to-mr")?;
    let forge = GitLab::start_below("/gitlab").map_err(TaskError::found)?;
    forge.token(TOKEN, "issue-bot");
    stage.agent.set_secret("GITLAB_TOKEN", TOKEN);
    let project = forge
        .project_with(
            "group/team/service",
            [("README.md", "# service\n"), ("limit.txt", "1\n")],
        )
        .map_err(TaskError::found)?;
    project.set_member("issue-bot", 30);
    project.set_member("maintainer", 40);
    let issue = project.open_issue(
        NewIssue::titled("Raise the limit to 3")
            .description("The limit of 1 is too low for us.")
            .by("maintainer"),
    );
    issue.label("openhands", "maintainer");
    let config = json!({"projects": ["group/team/service"], "gitlab_api_url": forge.url()});
    // The agent commits one change and leaves another uncommitted; it does not push.
    let script = Script::of([Status::Idle, Status::Running, Status::Finished])
        .pace(Pace::Told)
        .writes("limit.txt", "3\n")
        .git(&["commit", "-qam", "Raise the limit to 3"])
        .writes("CHANGES.md", "- The limit is 3.\n")
        .response("The limit is 3 now. Nothing tests it yet.");
    stage.agent.next_script(script);

    stage.show_document("before", KEY);
    stage.run("first run: clone, branch, start a conversation", &config)?;
    stage.expect_status(KEY, "tasks", "active")?;
    stage.show_document("now", KEY);
    stage.agent.run_to_end(&only_conversation(&stage)?);
    stage.let_time_pass(KEY, "tasks");
    stage.run(
        "second run: push, open the merge request, tell the issue, clean up",
        &config,
    )?;
    stage.expect_status(KEY, "tasks", "closed")?;
    stage.show_document("after", KEY);
    for request in project.merge_requests() {
        say(&format!(
            "\n   merge request !{}: {}",
            request.iid, request.title
        ));
        block(&indented(
            request.description.as_deref().unwrap_or_default(),
        ));
        say(&format!("   commits of {}:", request.source_branch));
        for commit in project.commits(&format!("main..{}", request.source_branch)) {
            block(&format!(
                "{} {}",
                commit.sha,
                commit.message.lines().next().unwrap_or_default()
            ));
        }
        for (path, entry) in &project.files(&request.source_branch) {
            if let Entry::File(bytes) = entry {
                let text = String::from_utf8_lossy(bytes);
                block(&format!("{path}: {}", text.trim_end()));
            }
        }
    }
    say("\n   notes on the issue:");
    for note in issue.notes().iter().filter(|note| !note.system) {
        block(&indented(&note.body));
    }
    stage.expect_clean("issue-to-mr", KEY)
}

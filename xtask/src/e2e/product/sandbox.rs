//! Runs with a sandbox each: an agent server of their own on a disk of its own, both gone when the run
//! is over. A run finishes what it starts, and a later one in another sandbox neither repeats nor
//! forgets what an interrupted one has left.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use lifecycle::document::{ISSUE, NEWS, REVIEW, Schema};
use serde_json::Value;
use tempfile::TempDir;
use testbed::scripted_llm::Play;

use super::{Ran, Stage, Subject, issue, news, review};
use crate::e2e::error::E2eError;
use crate::e2e::facts::Facts;
use crate::e2e::services::{Options, RealServices};

/// After this a conversation is given up.
const TWO_HOURS: f64 = 7_260.0;
/// How long a run may take until it has recorded its conversation.
const LIMIT: Duration = Duration::from_mins(1);

/// Shows it.
pub(in crate::e2e) fn run(python: &Path, logs: &Path, facts: &mut Facts) -> Result<(), E2eError> {
    let options = Options::new(python, logs);
    let stage = Stage::start(&options)?;
    let disks = tempfile::tempdir().map_err(E2eError::io("make a temporary directory"))?;
    let place = Place {
        stage,
        options,
        disks,
    };
    // Most of the time each of them waits for an agent.
    let seen = thread::scope(|scope| {
        let tests = [digest, reviewed, merge_request, interrupted];
        let all = tests.map(|test| {
            let place = &place;
            scope.spawn(move || {
                let mut facts = Facts::default();
                test(place, &mut facts).map(|()| facts)
            })
        });
        all.map(thread::ScopedJoinHandle::join)
    });
    for one in seen {
        facts.absorb(one.map_err(|_| E2eError::Setup("a test panicked".to_owned()))??);
    }
    place.stage.stop()
}

/// Where automations remember things and report to, and how a sandbox is made.
struct Place {
    stage: Stage,
    options: Options,
    /// What stands for `/workspace` in sandboxes.
    disks: TempDir,
}

impl Place {
    /// A fresh sandbox.
    fn sandbox(&self, name: &str) -> Result<Sandbox, E2eError> {
        let mut options = self.options.clone();
        options.logs.push(name);
        options.agent_server_alone = true;
        let workspace = self.disks.path().join(name);
        fs::create_dir(&workspace)
            .map_err(E2eError::io(format!("make {}", workspace.display())))?;
        let services = RealServices::start(&options)?;
        services.use_llm(&self.stage.llm.api_url())?;
        services.set_secret(review::SECRET, review::TOKEN)?;
        services.set_secret(issue::SECRET, issue::TOKEN)?;
        Ok(Sandbox {
            services,
            workspace,
        })
    }

    fn subject(
        &self,
        schema: &'static Schema,
        (config, key): (Value, String),
    ) -> Result<Subject<'_>, E2eError> {
        Subject::new(&self.stage, schema, &key, config)
    }
}

/// An agent server and a disk. Runs belong to the automation service of the stage.
struct Sandbox {
    services: RealServices,
    /// In every sandbox the same path, and not the same directory.
    workspace: PathBuf,
}

impl Sandbox {
    /// Runs of this automation take place in here from now on: with the variables of a sandbox.
    fn hosts(&self, subject: &Subject<'_>, place: &Place) {
        let workspace = self.workspace.display().to_string();
        let port = self.services.agent_url().rsplit(':').next();
        for (name, value) in [
            ("SANDBOX_ID", Some("a-sandbox")),
            ("AGENT_SERVER_URL", None),
            ("AGENT_SERVER_PORT", port),
            ("SESSION_API_KEY", Some(self.services.session_key())),
            ("WORKSPACE_BASE", Some(workspace.as_str())),
            ("OPENHANDS_API_KEY", Some(place.stage.services.api_key())),
            ("AUTOMATION_CALLBACK_API_KEY", None),
        ] {
            subject.set_variable(name, value);
        }
    }

    fn conversations(&self) -> Result<usize, E2eError> {
        Ok(self.services.conversations()?.len())
    }

    /// It ends as after a run, with all that it holds.
    fn end(self) -> Result<(), E2eError> {
        self.services.stop()?;
        fs::remove_dir_all(&self.workspace)
            .map_err(E2eError::io(format!("remove {}", self.workspace.display())))
    }
}

/// One run that starts and finishes, and one in the next sandbox that finds nothing to do.
fn whole(
    place: &Place,
    subject: &Subject<'_>,
    facts: &mut Facts,
    (name, status): (&str, &str),
) -> Result<(), E2eError> {
    let sandbox = place.sandbox(name)?;
    sandbox.hosts(subject, place);
    let only = subject.run()?;
    only.check(facts, &format!("{name}, a run in a sandbox"));
    let conversations = sandbox.conversations()?;
    facts.check(
        &format!("{name}: it starts and finishes in one run"),
        only.counts() == (1, 1) && conversations == 1,
        &format!("{conversations} conversations, {only}"),
    );
    subject.remembers(facts, status)?;
    sandbox.end()?;
    let sandbox = place.sandbox(name)?;
    sandbox.hosts(subject, place);
    let next = subject.run()?;
    nothing_new(facts, &next, &sandbox, name)?;
    subject.remembers(facts, status)?;
    sandbox.end()
}

fn nothing_new(
    facts: &mut Facts,
    ran: &Ran,
    sandbox: &Sandbox,
    name: &str,
) -> Result<(), E2eError> {
    ran.check(facts, &format!("{name}, a run in the next sandbox"));
    let conversations = sandbox.conversations()?;
    facts.check(
        &format!("{name}: … repeats nothing"),
        ran.counts() == (0, 0) && conversations == 0,
        &format!("{conversations} conversations, {ran}"),
    );
    Ok(())
}

fn digest(place: &Place, facts: &mut Facts) -> Result<(), E2eError> {
    let title = "A ferry for the island";
    let (feeds, feed) = news::site(title)?;
    news::writes_digest(&place.stage, title);
    let config = serde_json::json!({"feeds": [feed]});
    let subject = place.subject(&NEWS, (config, news::KEY.to_owned()))?;
    whole(place, &subject, facts, ("news", "completed"))?;
    let document = subject.document()?;
    facts.check(
        "news: the digest is remembered although its sandbox is gone",
        document["last_digest"]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with(title)),
        &document.to_string(),
    );
    Ok(feeds.server().check()?)
}

fn reviewed(place: &Place, facts: &mut Facts) -> Result<(), E2eError> {
    let repo = "acme/sandboxed";
    let (forge, pull) = review::labelled(&place.stage, repo)?;
    place.stage.llm.play_for(repo, review::play());
    let subject = place.subject(&REVIEW, review::configured(&forge, repo))?;
    whole(place, &subject, facts, ("review", "closed"))?;
    review::one_of_each(facts, &pull);
    Ok(forge.check()?)
}

fn merge_request(place: &Place, facts: &mut Facts) -> Result<(), E2eError> {
    let path = "group/sandboxed/service";
    let scene = issue::Scene::new(&place.stage, path)?;
    let play = issue::commits();
    place.stage.llm.play_for(&format!("of {path}"), play);
    let subject = place.subject(&ISSUE, scene.configured())?;
    whole(place, &subject, facts, ("issue", "closed"))?;
    scene.one_of_each(facts);
    Ok(scene.forge.check()?)
}

/// A run that dies with its sandbox while its agent works.
fn interrupted(place: &Place, facts: &mut Facts) -> Result<(), E2eError> {
    let (name, repo) = ("interrupted", "acme/interrupted");
    let (forge, pull) = review::labelled(&place.stage, repo)?;
    let play = Play::new().terminal("sleep 600");
    place.stage.llm.play_for(repo, play);
    let subject = place.subject(&REVIEW, review::configured(&forge, repo))?;
    let sandbox = place.sandbox(name)?;
    sandbox.hosts(&subject, place);
    let mut child = subject.start()?;
    let since = Instant::now();
    let is_active = || {
        subject
            .record()
            .is_ok_and(|(_, record)| record["status"] == "active")
    };
    while !is_active() && since.elapsed() < LIMIT {
        thread::sleep(Duration::from_millis(50));
    }
    child.kill().map_err(E2eError::io("kill the automation"))?;
    child
        .wait()
        .map_err(E2eError::io("wait for the automation"))?;
    let (conversations, before) = (sandbox.conversations()?, subject.record()?);
    facts.check(
        "interrupted: a run that dies with its sandbox leaves a task that is active",
        conversations == 1 && before.1["status"] == "active",
        &format!("{conversations} conversations, {}", before.1),
    );
    sandbox.end()?;

    let sandbox = place.sandbox(name)?;
    sandbox.hosts(&subject, place);
    let next = subject.run()?;
    nothing_new(facts, &next, &sandbox, name)?;
    let (task, record) = subject.record()?;
    facts.check(
        "interrupted: … and forgets nothing: the conversation may be at work where it is",
        task == before.0
            && record["status"] == "active"
            && record["conversation_id"] == before.1["conversation_id"],
        &record.to_string(),
    );
    subject.date_back(TWO_HOURS)?;
    let late = subject.run()?;
    late.check(facts, "interrupted, a run after two hours");
    subject.remembers(facts, "expired")?;
    let (again, reviews) = (subject.run()?, pull.reviews());
    facts.check(
        "interrupted: the task has expired, with one acknowledgement, and is not begun anew",
        late.counts() == (0, 1)
            && again.counts() == (0, 0)
            && sandbox.conversations()? == 0
            && pull.comments().len() == 1
            && reviews.is_empty(),
        &format!("{late}\n{again}\n{:?}", pull.comments()),
    );
    sandbox.end()?;
    Ok(forge.check()?)
}

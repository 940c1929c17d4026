//! What runs of deployed automations find around them, and how they are started.

use crate::bench::{Bench, packed, unpack};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::Arc;
use testbed::agent_server::{AgentServer, SESSION_KEY, Script};
use testbed::automation_service::API_KEY;
use testbed::call::Call;
use testbed::callback::{CALLBACK_KEY, RunSetup, RunStatus, Scratch};
use testbed::kv::{Behaviour, KvStore};

/// What runs find around them.
pub(super) struct World {
    pub(super) agent: AgentServer,
    kv: Option<KvStore>,
    scratch: Scratch,
}

impl World {
    /// With the KV store or without, and agents that do this.
    pub(super) fn new(kv: bool, script: Script) -> Arc<Self> {
        let agent = AgentServer::start().unwrap();
        agent.set_script(script);
        Arc::new(Self {
            agent,
            kv: kv.then(|| KvStore::start(Behaviour::LikeSqlite).unwrap()),
            scratch: Scratch::new().unwrap(),
        })
    }

    /// Carries out what is dispatched: unpacks the archive, runs the entrypoint.
    pub(super) fn serve(self: &Arc<Self>, bench: &Bench) {
        let (world, api) = (Arc::clone(self), bench.service.api_url());
        bench.service.on_dispatch(move |dispatch| {
            let id = dispatch.automation["id"].as_str().unwrap();
            let of_run = format!("{api}/v1/runs/{}", dispatch.run);
            let mut setup = RunSetup::local(&world.agent, &world.scratch)
                .automation(id, "Reviews")
                .set("AUTOMATION_CALLBACK_URL", &format!("{of_run}/complete"))
                .set("AUTOMATION_PHASE_URL", &format!("{of_run}/phase"))
                .set("AUTOMATION_CALLBACK_API_KEY", CALLBACK_KEY);
            if let Some(kv) = &world.kv {
                setup = setup.kv(kv);
            }
            let run = setup.prepare_as(&dispatch.run).unwrap();
            unpack(dispatch.archive.as_deref().unwrap(), &run.directory);
            let mut command = Command::new("/bin/sh");
            command
                .arg("-c")
                .arg(dispatch.automation["entrypoint"].as_str().unwrap())
                .current_dir(&run.directory)
                .env_clear()
                .envs(&run.variables)
                .env("HOME", world.scratch.root())
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            if let Some(path) = std::env::var_os("PATH") {
                command.env("PATH", path);
            }
            assert!(command.status().unwrap().success());
        });
    }

    /// Puts a document where the script of this automation keeps it.
    pub(super) fn remember(&self, id: &str, key: &str, file: &str, document: &Value) {
        if let Some(kv) = &self.kv {
            kv.put(id, key, document);
            return;
        }
        std::fs::create_dir_all(self.scratch.state_dir()).unwrap();
        let path = self.scratch.state_dir().join(file);
        std::fs::write(path, document.to_string()).unwrap();
    }

    /// What is remembered now.
    pub(super) fn remembered(&self, id: &str, key: &str, file: &str) -> Value {
        if let Some(kv) = &self.kv {
            return kv.value(id, key).unwrap();
        }
        let path = self.scratch.state_dir().join(file);
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }

    /// A conversation that the script has started, in its workspace.
    pub(super) fn conversation(&self, id: &str, folder: &str) -> String {
        let dir = self
            .scratch
            .root()
            .join("automation-runs/old-run")
            .join(folder);
        std::fs::create_dir_all(&dir).unwrap();
        let dir = dir.display().to_string();
        let body = json!({
            "conversation_id": id, "workspace": {"working_dir": dir},
            "agent": {"kind": "Agent", "llm": {"model": "m", "usage_id": "agent"}, "tools": []},
            "initial_message": {"content": [{"text": "Review it."}]},
        });
        let url = format!("{}/api/conversations", self.agent.base_url());
        let call = Call::post(&url, &body).header("x-session-api-key", SESSION_KEY);
        assert_eq!(call.send().unwrap().status, 201);
        dir
    }
}

/// The archive of an automation whose executable is the real one, which is too large to be uploaded
/// as it was built for tests.
pub(super) fn with_binary(bench: &Bench, name: &str, binary: &str) {
    let start = format!("#!/bin/sh\nexec {binary} \"$@\"\n");
    let executable = format!("bin/{name}");
    let entries = [(executable.as_str(), start.into_bytes(), 0o755)];
    std::fs::write(bench.archive(name), packed(&entries)).unwrap();
}

/// Starts another run, and waits for the ends of all.
pub(super) fn dispatch(bench: &Bench, id: &str) {
    let url = format!("{}/v1/{id}/dispatch", bench.service.api_url());
    let call = Call::new("POST", &url).bearer(API_KEY);
    assert_eq!(call.send().unwrap().status, 201);
    let over = |run: &testbed::callback::Run| {
        !matches!(run.status, RunStatus::Pending | RunStatus::Running)
    };
    while !bench.service.runs().iter().all(over) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

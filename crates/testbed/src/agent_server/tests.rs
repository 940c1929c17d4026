//! The agent server over its socket: each answer, the scripts and the deeds.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::call::{Answer, Call};

const ID: &str = "6ceaa97a-0d2a-5b7e-9c1f-2b1f0f5f3a10";

fn body(id: &str, working_dir: &str) -> Value {
    json!({
        "conversation_id": id,
        "workspace": {"working_dir": working_dir},
        "agent": {
            "kind": "Agent", "llm": {"model": "openai/scripted", "api_key": "llm-key"},
            "tools": [{"name": "terminal"}, {"name": "file_editor"}],
        },
        "initial_message": {"content": [{"text": "Write the digest."}]},
        "secrets": {"GITLAB_TOKEN": {
            "kind": "LookupSecret", "url": "/api/settings/secrets/GITLAB_TOKEN",
            "headers": {"X-Session-API-Key": SESSION_KEY},
        }},
    })
}

fn send(server: &AgentServer, call: Call) -> Answer {
    call.header("X-Session-API-Key", &server.key())
        .send()
        .unwrap()
}

fn get(server: &AgentServer, path: &str) -> Answer {
    send(server, Call::get(&server.server().url(path)))
}

fn start(server: &AgentServer, body: &Value) -> Answer {
    send(
        server,
        Call::post(&server.server().url("/api/conversations"), body),
    )
}

fn post(server: &AgentServer, path: &str) -> Answer {
    send(server, Call::new("POST", &server.server().url(path)))
}

fn status(server: &AgentServer, id: &str) -> String {
    let answer = get(server, &format!("/api/conversations/{id}"));
    answer.json()["execution_status"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn one_id_is_one_conversation() {
    let server = AgentServer::start().unwrap();
    let first = start(&server, &body(ID, "/workspace/a"));
    assert_eq!((first.status, first.json()["id"].as_str()), (201, Some(ID)));
    assert_eq!(first.json()["execution_status"], "idle");
    let other_body = body(&ID.to_uppercase(), "/workspace/b");
    let second = start(&server, &other_body);
    assert_eq!(
        (second.status, &second.json()["workspace"]["working_dir"]),
        (200, &json!("/workspace/a"))
    );
    assert_eq!((server.created(), server.attempts(ID)), (1, 2));
    assert_eq!(server.conversation(ID).unwrap().prompt, "Write the digest.");
    server.check().unwrap();
}

#[test]
fn an_older_server_chooses_the_id_itself() {
    let server = AgentServer::start().unwrap();
    server.set_heeds_ids(false);
    let ids: Vec<Value> = (0..2)
        .map(|_| start(&server, &body(ID, "/w")).json()["id"].clone())
        .collect();
    assert_ne!(ids[0], ids[1]);
    assert_ne!(ids[0], ID);
    assert_eq!((server.created(), server.attempts(ID)), (2, 2));
}

#[test]
fn follows_its_script_by_looks() {
    let server = AgentServer::start().unwrap();
    server.set_script(
        Script::finishes()
            .pace(Pace::Looks(2))
            .response("All said."),
    );
    start(&server, &body(ID, "/w"));
    let seen: Vec<String> = (0..4).map(|_| status(&server, ID)).collect();
    assert_eq!(seen, ["idle", "idle", "running", "running"]);
    let path = format!("/api/conversations/{ID}/agent_final_response");
    assert_eq!(get(&server, &path).json(), json!({"response": ""}));
    assert_eq!(status(&server, ID), "finished");
    assert_eq!(status(&server, ID), "finished");
    assert_eq!(get(&server, &path).json(), json!({"response": "All said."}));
}

#[test]
fn follows_its_script_when_told_or_by_the_clock() {
    let server = AgentServer::start().unwrap();
    server.next_script(Script::fails().pace(Pace::Told));
    start(&server, &body(ID, "/w"));
    assert_eq!(
        (status(&server, ID), status(&server, ID)),
        ("idle".into(), "idle".into())
    );
    assert!(server.advance(ID));
    assert_eq!(status(&server, ID), "running");
    server.run_to_end(ID);
    assert_eq!(status(&server, ID), "error");

    server.script_for("digest", Script::finishes().pace(Pace::Millis(3)));
    let other = "00000000-0000-4000-8000-000000000001";
    start(&server, &body(other, "/w"));
    let begin = Instant::now();
    while server.conversation(other).unwrap().status != Status::Finished {
        assert!(begin.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn batch_keeps_the_order_and_knows_what_is_missing() {
    let server = AgentServer::start().unwrap();
    start(&server, &body(ID, "/w"));
    let unknown = "00000000-0000-4000-8000-000000000009";
    let answer = get(
        &server,
        &format!("/api/conversations?ids={unknown}&ids={ID}"),
    );
    let list = answer.json();
    assert_eq!((&list[0], &list[1]["id"]), (&Value::Null, &json!(ID)));
    assert_eq!(
        get(&server, &format!("/api/conversations?ids={ID}&ids=old-id")).status,
        422
    );
    assert_eq!(get(&server, "/api/conversations").status, 422);
    let many = format!("ids={ID}&").repeat(100);
    assert_eq!(
        get(&server, &format!("/api/conversations?{many}")).status,
        422
    );
    assert_eq!(
        get(&server, &format!("/api/conversations/{unknown}")).status,
        404
    );
    assert_eq!(get(&server, "/api/conversations/old-id").status, 422);
}

#[test]
fn interrupt_pauses_what_runs_and_leaves_what_has_ended() {
    let server = AgentServer::start().unwrap();
    server.set_script(Script::finishes().pace(Pace::Told));
    start(&server, &body(ID, "/w"));
    server.advance(ID);
    let path = format!("/api/conversations/{ID}/interrupt");
    assert_eq!(post(&server, &path).status, 200);
    assert_eq!(status(&server, ID), "paused");
    assert!(!server.advance(ID));
    server.set_status(ID, Status::Finished);
    post(&server, &path);
    assert_eq!(status(&server, ID), "finished");
    assert!(server.delete(ID));
    assert_eq!(post(&server, &path).status, 404);
    assert_eq!((server.created(), server.conversations().len()), (1, 0));
}

#[test]
fn refuses_what_the_server_refuses() {
    let server = AgentServer::start().unwrap();
    let url = server.server().url("/api/conversations");
    assert_eq!(
        Call::post(&url, &body(ID, "/w")).send().unwrap().status,
        401
    );
    assert_eq!(start(&server, &body("not-a-uuid", "/w")).status, 422);
    for (pointer, value) in [
        ("/agent", Value::Null),
        ("/agent/llm", json!({})),
        ("/initial_message/content", json!("text")),
        ("/secrets/GITLAB_TOKEN", json!({"kind": "LookupSecret"})),
    ] {
        let mut bad = body(ID, "/w");
        *bad.pointer_mut(pointer).unwrap() = value;
        assert_eq!(start(&server, &bad).status, 422, "{pointer}");
    }
    assert_eq!(server.created(), 0);
    server.set_capacity(Some(1));
    assert_eq!(start(&server, &body(ID, "/w")).status, 201);
    let other = body("00000000-0000-4000-8000-000000000001", "/w");
    assert_eq!(start(&server, &other).status, 429);
    assert_eq!(start(&server, &body(ID, "/w")).status, 200);
    server.set_status(ID, Status::Finished);
    assert_eq!(start(&server, &other).status, 201);
}

#[test]
fn stumbles_where_the_server_stumbles() {
    let server = AgentServer::start().unwrap();
    let mut nowhere = body(ID, "/w");
    nowhere["workspace"] = json!({});
    assert_eq!(
        (start(&server, &nowhere).status, server.created()),
        (500, 0)
    );
    let mut unknown_tool = body(ID, "/w");
    unknown_tool["agent"]["tools"] = json!([{"name": "shell"}]);
    assert_eq!(
        (start(&server, &unknown_tool).status, server.created()),
        (500, 1)
    );
    assert_eq!(
        (status(&server, ID), status(&server, ID)),
        ("idle".into(), "idle".into())
    );
    assert_eq!(start(&server, &unknown_tool).status, 200);
    let silent_id = "00000000-0000-4000-8000-000000000001";
    let mut silent = body(silent_id, "/w");
    silent["initial_message"] = Value::Null;
    assert_eq!(start(&server, &silent).status, 201);
    assert_eq!(
        (status(&server, silent_id), status(&server, silent_id)),
        ("idle".into(), "idle".into())
    );
}

#[test]
fn mcp_servers_belong_to_the_agent() {
    let server = AgentServer::start().unwrap();
    let servers = json!({"docs": {"url": "http://example.com/mcp"}});
    let mut beside = body(ID, "/w");
    beside["mcp_config"] = servers.clone();
    assert_eq!(
        start(&server, &beside).json()["agent"]["mcp_config"],
        json!({})
    );
    let mut within = body("00000000-0000-4000-8000-000000000001", "/w");
    within["agent"]["mcp_config"] = servers.clone();
    assert_eq!(
        start(&server, &within).json()["agent"]["mcp_config"],
        servers
    );
}

#[test]
fn hands_out_settings_secrets_and_profiles() {
    let server = AgentServer::start().unwrap();
    server.set_secret("GITLAB_TOKEN", "glpat-1");
    server.set_mcp_config(json!({"docs": {"url": "http://example.com"}}));
    server.set_profile("fast", json!({"model": "m", "api_key": "k"}));
    let hidden = get(&server, "/api/settings").json();
    assert_eq!(hidden["agent_settings"]["llm"]["api_key"], "**********");
    let plain = |path: &str| {
        let call = Call::get(&server.server().url(path)).header("X-Expose-Secrets", "plaintext");
        send(&server, call).json()
    };
    let settings = plain("/api/settings");
    assert_eq!(settings["agent_settings"]["llm"]["api_key"], "llm-key");
    assert_eq!(
        settings["agent_settings"]["mcp_config"]["docs"]["url"],
        "http://example.com"
    );
    let list = get(&server, "/api/settings/secrets").json();
    assert_eq!(list["secrets"][0]["name"], "GITLAB_TOKEN");
    let secret = get(&server, "/api/settings/secrets/GITLAB_TOKEN");
    assert_eq!(
        (secret.text().as_str(), secret.header("content-type")),
        ("glpat-1", Some("text/plain; charset=utf-8"))
    );
    assert_eq!(get(&server, "/api/settings/secrets/OTHER").status, 404);
    assert_eq!(get(&server, "/api/settings/secrets/a-b").status, 422);
    assert_eq!(plain("/api/profiles/fast")["config"]["api_key"], "k");
    assert_eq!(
        get(&server, "/api/profiles/fast").json()["config"]["api_key"],
        Value::Null
    );
    assert_eq!(get(&server, "/api/profiles/gone").status, 404);
    assert_eq!(
        Call::get(&server.server().url("/health"))
            .send()
            .unwrap()
            .status,
        200
    );
    server.check().unwrap();
}

#[test]
fn the_agent_works_in_its_directory_and_with_its_secrets() {
    let workspace = tempfile::tempdir().unwrap();
    let forge = AgentServer::start().unwrap();
    let server = AgentServer::start().unwrap();
    server.set_secret("GITLAB_TOKEN", "glpat-1");
    server.set_secret("OTHER", "never granted");
    server.set_git_init(true);
    let script = Script::finishes()
        .on_start(Deed::write("notes/start.txt", "begun"))
        .writes("digest.md", "# News")
        .git(&["add", "-A"])
        .git(&["commit", "-q", "-m", "Add the digest"])
        .on_finish(Deed::http(Call::get(&forge.server().url("/health"))))
        .does(|visit| {
            let granted: Vec<_> = visit.secrets.iter().collect();
            assert_eq!(format!("{granted:?}"), r#"[("GITLAB_TOKEN", "glpat-1")]"#);
            std::fs::write(visit.working_dir.join("id"), &visit.id).map_err(|e| e.to_string())
        });
    server.set_script(script);
    start(&server, &body(ID, workspace.path().to_str().unwrap()));
    assert_eq!(
        (status(&server, ID), status(&server, ID)),
        ("idle".into(), "running".into())
    );
    assert!(workspace.path().join("notes/start.txt").exists());
    assert!(!workspace.path().join("digest.md").exists());
    assert_eq!(status(&server, ID), "finished");
    server.check().unwrap();
    assert_eq!(
        std::fs::read_to_string(workspace.path().join("id")).unwrap(),
        ID
    );
    assert!(workspace.path().join(".git").is_dir());
    assert_eq!(forge.server().log().count("GET", "/health"), 1);
}

#[test]
fn a_deed_that_fails_is_reported_at_the_end() {
    let server = AgentServer::start().unwrap();
    server.set_script(Script::finishes().does(|_| Err("no paper left".to_owned())));
    start(&server, &body(ID, "/w"));
    server.run_to_end(ID);
    let error = server.check().unwrap_err();
    assert!(
        matches!(&error, TestbedError::Deeds { failures } if failures.len() == 1),
        "{error:?}"
    );
    let message = error.to_string();
    assert!(
        message.contains("no paper left") && message.contains(ID),
        "{message}"
    );
}

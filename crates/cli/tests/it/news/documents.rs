//! Documents that the deployed scripts wrote, and days that follow each other.

use crate::stage::scenes::{NewsDay, now};
use crate::stage::{A_MINUTE, A_WHILE, Backend};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use testbed::feeds::Story;

const YESTERDAY: &str = "2020-01-01";

fn written_by_script() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/state/news-digest");
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_script = |path: &PathBuf| path.to_string_lossy().contains("written-by-script");
    let mut paths: Vec<PathBuf> = paths.filter(is_script).collect();
    paths.sort();
    paths
}

#[test]
fn yesterdays_digest_is_collected_before_today_is_selected() {
    for backend in Backend::ALL {
        let day = NewsDay::with_three_feeds(backend);
        day.stage.run().ok();
        // What was begun yesterday has a conversation of its own.
        let id = "0b9b7f1c-6f6a-4c43-8f6d-5e5d5c0a1b2c";
        let dir = day.stage.record()["workspace_dir"]
            .as_str()
            .unwrap()
            .to_owned();
        day.stage.edit(|document| {
            let tasks = document["tasks"].as_object().unwrap();
            let mut record = tasks.values().next().unwrap().clone();
            record["period"] = json!(YESTERDAY);
            record["conversation_id"] = json!(id);
            document["tasks"] = json!({format!("news:{YESTERDAY}"): record});
        });
        if let Some(kv) = &day.stage.kv {
            for key in day.stage.guards() {
                kv.remove(day.stage.setup().automation_id(), &key);
            }
        }
        day.stage.agent.delete_all();
        day.stage.converse(id, &dir);
        day.stage.agents_finish();
        day.stage.let_time_pass(A_MINUTE);
        day.feeds
            .publish("/feed-1", &[Story::numbered(77, now() - 60.0)]);
        let ran = day.stage.run().ok();
        assert_eq!(
            (ran.count("finished"), ran.count("started")),
            (1, 1),
            "{}",
            ran.all()
        );
        let prompt = day.stage.agent.conversations().pop().unwrap().prompt;
        assert!(prompt.contains("Story number 77"), "{prompt}");
        for told in [1, 2, 11, 12, 21, 22] {
            let title = format!("\"Story number {told}\"");
            assert!(!prompt.contains(&title), "told yesterday: {title}");
        }
        day.check();
    }
}

#[test]
fn documents_of_the_deployed_script_run_on() {
    for path in written_by_script() {
        for backend in [Backend::LikeSqlite, Backend::Files] {
            let day = NewsDay::with_three_feeds(backend);
            let root = day.stage.scratch.root().display().to_string();
            let text = std::fs::read_to_string(&path)
                .unwrap()
                .replace("/home/user/.openhands/workspaces", &root)
                // Not the day on which this runs.
                .replace("2026-11-30", YESTERDAY);
            let before: Value = serde_json::from_str(&text).unwrap();
            let task = format!("news:{YESTERDAY}");
            let old = &before["tasks"][&task];
            if let Some(dir) = old["workspace_dir"].as_str() {
                std::fs::create_dir_all(dir).unwrap();
                day.stage
                    .converse(old["conversation_id"].as_str().unwrap(), dir);
                day.stage.agents_finish();
            }
            day.stage.put_document(&before);
            let place = format!("{} on {backend:?}", path.display());
            day.stage.let_time_pass(A_WHILE);
            let ran = day.stage.run().ok();
            assert_eq!(ran.count("started"), 1, "{place}: {}", ran.all());
            let after = day.stage.document();
            let record = &after["tasks"][&task];
            let was_at_work = old["status"] == "active";
            let expected = if was_at_work {
                "completed"
            } else {
                old["status"].as_str().unwrap()
            };
            assert_eq!(record["status"], expected, "{place}");
            assert!(record["workspace_dir"].is_null(), "{place}: {record}");
            // What was told stays told, and what is told now comes behind it.
            let told = |document: &Value| document["seen"].as_array().unwrap().clone();
            let expected = if was_at_work {
                old["item_keys"].as_array().unwrap().clone()
            } else {
                told(&before)
            };
            assert_eq!(told(&after), expected, "{place}");
            for (name, value) in before.as_object().unwrap() {
                assert!(
                    !after[name].is_null() || value.is_null(),
                    "{place}: {name} is gone"
                );
            }
            day.check();
        }
    }
}

//! Dispatching a run and looking at the runs.

use axum::extract::{Path, Query, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::model::{Dispatch, Stage};
use super::routes::{Page, Shared, unknown};
use crate::answer::{Refusal, json_answer};
use crate::callback::{RunStatus, shown_run};

pub(super) async fn dispatch(
    State(shared): State<Shared>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let mut model = shared.model();
    let automation = model.automation(&id).ok_or_else(unknown)?.clone();
    let run = model.id("c0000000");
    shared.runs().begin(&run, &id, RunStatus::Pending);
    if let Some(carry_out) = model.carry_out.clone() {
        let path = automation["tarball_path"].as_str().unwrap_or_default();
        let archive = model.upload(path).map(<[u8]>::to_vec);
        let dispatch = Dispatch {
            run: run.clone(),
            automation,
            archive,
        };
        if let Some(run) = shared.runs().get_mut(&run) {
            run.status = RunStatus::Running;
        }
        tokio::task::spawn_blocking(move || carry_out(&dispatch));
    } else {
        model.plan(&run);
    }
    let shown = shared.runs().get(&run).map(shown_run).unwrap_or_default();
    Ok(json_answer(201, &shown))
}

pub(super) async fn runs(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    Query(page): Query<Page>,
) -> Result<Response, Refusal> {
    let mut model = shared.model();
    model.automation(&id).ok_or_else(unknown)?;
    let mut runs = shared.runs();
    let mine: Vec<Value> = runs
        .all()
        .iter()
        .filter(|run| run.automation == id)
        .map(shown_run)
        .collect();
    // What a look shows is how things stood; the next look shows the next stage.
    for shown in &mine {
        let run = shown["id"].as_str().unwrap_or_default();
        let Some(stage) = model.ahead.get_mut(run).and_then(Vec::pop) else {
            continue;
        };
        match stage {
            Stage::Phase(phase) => {
                if let Some(run) = runs.get_mut(run) {
                    run.status = RunStatus::Running;
                    run.phases.push(phase);
                }
            }
            Stage::End(RunStatus::Running, _) => {
                if let Some(run) = runs.get_mut(run) {
                    run.status = RunStatus::Running;
                }
            }
            Stage::End(status, error) => runs.end(run, status, error.map(Value::from)),
        }
    }
    let page = page.of(mine.iter().rev());
    Ok(json_answer(
        200,
        &json!({"runs": page, "total": mine.len(), "status_counts": {}}),
    ))
}

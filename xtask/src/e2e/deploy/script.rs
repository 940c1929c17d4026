//! An automation that runs a Python script, as a team has it before it changes to ours.

use serde_json::Value;

use super::deployed::Deployed;
use crate::e2e::automations::NewAutomation;
use crate::e2e::error::E2eError;
use crate::e2e::run_environment::archive;
use crate::e2e::services::RealServices;

/// How the scripts are started.
pub(super) const ENTRYPOINT: &str = "python3 main.py";
/// Stands for the script: it stores a document and says that it is done.
const SCRIPT: &str = r#"import json, os, urllib.request

def send(method, url, token, body):
    headers = {"Authorization": "Bearer " + os.environ[token], "Content-Type": "application/json"}
    request = urllib.request.Request(url, body, headers, method=method)
    urllib.request.urlopen(request).read()

document = open("document.json", "rb").read()
url = os.environ["AUTOMATION_API_URL"] + "/v1/kv/" + open("key").read()
send("PUT", url, "AUTOMATION_KV_TOKEN", document)
done = {"status": "COMPLETED", "run_id": os.environ["AUTOMATION_RUN_ID"]}
url = os.environ["AUTOMATION_CALLBACK_URL"]
send("POST", url, "AUTOMATION_CALLBACK_API_KEY", json.dumps(done).encode())
"#;

impl Deployed {
    /// An automation with a script in place of ours, which has run once and left this document.
    pub(super) fn of_script(
        services: &RealServices,
        name: &str,
        config: &Value,
        document: &Value,
    ) -> Result<Self, E2eError> {
        let mut scripted = Self::new(name, "", config);
        let text = document.to_string();
        let files = [
            ("main.py", 0o644, SCRIPT.as_bytes()),
            ("document.json", 0o644, text.as_bytes()),
            ("key", 0o644, scripted.key.as_bytes()),
        ];
        let tarball = services.upload("script", archive(&files)?)?;
        let name = format!("{name} by script");
        scripted.id =
            services.create_automation(&NewAutomation::new(&name, &tarball, ENTRYPOINT))?;
        let runs = scripted.dispatch(services, 1)?;
        let completed = runs.iter().all(|run| run.status == "COMPLETED");
        if completed && scripted.document(services)? == *document {
            return Ok(scripted);
        }
        let why = format!("the script did not store its document: {runs:?}");
        Err(E2eError::Setup(why))
    }
}

//! Tries a packed archive as a user has it: unpacked into an empty folder, set up with the first
//! tool that is there and with Python, started. And shows what no other test can: that a panic in
//! this very executable, where it ends the process at once, is reported first.

use super::build::Machine;
use super::stand_ins::done;
use crate::error::TaskError;
use crate::process::{command, output, root};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Lets the first thread fail; the runtime needs one for a name lookup and panics.
const SHIM: &str = "packaging/trial/no_first_thread.c";
/// How long the report of a panic may take to come.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tries an archive, which holds this executable.
///
/// # Errors
/// What went wrong.
pub(super) fn run(
    machine: &Machine,
    name: &str,
    archive: &[u8],
    executable: &[u8],
) -> Result<(), TaskError> {
    let folder =
        tempfile::tempdir().map_err(|error| TaskError::file("a temporary folder", error))?;
    unpack(archive, folder.path())
        .map_err(|error| TaskError::file(format!("{name}.tar.gz"), error))?;
    let entrypoint = folder.path().join("bin").join(name);
    set_up(folder.path())?;
    let bytes = std::fs::read(&entrypoint).map_err(|error| TaskError::file(&entrypoint, error))?;
    if bytes != executable {
        return Err(TaskError::found(
            "setup.sh unpacks something else than was packed",
        ));
    }
    panics(machine, name, folder.path(), &entrypoint)
}

/// Unpacks an archive into a folder.
pub(super) fn unpack(archive: &[u8], folder: &Path) -> std::io::Result<()> {
    tar::Archive::new(flate2::read::GzDecoder::new(archive)).unpack(folder)
}

fn set_up(folder: &Path) -> Result<(), TaskError> {
    let ended = output(Command::new("bash").arg("setup.sh").current_dir(folder))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    Err(TaskError::found(said))
}

/// Lets the executable panic and expects its report.
fn panics(
    machine: &Machine,
    name: &str,
    folder: &Path,
    entrypoint: &PathBuf,
) -> Result<(), TaskError> {
    let shim = folder.join("no_first_thread.so");
    let mut compile = command(machine.compiler());
    compile.args(["-shared", "-fPIC", "-O1", "-o"]);
    done(compile.arg(&shim).arg(root().join(SHIM)).arg("-ldl"))?;
    let network = |error| TaskError::file("a loopback socket", error);
    let listener = TcpListener::bind("127.0.0.1:0").map_err(network)?;
    listener.set_nonblocking(true).map_err(network)?;
    let service = listener.local_addr().map_err(network)?;
    let mut run = Command::new(entrypoint);
    run.env_clear()
        .current_dir(folder)
        .env("HOME", folder)
        .env("LD_PRELOAD", &shim)
        .env("AGENT_SERVER_URL", "http://localhost:1")
        .env("SESSION_API_KEY", "key")
        .env("AUTOMATION_RUN_ID", "panic")
        .env("AUTOMATION_CALLBACK_API_KEY", "key")
        .env(
            "AUTOMATION_CALLBACK_URL",
            format!("http://{service}/complete"),
        )
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let mut run = run
        .spawn()
        .map_err(|error| TaskError::file(entrypoint, error))?;
    let report = first_request(&listener);
    let ended = run
        .wait()
        .map_err(|error| TaskError::file(entrypoint, error))?;
    let report = report.map_err(|error| TaskError::file("the report of a panic", error))?;
    if !report.contains("FAILED") || !report.contains("defect") {
        return Err(TaskError::found(format!(
            "{name}: a panic is reported as {report}"
        )));
    }
    if ended.code().is_some() {
        return Err(TaskError::found(format!(
            "{name}: a panic ends with {ended}, not by a signal"
        )));
    }
    Ok(())
}

/// Answers the first request and tells it.
fn first_request(listener: &TcpListener) -> std::io::Result<String> {
    let end = Instant::now() + PATIENCE;
    let mut stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                if Instant::now() > end {
                    return Err(std::io::Error::new(error.kind(), "nothing came"));
                }
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(error) => return Err(error),
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let request = read_request(&mut stream)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")?;
    Ok(request)
}

fn read_request(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let many = stream.read(&mut buffer)?;
        bytes.extend_from_slice(&buffer[..many]);
        let text = String::from_utf8_lossy(&bytes);
        // The body is JSON: it is whole when its last brace has come.
        if many == 0
            || text
                .split_once("\r\n\r\n")
                .is_some_and(|(_, body)| body.ends_with('}'))
        {
            return Ok(text.into_owned());
        }
    }
}

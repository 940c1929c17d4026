//! One git process: what goes in, what comes out, and its end, whatever happens.
//!
//! The child leads a process group of its own, which is killed when the time is up or when the
//! caller stops waiting. It never has a terminal or an open standard input to wait for.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// Bytes of standard error that are kept, the last ones.
const MAX_STDERR: usize = 64 << 10;
/// Bytes of standard output that are kept at most: the list of all files of a large repository.
const MAX_STDOUT: usize = 256 << 20;

/// What the child reads.
pub(super) enum Input {
    /// Nothing at all.
    Nothing,
    /// These bytes.
    Bytes(Vec<u8>),
    /// An open file.
    File(File),
}

/// A process to be run.
pub(super) struct Spec {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub dir: PathBuf,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    pub input: Input,
    pub timeout: Duration,
}

/// What became of it.
#[derive(Debug)]
pub(super) struct Ended {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs a process to its end; `None` when it was killed because the time was up.
pub(super) async fn run(spec: Spec) -> io::Result<Option<Ended>> {
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.dir)
        .env_clear()
        .envs(spec.env)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let bytes = match spec.input {
        Input::Nothing => {
            command.stdin(Stdio::null());
            None
        }
        Input::File(file) => {
            command.stdin(Stdio::from(file));
            None
        }
        Input::Bytes(bytes) => {
            command.stdin(Stdio::piped());
            Some(bytes)
        }
    };
    let mut child = command.spawn()?;
    let mut group = Group(child.id());
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let (Some(mut stdin), Some(bytes)) = (stdin, bytes) {
            // A child that stops reading early says why on standard error.
            let _broken_pipe = stdin.write_all(&bytes).await;
        }
    };
    let work = async {
        let ((), stdout, stderr) = tokio::join!(feed, all(stdout), tail(stderr));
        let status = child.wait().await?;
        io::Result::Ok(Ended {
            status,
            stdout: stdout?,
            stderr: stderr?,
        })
    };
    let Ok(ended) = tokio::time::timeout(spec.timeout, work).await else {
        return Ok(None);
    };
    group.0 = None;
    ended.map(Some)
}

/// Kills a process group when it is dropped.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let pid = self.0.and_then(|id| Pid::from_raw(id.try_into().ok()?));
        if let Some(pid) = pid {
            let _gone = kill_process_group(pid, Signal::KILL);
        }
    }
}

async fn all(stream: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    if let Some(stream) = stream {
        let mut limited = stream.take(MAX_STDOUT as u64 + 1);
        limited.read_to_end(&mut data).await?;
    }
    if data.len() > MAX_STDOUT {
        return Err(io::Error::other("more output than is read"));
    }
    Ok(data)
}

async fn tail(stream: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut data = Vec::new();
    if let Some(mut stream) = stream {
        let mut buffer = vec![0; 8 << 10];
        loop {
            let n = stream.read(&mut buffer).await?;
            if n == 0 {
                break;
            }
            data.extend_from_slice(&buffer[..n]);
            if data.len() > 2 * MAX_STDERR {
                data.drain(..data.len() - MAX_STDERR);
            }
        }
    }
    Ok(data)
}

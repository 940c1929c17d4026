//! The server core of all stand-ins: a loopback port, a thread with a runtime of its own, a log,
//! faults, and the final check. What is served is the router that the stand-in brings along.

mod gate;
mod line;

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use tokio::sync::oneshot;

use gate::Shared;
pub use gate::Unexpected;
use line::{LineHandle, Wire};

use crate::error::TestbedError;
use crate::faults::Faults;
use crate::request_log::RequestLog;

/// A running stand-in: it serves until it is dropped.
///
/// It runs on a thread of its own with a current-thread runtime: handlers must not block (use
/// `tokio::task::spawn_blocking` or `tokio::process`). Routes that the router does not have, and
/// methods that a route does not have, are answered with 404 and count as unexpected, as do
/// answers that carry [`Unexpected`].
pub struct StandIn {
    name: &'static str,
    base_url: String,
    address: SocketAddr,
    shared: Arc<Shared>,
    connections: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Binds a free loopback port and serves the router that `router` builds, which is given the
    /// base URL (`http://127.0.0.1:PORT`, no slash at the end).
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port or thread can be had.
    pub fn start(
        name: &'static str,
        router: impl FnOnce(&str) -> Router,
    ) -> Result<Self, TestbedError> {
        let failed = |source| TestbedError::Listen {
            service: name,
            source,
        };
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let base_url = format!("http://{address}");

        let shared = Arc::new(Shared::default());
        let connections = Arc::new(AtomicU64::new(0));
        let app = router(&base_url)
            .fallback(gate::unknown_route)
            .method_not_allowed_fallback(gate::unknown_route)
            .layer(DefaultBodyLimit::disable())
            .layer(from_fn_with_state(Arc::clone(&shared), gate::pass))
            .into_make_service_with_connect_info::<LineHandle>();

        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(failed)?;
        let wire = {
            let _inside = runtime.enter();
            let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
            Wire {
                listener,
                connections: Arc::clone(&connections),
            }
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new()
            .name(format!("stand-in {name}"))
            .spawn(move || {
                runtime.block_on(async move {
                    tokio::select! {
                        _ = axum::serve(wire, app) => {}
                        _ = stopped => {}
                    }
                });
                // Blocking deeds that are still under way must not hold up the test.
                runtime.shutdown_background();
            })
            .map_err(failed)?;
        let (stop, thread) = (Some(stop), Some(thread));
        Ok(Self {
            name,
            base_url,
            address,
            shared,
            connections,
            stop,
            thread,
        })
    }

    /// The stand-in's name, as it appears in messages.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The base URL joined with a path that starts with a slash.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked.
    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }

    /// Its faults.
    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// How many connections it has accepted: reused ones count once.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// The final check: nothing was asked that nobody expected.
    ///
    /// # Errors
    /// [`TestbedError::Unexpected`] lists what was.
    pub fn check(&self) -> Result<(), TestbedError> {
        let requests = self.log().unexpected();
        if requests.is_empty() {
            return Ok(());
        }
        Err(TestbedError::Unexpected {
            service: self.name,
            requests,
        })
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StandIn")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A loopback port that is taken but not listened on: connections to it are refused for as long
/// as this lives.
#[derive(Debug)]
pub struct ClosedPort {
    base_url: String,
    _socket: tokio::net::TcpSocket,
}

impl ClosedPort {
    /// Takes a free port.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port can be had.
    pub fn take() -> Result<Self, TestbedError> {
        let taken = || -> io::Result<Self> {
            let socket = tokio::net::TcpSocket::new_v4()?;
            socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
            let base_url = format!("http://{}", socket.local_addr()?);
            Ok(Self {
                base_url,
                _socket: socket,
            })
        };
        taken().map_err(|source| TestbedError::Listen {
            service: "closed port",
            source,
        })
    }

    /// `http://127.0.0.1:PORT`, where nobody listens.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

#[cfg(test)]
mod tests;

//! A server on loopback that keeps a list of what it was asked and answers by a function.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// One request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Method and target (`GET /x?y`).
    pub(crate) line: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

pub(crate) enum Reply {
    Answer(u16, Vec<(String, String)>, Vec<u8>),
    /// These bytes, and then the connection is closed.
    Raw(Vec<u8>),
    /// These bytes, and then nothing while the line stays open.
    Hang(Vec<u8>),
    /// These bytes one by one, with a pause before each.
    Drip(Vec<u8>, Duration),
    Late(Duration, Box<Reply>),
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), Vec::new())
    }

    pub(crate) fn text(body: &str) -> Self {
        Self::Answer(200, Vec::new(), body.as_bytes().to_vec())
    }

    pub(crate) fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).with("location", location)
    }

    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        match self {
            Self::Answer(status, mut headers, body) => {
                headers.push((name.to_owned(), value.to_owned()));
                Self::Answer(status, headers, body)
            }
            other => other,
        }
    }
}

type Handler = dyn Fn(&Asked, usize) -> Reply + Send + Sync;

#[derive(Clone)]
pub(crate) struct Server {
    /// `http://127.0.0.1:PORT`, or `https://localhost:PORT`.
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
    busy: Arc<AtomicUsize>,
    peak: Arc<AtomicUsize>,
}

impl Server {
    /// Answers by a function of the request and its number, counted from 0.
    pub(crate) async fn start(
        handler: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::listen(None, Arc::new(handler)).await
    }

    /// As `start`, over TLS with a certificate from the fixtures.
    pub(crate) async fn start_tls(
        certificate: &str,
        handler: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let chain =
            CertificateDer::from_pem_file(crate::fixture_path(&format!("{certificate}.pem")));
        let key =
            PrivateKeyDer::from_pem_file(crate::fixture_path(&format!("{certificate}.key.pem")));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![chain.unwrap()], key.unwrap())
            .unwrap();
        Self::listen(Some(TlsAcceptor::from(Arc::new(config))), Arc::new(handler)).await
    }

    async fn listen(tls: Option<TlsAcceptor>, handler: Arc<Handler>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self {
            url: match tls {
                Some(_) => format!("https://localhost:{port}"),
                None => format!("http://127.0.0.1:{port}"),
            },
            asked: Arc::default(),
            connections: Arc::default(),
            busy: Arc::default(),
            peak: Arc::default(),
        };
        let this = server.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                this.connections.fetch_add(1, Ordering::SeqCst);
                let (this, handler, tls) = (this.clone(), Arc::clone(&handler), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => this.serve(socket, &*handler).await,
                        Some(tls) => {
                            if let Ok(socket) = tls.accept(socket).await {
                                this.serve(socket, &*handler).await;
                            }
                        }
                    }
                });
            }
        });
        server
    }

    /// What was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The lines of what was asked so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The most requests that were under way at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::SeqCst)
    }

    pub(crate) fn at(&self, path: &str) -> http_client::Url {
        crate::url(&format!("{}{path}", self.url))
    }

    async fn serve(&self, mut socket: impl AsyncRead + AsyncWrite + Unpin, handler: &Handler) {
        let mut buffer = Vec::new();
        while let Some(asked) = read_request(&mut socket, &mut buffer).await {
            let reply = {
                let mut list = self.asked.lock().unwrap();
                list.push(asked.clone());
                handler(&asked, list.len() - 1)
            };
            let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
            self.peak.fetch_max(busy, Ordering::SeqCst);
            let goes_on = write_reply(&mut socket, reply).await;
            self.busy.fetch_sub(1, Ordering::SeqCst);
            if !goes_on {
                return;
            }
        }
    }
}

async fn read_request(
    socket: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> Option<Asked> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(buffer[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while buffer.len() < end + 4 + length {
        if socket.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let body = buffer[end + 4..end + 4 + length].to_vec();
    buffer.drain(..end + 4 + length);
    Some(Asked {
        line,
        headers,
        body,
    })
}

/// Whether the connection can take another request.
async fn write_reply(socket: &mut (impl AsyncWrite + Unpin), reply: Reply) -> bool {
    let reply = match reply {
        Reply::Late(pause, reply) => {
            tokio::time::sleep(pause).await;
            *reply
        }
        reply => reply,
    };
    match reply {
        Reply::Answer(status, headers, body) => {
            let mut head = format!("HTTP/1.1 {status} Status\r\n");
            for (name, value) in headers {
                let _ = write!(head, "{name}: {value}\r\n");
            }
            if status != 204 && status != 304 {
                let _ = write!(head, "content-length: {}\r\n", body.len());
            }
            head.push_str("\r\n");
            socket
                .write_all(&[head.into_bytes(), body].concat())
                .await
                .is_ok()
        }
        Reply::Raw(bytes) => {
            let _ = socket.write_all(&bytes).await;
            let _ = socket.shutdown().await;
            false
        }
        Reply::Hang(bytes) => {
            let _ = socket.write_all(&bytes).await;
            std::future::pending().await
        }
        Reply::Drip(bytes, pause) => {
            for byte in bytes {
                if socket.write_all(&[byte]).await.is_err() {
                    return false;
                }
                tokio::time::sleep(pause).await;
            }
            false
        }
        Reply::Late(..) => panic!("one pause is enough"),
    }
}

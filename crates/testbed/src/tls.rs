//! TLS in front of a stand-in, with certificates of a private authority: what a self-managed
//! instance in a company looks like to somebody outside. A line is taken apart here and its plain
//! bytes go to the stand-in behind; a reset there ends the line here without a farewell.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use crate::TestbedError;

/// A certificate authority that nobody knows until its certificate is handed out.
pub struct PrivateCa {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl PrivateCa {
    /// Makes one with a fresh key.
    ///
    /// # Errors
    /// [`TestbedError::Deeds`] when the key or the certificate cannot be made.
    pub fn new() -> Result<Self, TestbedError> {
        let made = || {
            let mut params = CertificateParams::new(Vec::new())?;
            params
                .distinguished_name
                .push(rcgen::DnType::CommonName, "Stand-in Root");
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
            CertifiedIssuer::self_signed(params, KeyPair::generate()?)
        };
        made()
            .map(|issuer| Self { issuer })
            .map_err(|error| failed("authority", &error))
    }

    /// Its certificate as PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Writes its certificate to `ca.pem` in a directory: what `SSL_CERT_FILE` names.
    ///
    /// # Errors
    /// [`TestbedError::Scratch`] when the file cannot be written.
    pub fn write_to(&self, directory: &Path) -> Result<PathBuf, TestbedError> {
        let path = directory.join("ca.pem");
        std::fs::write(&path, self.pem()).map_err(|source| TestbedError::Scratch {
            path: path.display().to_string(),
            source,
        })?;
        Ok(path)
    }

    /// A server's configuration with a certificate for these names and addresses.
    fn server(&self, names: &[&str]) -> Result<ServerConfig, TestbedError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let signed = || {
            let mut params = CertificateParams::new(names)?;
            params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ServerAuth];
            let key = KeyPair::generate()?;
            Ok((params.signed_by(&key, &self.issuer)?, key))
        };
        let (certificate, key) =
            signed().map_err(|error: rcgen::Error| failed("certificate", &error))?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        builder
            .and_then(|builder| {
                builder
                    .with_no_client_auth()
                    .with_single_cert(vec![certificate.der().clone()], key)
            })
            .map_err(|error| failed("server", &error))
    }
}

impl std::fmt::Debug for PrivateCa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateCa")
    }
}

/// A port that speaks TLS and hands what it hears to another one; it serves until it is dropped.
#[derive(Debug)]
pub struct TlsFront {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TlsFront {
    /// Starts one in front of a loopback address, with a certificate for `127.0.0.1` and
    /// `localhost`.
    ///
    /// # Errors
    /// [`TestbedError::Listen`] when no port or thread can be had, [`TestbedError::Deeds`] when the
    /// certificate cannot be made.
    pub fn start(ca: &PrivateCa, behind: SocketAddr) -> Result<Self, TestbedError> {
        let config = ca.server(&["127.0.0.1", "localhost"])?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listen = |source| TestbedError::Listen {
            service: "TLS front",
            source,
        };
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(listen)?;
        let (stop, stopped) = oneshot::channel();
        let serve = async move {
            let Ok(listener) = TcpListener::from_std(listener) else {
                return;
            };
            while let Ok((line, _)) = listener.accept().await {
                tokio::spawn(carry(acceptor.clone(), line, behind));
            }
        };
        let thread = std::thread::Builder::new()
            .name("stand-in TLS front".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    tokio::select! {
                        () = serve => {}
                        _ = stopped => {}
                    }
                });
                runtime.shutdown_background();
            })
            .map_err(listen)?;
        Ok(Self {
            address,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// `https://127.0.0.1:PORT`, without a slash at the end.
    pub fn base_url(&self) -> String {
        format!("https://{}", self.address)
    }
}

impl Drop for TlsFront {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Carries one line; whatever goes wrong with it ends it.
async fn carry(acceptor: TlsAcceptor, line: TcpStream, behind: SocketAddr) {
    let _ = line.set_nodelay(true);
    let Ok(mut outer) = acceptor.accept(line).await else {
        return;
    };
    let Ok(mut inner) = TcpStream::connect(behind).await else {
        return;
    };
    let _ = inner.set_nodelay(true);
    let _ = tokio::io::copy_bidirectional(&mut outer, &mut inner).await;
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> TestbedError {
    TestbedError::Deeds {
        failures: vec![format!("TLS {what}: {error}")],
    }
}

//! TLS: which certificate authorities are trusted, loaded when the first certificate has to be
//! judged and not before. A run that only speaks to loopback never reads the store.
//!
//! Trusted are those of the system and, on top, those of `SSL_CERT_FILE` and `SSL_CERT_DIR`, so
//! that a company's own authority does not shut out the public ones.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::crypto;
use crate::policy::NetworkEnv;

/// Bundles of the systems, the first that exists counts: Debian and Alpine, Fedora and RHEL,
/// SUSE, older RHEL, BSD.
const SYSTEM_FILES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];
/// Folders of single certificates, for a system without a bundle.
const SYSTEM_DIRS: [&str; 2] = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

/// The TLS side of all connections.
pub(crate) fn config(env: &NetworkEnv) -> Result<ClientConfig, String> {
    let provider = Arc::new(crypto::provider());
    let verifier = Arc::new(LazyVerifier {
        cert_file: env.cert_file.clone(),
        cert_dirs: env.cert_dirs.clone(),
        provider: Arc::clone(&provider),
        store: OnceLock::new(),
    });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Verifies as rustls does, with a store that is read on first use.
#[derive(Debug)]
struct LazyVerifier {
    cert_file: Option<PathBuf>,
    cert_dirs: Vec<PathBuf>,
    provider: Arc<CryptoProvider>,
    store: OnceLock<Result<Store, String>>,
}

#[derive(Debug)]
struct Store {
    roots: RootCertStore,
    /// Certificates that `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
    own: Vec<CertificateDer<'static>>,
    /// What could not be read, for the error that follows from it.
    complaints: String,
}

impl LazyVerifier {
    fn store(&self) -> Result<&Store, Error> {
        self.store
            .get_or_init(|| self.load())
            .as_ref()
            .map_err(|complaint| Error::General(complaint.clone()))
    }

    fn load(&self) -> Result<Store, String> {
        let mut complaints = String::new();
        let mut own = Vec::new();
        if let Some(file) = &self.cert_file
            && let Err(error) = read_file(file, &mut own)
        {
            let _ = write!(complaints, "; SSL_CERT_FILE {}: {error}", file.display());
        }
        for dir in &self.cert_dirs {
            if let Err(error) = read_dir(dir, &mut own) {
                let _ = write!(complaints, "; SSL_CERT_DIR {}: {error}", dir.display());
            }
        }
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(own.iter().cloned());
        roots.add_parsable_certificates(system_certificates());
        if roots.is_empty() {
            return Err(format!(
                "no certificate authorities were found on this system{complaints}; install its package of CA certificates"
            ));
        }
        Ok(Store {
            roots,
            own,
            complaints,
        })
    }
}

impl ServerCertVerifier for LazyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let store = self.store()?;
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let signed = verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &store.roots,
            intermediates,
            now,
            self.provider.signature_verification_algorithms.all,
        );
        match signed.and_then(|()| verify_server_name(&certificate, server_name)) {
            // A self-signed certificate that is its own authority, as `openssl req -x509` makes
            // them for an instance of one's own: named in SSL_CERT_FILE, it is trusted as such.
            Err(error)
                if format!("{error:?}").contains("CaUsedAsEndEntity")
                    && store
                        .own
                        .iter()
                        .any(|own| own.as_ref() == end_entity.as_ref()) =>
            {
                verify_server_name(&certificate, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(error) if !store.complaints.is_empty() => {
                Err(Error::General(format!("{error}{}", store.complaints)))
            }
            Err(error) => Err(error),
            Ok(()) => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

fn system_certificates() -> Vec<CertificateDer<'static>> {
    let mut found = Vec::new();
    for file in SYSTEM_FILES {
        if read_file(Path::new(file), &mut found).is_ok() && !found.is_empty() {
            return found;
        }
    }
    for dir in SYSTEM_DIRS {
        if read_dir(Path::new(dir), &mut found).is_ok() && !found.is_empty() {
            return found;
        }
    }
    found
}

/// Adds the certificates of one PEM file; a part that is none is passed over.
fn read_file(path: &Path, into: &mut Vec<CertificateDer<'static>>) -> Result<(), String> {
    let before = into.len();
    let parts = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    into.extend(parts.filter_map(Result::ok));
    if into.len() == before {
        return Err("no certificate in it".to_owned());
    }
    Ok(())
}

fn read_dir(path: &Path, into: &mut Vec<CertificateDer<'static>>) -> Result<(), String> {
    let entries = std::fs::read_dir(path).map_err(|error| error.to_string())?;
    for entry in entries.filter_map(Result::ok) {
        // Other things may lie in there; what is no certificate adds nothing.
        let _ = read_file(&entry.path(), into);
    }
    Ok(())
}

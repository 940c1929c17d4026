//! What TLS computes with: ring, save for the curve P-256. Ring carries a table of 150 KB for that
//! curve, which does not compress and is a seventh of what an archive may weigh; the crate `p256`
//! works without one. Both are checked against each other in the tests. Nobody here has a key of
//! their own, so there is nothing that signs.

mod p256;
mod x25519;

use std::sync::Arc;

use rustls::crypto::ring::{ALL_CIPHER_SUITES, kx_group};
use rustls::crypto::{
    CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, WebPkiSupportedAlgorithms,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{Error, SignatureScheme};
use webpki::ring as with_ring;

/// The provider of all connections.
pub(crate) fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: ALL_CIPHER_SUITES.to_vec(),
        kx_groups: vec![
            x25519::KEY_EXCHANGE,
            p256::KEY_EXCHANGE,
            kx_group::SECP384R1,
        ],
        signature_verification_algorithms: ALGORITHMS,
        secure_random: &Basis,
        key_provider: &Basis,
    }
}

/// Signatures that are accepted: those that rustls accepts with ring.
static ALGORITHMS: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[
        p256::ECDSA_SHA256,
        p256::ECDSA_SHA384,
        with_ring::ECDSA_P384_SHA256,
        with_ring::ECDSA_P384_SHA384,
        with_ring::ED25519,
        with_ring::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
        with_ring::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
        with_ring::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
        with_ring::RSA_PKCS1_2048_8192_SHA256,
        with_ring::RSA_PKCS1_2048_8192_SHA384,
        with_ring::RSA_PKCS1_2048_8192_SHA512,
        with_ring::RSA_PKCS1_2048_8192_SHA256_ABSENT_PARAMS,
        with_ring::RSA_PKCS1_2048_8192_SHA384_ABSENT_PARAMS,
        with_ring::RSA_PKCS1_2048_8192_SHA512_ABSENT_PARAMS,
    ],
    // TLS 1.3 takes the first of each; TLS 1.2 does not tie the hash to a curve.
    mapping: &[
        (
            SignatureScheme::ECDSA_NISTP384_SHA384,
            &[with_ring::ECDSA_P384_SHA384, p256::ECDSA_SHA384],
        ),
        (
            SignatureScheme::ECDSA_NISTP256_SHA256,
            &[p256::ECDSA_SHA256, with_ring::ECDSA_P384_SHA256],
        ),
        (SignatureScheme::ED25519, &[with_ring::ED25519]),
        (
            SignatureScheme::RSA_PSS_SHA512,
            &[with_ring::RSA_PSS_2048_8192_SHA512_LEGACY_KEY],
        ),
        (
            SignatureScheme::RSA_PSS_SHA384,
            &[with_ring::RSA_PSS_2048_8192_SHA384_LEGACY_KEY],
        ),
        (
            SignatureScheme::RSA_PSS_SHA256,
            &[with_ring::RSA_PSS_2048_8192_SHA256_LEGACY_KEY],
        ),
        (
            SignatureScheme::RSA_PKCS1_SHA512,
            &[with_ring::RSA_PKCS1_2048_8192_SHA512],
        ),
        (
            SignatureScheme::RSA_PKCS1_SHA384,
            &[with_ring::RSA_PKCS1_2048_8192_SHA384],
        ),
        (
            SignatureScheme::RSA_PKCS1_SHA256,
            &[with_ring::RSA_PKCS1_2048_8192_SHA256],
        ),
    ],
};

/// Randomness, and the absence of keys.
#[derive(Debug)]
struct Basis;

impl SecureRandom for Basis {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), GetRandomFailed> {
        use ring::rand::SecureRandom as _;
        ring::rand::SystemRandom::new()
            .fill(buffer)
            .map_err(|_| GetRandomFailed)
    }
}

impl KeyProvider for Basis {
    fn load_private_key(&self, _: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Err(Error::General(
            "client certificates are not used".to_owned(),
        ))
    }
}

#[cfg(test)]
mod tests;

//! The curve P-256 for TLS: key exchange (RFC 8446, section 4.2.8.2) and ECDSA (RFC 5480) on top
//! of the crate `p256`. Points are taken uncompressed only, as both protocols and ring have it.

use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use p256::ecdsa::{DerSignature, VerifyingKey};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p256::{PublicKey, SecretKey};
use rustls::crypto::{ActiveKeyExchange, GetRandomFailed, SharedSecret, SupportedKxGroup};
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};
use rustls::{Error, NamedGroup, PeerMisbehaved};

/// First byte of an uncompressed point.
const UNCOMPRESSED: u8 = 4;
/// A random number is no key of this curve about once in 2^32; that it happens twice is a broken
/// source of randomness.
const KEY_ATTEMPTS: usize = 4;

/// ECDHE over P-256.
pub(super) static KEY_EXCHANGE: &dyn SupportedKxGroup = &Group;
/// ECDSA over P-256 with SHA-256.
pub(super) static ECDSA_SHA256: &dyn SignatureVerificationAlgorithm = &Ecdsa {
    signature: alg_id::ECDSA_SHA256,
    digest: &ring::digest::SHA256,
};
/// ECDSA over P-256 with SHA-384.
pub(super) static ECDSA_SHA384: &dyn SignatureVerificationAlgorithm = &Ecdsa {
    signature: alg_id::ECDSA_SHA384,
    digest: &ring::digest::SHA384,
};

#[derive(Debug)]
struct Group;

impl SupportedKxGroup for Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let secret = secret_key()?;
        let public = secret.public_key().to_sec1_point(false);
        Ok(Box::new(Exchange {
            secret,
            public: public.as_bytes().to_vec(),
        }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::secp256r1
    }
}

fn secret_key() -> Result<SecretKey, GetRandomFailed> {
    use ring::rand::SecureRandom as _;
    let random = ring::rand::SystemRandom::new();
    for _ in 0..KEY_ATTEMPTS {
        let mut bytes = zeroize::Zeroizing::new([0; 32]);
        random.fill(&mut *bytes).map_err(|_| GetRandomFailed)?;
        if let Ok(key) = SecretKey::from_slice(&*bytes) {
            return Ok(key);
        }
    }
    Err(GetRandomFailed)
}

struct Exchange {
    secret: SecretKey,
    public: Vec<u8>,
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = point(peer).ok_or(PeerMisbehaved::InvalidKeyShare)?;
        let shared = self.secret.diffie_hellman(&peer);
        Ok(SharedSecret::from(shared.raw_secret_bytes().as_slice()))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::secp256r1
    }
}

/// A point of the curve that is not its neutral element.
fn point(bytes: &[u8]) -> Option<PublicKey> {
    let uncompressed = bytes.first() == Some(&UNCOMPRESSED);
    PublicKey::from_sec1_bytes(bytes)
        .ok()
        .filter(|_| uncompressed)
}

#[derive(Debug)]
struct Ecdsa {
    signature: AlgorithmIdentifier,
    digest: &'static ring::digest::Algorithm,
}

impl SignatureVerificationAlgorithm for Ecdsa {
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P256
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.signature
    }

    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from(point(public_key).ok_or(InvalidSignature)?);
        let signature = DerSignature::try_from(signature).map_err(|_| InvalidSignature)?;
        let digest = ring::digest::digest(self.digest, message);
        key.verify_prehash(digest.as_ref(), &signature)
            .map_err(|_| InvalidSignature)
    }
}

//! The curves are held to ring: what one makes, the other has to take, and neither may take what
//! the other refuses. Whole handshakes are in the tests of the policy.

use super::{p256, provider, with_ring, x25519};
use crate::policy::NetworkEnv;
use rustls::crypto::ring::{default_provider, kx_group};
use rustls::crypto::{SharedSecret, SupportedKxGroup};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, SignatureVerificationAlgorithm};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConnection, NamedGroup, ServerConfig, ServerConnection};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};

use ::p256::ecdsa::signature::hazmat::PrehashSigner as _;
use ::p256::ecdsa::{Signature, SigningKey};

const ROUNDS: u8 = 20;

fn shared(secret: &SharedSecret) -> Vec<u8> {
    secret.secret_bytes().to_vec()
}

#[test]
fn nothing_is_offered_less_than_with_ring_alone() {
    let (ours, rings) = (provider(), default_provider());
    assert_eq!(ours.cipher_suites, rings.cipher_suites);
    let names = |groups: &[&dyn SupportedKxGroup]| -> Vec<_> {
        groups.iter().map(|group| group.name()).collect()
    };
    assert_eq!(names(&ours.kx_groups), names(&rings.kx_groups));
    let (ours, rings) = (
        ours.signature_verification_algorithms,
        rings.signature_verification_algorithms,
    );
    assert_eq!(ours.supported_schemes(), rings.supported_schemes());
    let ids = |algorithms: &[&dyn SignatureVerificationAlgorithm]| -> Vec<_> {
        algorithms
            .iter()
            .map(|algorithm| (algorithm.public_key_alg_id(), algorithm.signature_alg_id()))
            .collect()
    };
    assert_eq!(ids(ours.all), ids(rings.all));
    for ((scheme, ours), (other, rings)) in ours.mapping.iter().zip(rings.mapping) {
        assert_eq!((scheme, ids(ours)), (other, ids(rings)));
    }
}

#[test]
fn both_sides_of_an_exchange_agree_whoever_computes_them() {
    for (ours, rings) in [
        (x25519::KEY_EXCHANGE, kx_group::X25519),
        (p256::KEY_EXCHANGE, kx_group::SECP256R1),
    ] {
        for _ in 0..ROUNDS {
            let (here, there) = (ours.start().unwrap(), rings.start().unwrap());
            let (public_here, public_there) = (here.pub_key().to_vec(), there.pub_key().to_vec());
            assert_eq!(public_here.len(), public_there.len());
            let here = here.complete(&public_there).unwrap();
            let there = there.complete(&public_here).unwrap();
            assert_eq!(shared(&here), shared(&there));
        }
    }
}

/// What a peer may not send: neither we nor ring take it.
fn refused_by_both(ours: &dyn SupportedKxGroup, rings: &dyn SupportedKxGroup, share: &[u8]) {
    assert!(rings.start().unwrap().complete(share).is_err(), "{share:?}");
    assert!(ours.start().unwrap().complete(share).is_err(), "{share:?}");
}

#[test]
fn shares_of_the_wrong_shape_or_off_the_curve_are_refused() {
    let (ours, rings) = (p256::KEY_EXCHANGE, kx_group::SECP256R1);
    let good = rings.start().unwrap().pub_key().to_vec();
    let compressed = [&[2 + (good[64] & 1)], &good[1..33]].concat();
    let mut off = good.clone();
    off[64] ^= 1;
    let mut hybrid = good.clone();
    hybrid[0] = 6;
    // The field's prime itself in place of a coordinate.
    let prime = [
        "ffffffff00000001",
        "0000000000000000",
        "00000000ffffffff",
        "ffffffffffffffff",
    ];
    let prime: Vec<u8> = prime
        .iter()
        .flat_map(|part| u64::from_str_radix(part, 16).unwrap().to_be_bytes())
        .collect();
    let too_large = [&[4], prime.as_slice(), &[0; 32]].concat();
    let shares: [&[u8]; 9] = [
        &[],
        &[0],
        &[4],
        &[4; 64],
        &good[..64],
        &compressed,
        &off,
        &hybrid,
        &too_large,
    ];
    for share in shares {
        refused_by_both(ours, rings, share);
    }
    refused_by_both(ours, rings, &[good.as_slice(), &[0]].concat());
    refused_by_both(ours, rings, &[&[4], [0; 64].as_slice()].concat());
}

#[test]
fn shares_of_small_order_are_refused() {
    let mut one = [0; 32];
    one[0] = 1;
    // The points of order 8 (RFC 7748, section 7, names the list of them).
    let eight = [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ];
    for share in [&[0; 32], &one, &eight] {
        refused_by_both(x25519::KEY_EXCHANGE, kx_group::X25519, share);
    }
    for length in [0, 31, 33] {
        refused_by_both(x25519::KEY_EXCHANGE, kx_group::X25519, &vec![9; length]);
    }
}

struct Signed {
    key: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
}

/// Signs a message with a key of this number.
fn signed(number: u8, digest: &'static ring::digest::Algorithm) -> Signed {
    let mut secret = [number; 32];
    secret[31] = 1;
    let key = SigningKey::from_slice(&secret).unwrap();
    let message = vec![number; usize::from(number)];
    let digest = ring::digest::digest(digest, &message);
    let signature: Signature = key.sign_prehash(digest.as_ref()).unwrap();
    Signed {
        key: key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
        message,
        signature: signature.to_der().as_bytes().to_vec(),
    }
}

#[test]
fn signatures_are_judged_as_ring_judges_them() {
    for (ours, rings, digest) in [
        (
            p256::ECDSA_SHA256,
            with_ring::ECDSA_P256_SHA256,
            &ring::digest::SHA256,
        ),
        (
            p256::ECDSA_SHA384,
            with_ring::ECDSA_P256_SHA384,
            &ring::digest::SHA384,
        ),
    ] {
        let same = |case: &str, key: &[u8], message: &[u8], signature: &[u8]| {
            let verdict = ours.verify_signature(key, message, signature).is_ok();
            let expected = rings.verify_signature(key, message, signature).is_ok();
            assert_eq!(verdict, expected, "{case}");
            verdict
        };
        for number in 1..5 {
            let Signed {
                key,
                message,
                signature,
            } = signed(number, digest);
            assert!(same("as signed", &key, &message, &signature));
            assert!(!same("other message", &key, b"other", &signature));
            let other = signed(number + 1, digest);
            assert!(!same("other key", &other.key, &message, &signature));
            for place in 0..signature.len() {
                let mut signature = signature.clone();
                signature[place] ^= 1 << (place % 8);
                assert!(!same("damaged signature", &key, &message, &signature));
            }
            let compressed = [&[2 + (key[64] & 1)], &key[1..33]].concat();
            assert!(!same("compressed key", &compressed, &message, &signature));
            let longer = [signature.as_slice(), &[0]].concat();
            assert!(!same("more after the signature", &key, &message, &longer));
            assert!(!same("half a signature", &key, &message, &signature[..20]));
        }
        let Signed { key, message, .. } = signed(3, digest);
        let zeros = [0x30, 6, 2, 1, 0, 2, 1, 0];
        assert!(!same("zeros", &key, &message, &zeros));
        assert!(!same("nothing", &key, &message, &[]));
        assert!(!same("no key", &[], &message, &zeros));
    }
}

#[test]
fn a_signature_of_rings_own_is_taken() {
    use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
    let random = ring::rand::SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let key = EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap();
    for round in 0..ROUNDS {
        let message = [round; 100];
        let signature = key.sign(&random, &message).unwrap();
        let public = key.public_key().as_ref();
        p256::ECDSA_SHA256
            .verify_signature(public, &message, signature.as_ref())
            .unwrap();
    }
}

/// A handshake of our configuration with a server that rustls and ring make of what is given.
/// Tells the group that the keys came from.
fn handshake(
    version: &'static SupportedProtocolVersion,
    suite: SupportedCipherSuite,
    group: &'static dyn SupportedKxGroup,
) -> Option<NamedGroup> {
    let network = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/network");
    let mut server = default_provider();
    server.kx_groups = vec![group];
    server.cipher_suites = vec![suite];
    let chain = CertificateDer::from_pem_file(format!("{network}/company-server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{network}/company-server.key.pem")).unwrap();
    let server = ServerConfig::builder_with_provider(server.into())
        .with_protocol_versions(&[version])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let mut server = ServerConnection::new(server.into()).unwrap();
    let env = NetworkEnv::from_lookup(|name| {
        (name == "SSL_CERT_FILE").then(|| format!("{network}/company-root.pem"))
    });
    let client = crate::tls::config(&env).unwrap();
    let name = "localhost".try_into().unwrap();
    let mut client = ClientConnection::new(client.into(), name).unwrap();
    while client.is_handshaking() || server.is_handshaking() {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).unwrap();
        server.read_tls(&mut wire.as_slice()).unwrap();
        server.process_new_packets().unwrap();
        let mut wire = Vec::new();
        server.write_tls(&mut wire).unwrap();
        client.read_tls(&mut wire.as_slice()).unwrap();
        client.process_new_packets().unwrap();
    }
    assert_eq!(client.protocol_version(), Some(version.version));
    let group = client.negotiated_key_exchange_group();
    group.map(SupportedKxGroup::name)
}

#[test]
fn every_suite_and_every_group_ends_in_a_connection() {
    for group in default_provider().kx_groups {
        for suite in default_provider().cipher_suites {
            let version = match suite {
                SupportedCipherSuite::Tls12(_) => &TLS12,
                SupportedCipherSuite::Tls13(_) => &TLS13,
            };
            // The server's key is one of P-256, so suites with RSA are none of its.
            if format!("{suite:?}").contains("_RSA_") {
                continue;
            }
            assert_eq!(handshake(version, suite, group), Some(group.name()));
        }
    }
}

#[test]
fn nobody_here_has_a_key() {
    let key = include_bytes!("../../../../fixtures/network/company-server.key.pem");
    let key = rustls::pki_types::pem::PemObject::from_pem_slice(key).unwrap();
    assert!(provider().key_provider.load_private_key(key).is_err());
}

use super::*;

#[test]
fn addresses_of_the_world_are_public() {
    for ip in [
        "1.1.1.1",
        "100.128.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "2606:4700::1111",
        "64:ff9b::808:808",
    ] {
        assert!(is_public(ip.parse().unwrap()), "{ip}");
    }
}

#[tokio::test]
async fn a_name_of_this_machine_is_not_resolved() {
    let resolver = PublicOnly {
        proxy_hosts: vec!["Localhost".to_owned()],
    };
    assert!(
        resolver.resolve("localhost".parse().unwrap()).await.is_ok(),
        "a proxy may be local"
    );
    let resolver = PublicOnly {
        proxy_hosts: Vec::new(),
    };
    let error = resolver
        .resolve("localhost".parse().unwrap())
        .await
        .err()
        .unwrap();
    assert!(error.is::<PrivateAddress>());
    assert!(resolves_to_private(&Url::parse("http://localhost/").unwrap()).await);
}

//! Archives at an address of their own, which the service fetches for each run.

use crate::bench::{Bench, packed, unpacked};
use serde_json::{Value, json};
use testbed::faults::Fault;
use testbed::tls::{PrivateCa, TlsFront};

/// A place that serves one archive.
struct Shelf {
    bench: Bench,
    front: TlsFront,
    authority: std::path::PathBuf,
}

impl Shelf {
    fn with(archive: &[u8]) -> Self {
        let bench = Bench::new();
        let ca = PrivateCa::new().unwrap();
        let authority = ca.write_to(bench.folder.path()).unwrap();
        let front = TlsFront::start(&ca, bench.service.server().address()).unwrap();
        let served = Fault::status(200).body("application/gzip", archive);
        bench
            .service
            .server()
            .faults()
            .add(served.on("GET", "/files/").always());
        Self {
            bench,
            front,
            authority,
        }
    }

    fn deploy(&self, arguments: &[&str]) -> crate::bench::Ended {
        let address = format!("{}/files/news.tar.gz?v=1", self.front.base_url());
        let mut all = vec!["news-digest", "--archive", &address];
        all.extend(arguments);
        let command = self.bench.deploy(&all);
        command.env("SSL_CERT_FILE", &self.authority).run()
    }
}

fn archive(config: &Value) -> Vec<u8> {
    packed(&[
        ("bin/news-digest", b"#!/bin/sh\n".to_vec(), 0o755),
        ("config.json", config.to_string().into_bytes(), 0o644),
    ])
}

#[test]
fn an_archive_at_an_address_is_taken_as_it_is() {
    let config = json!({"feeds": ["http://127.0.0.1:9/feed.xml"]});
    let shelf = Shelf::with(&archive(&config));
    let ended = shelf.deploy(&["--json"]);
    ended.said(0);
    let [made] = shelf.bench.service.automations().try_into().unwrap();
    assert_eq!(
        made["tarball_path"],
        json!(format!("{}/files/news.tar.gz?v=1", shelf.front.base_url()))
    );
    assert_eq!(shelf.bench.service.uploads(), 0);
    assert_eq!(ended.json()["targets"], config["feeds"]);

    let id = made["id"].as_str().unwrap();
    let ended = shelf.deploy(&["--update", id, "--mode", "sandbox"]);
    ended.said(0);
    assert!(
        ended.stderr.contains("has no `time_budget_seconds`"),
        "{ended:?}"
    );
}

#[test]
fn what_is_in_it_is_checked() {
    let shelf = Shelf::with(&archive(&json!({"feeds": "no address"})));
    assert!(shelf.deploy(&[]).refused(2).contains("`feeds` should be"));
    let ended = shelf.deploy(&["--feed", "https://example.org/"]);
    assert!(ended.refused(2).contains("--write-archive"), "{ended:?}");
    let shelf = Shelf::with(&packed(&[("main.py", b"x".to_vec(), 0o644)]));
    assert!(
        shelf
            .deploy(&[])
            .refused(1)
            .contains("is no archive of news-digest")
    );
    let shelf = Shelf::with(&packed(&[("bin/news-digest", b"x".to_vec(), 0o644)]));
    assert!(
        shelf
            .deploy(&[])
            .refused(2)
            .contains("no config.json is in the archive")
    );
    let shelf = Shelf::with(b"<html>");
    assert!(shelf.deploy(&[]).refused(1).contains("not a whole .tar.gz"));
    shelf.bench.is_untouched();
    for (address, code, words) in [
        ("http://127.0.0.1/x.tar.gz", 2, "https:// addresses only"),
        ("https://me:pw@example.com/x", 2, "no user or password"),
        ("https://127.0.0.1:9/x.tar.gz", 1, "cannot be fetched"),
    ] {
        let ended = shelf
            .bench
            .deploy(&["news-digest", "--archive", address])
            .run();
        assert!(ended.refused(code).contains(words), "{ended:?}");
    }
}

#[test]
fn the_archive_for_such_a_place_is_written() {
    let bench = Bench::new();
    let out = bench.folder.path().join("out.tar.gz").display().to_string();
    let more = [
        "--feed",
        "https://example.org/f",
        "--mode",
        "sandbox",
        "--write-archive",
        &out,
    ];
    let command = bench.bring("news-digest", &more);
    let ended = command
        .without("OPENHANDS_HOST")
        .without("OPENHANDS_API_KEY")
        .run();
    assert_eq!(
        bench.plain(ended.said(0)),
        "Wrote FOLDER/out.tar.gz: news-digest with the command line, SIZE bytes\n"
    );
    let written = std::fs::read(&out).unwrap();
    let config: Value = serde_json::from_slice(&unpacked(&written)["config.json"].0).unwrap();
    assert_eq!(
        config,
        json!({"feeds": ["https://example.org/f"], "time_budget_seconds": 1740})
    );
    assert!(bench.service.server().log().is_empty());
    let ended = bench.bring("news-digest", &["--write-archive", &out]).run();
    assert!(ended.refused(2).contains("addresses of feeds"), "{ended:?}");
    let more = [
        "news-digest",
        "--archive",
        "https://example.org/a",
        "--write-archive",
        &out,
    ];
    let ended = bench.deploy(&more).run();
    assert!(ended.refused(2).contains("--archive FILE"), "{ended:?}");
    bench.is_untouched();
}

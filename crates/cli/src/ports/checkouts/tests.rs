//! What comes of an archive in a workspace, in the core's own words.

use super::*;
use github_adapter::{api_base, parse_repo};
use http_client::{Client, Policy, Secret};
use testbed::github::{self, Archive, NewPull, Repository};
use workspace_fs::Area;

const TOKEN: &str = "ghp_0123456789abcdef0123";
/// More than these tests unpack.
const ROOMY: Limits = Limits {
    max_bytes: 1 << 20,
    max_entries: 1000,
};

/// A pull request on GitHub, and a workspace for its head.
struct World {
    github: github::GitHub,
    repo: Repository,
    head: String,
    _folder: tempfile::TempDir,
    roots: WorkspaceRoots,
    dir: String,
}

impl World {
    async fn new() -> Self {
        let github = github::GitHub::start().unwrap();
        github.token(TOKEN, "acme-bot");
        let repo = github.repo("acme/widget");
        let change = [("src/main.rs", "fn main() {}\n"), ("README.md", "Widget\n")];
        let head = repo
            .open_pull(NewPull::titled("One").files(change))
            .head_sha();
        let folder = tempfile::tempdir().unwrap();
        let roots = WorkspaceRoots::new(folder.path(), Area::Repositories).unwrap();
        let workspace = roots.create(&["acme__widget", "pr-1"]).await.unwrap();
        let dir = workspace.path().display().to_string();
        Self {
            github,
            repo,
            head,
            _folder: folder,
            roots,
            dir,
        }
    }

    async fn checkout(&self, limits: Limits) -> Result<CheckoutReport, CheckoutError> {
        let api = api_base(&self.github.api_url()).unwrap();
        let name = parse_repo("acme/widget", &api).unwrap();
        let client = Client::new(Policy::default()).unwrap();
        let forge = GitHub::new(client, api, name, Secret::new(TOKEN.to_owned()));
        let port = CheckoutsPort {
            forge: &forge,
            roots: &self.roots,
            limits,
        };
        port.checkout(&self.head, &self.dir).await
    }

    /// The text of a refusal, after which nothing is left.
    async fn refused(&self, limits: Limits) -> String {
        let error = self.checkout(limits).await.unwrap_err();
        let CheckoutError::Refused(text) = error else {
            panic!("{error:?}");
        };
        assert!(!Path::new(&self.dir).exists());
        text
    }
}

/// An archive with one file at a path.
fn with_file_at(path: &str) -> Archive {
    let packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut builder = tar::Builder::new(packer);
    let mut header = tar::Header::new_ustar();
    // Past the library, which refuses to write such a path.
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_size(0);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append(&header, &[][..]).unwrap();
    Archive::Bytes(builder.into_inner().unwrap().finish().unwrap())
}

#[tokio::test]
async fn a_commit_is_unpacked_into_its_workspace() {
    let world = World::new().await;
    let report = world.checkout(ROOMY).await.unwrap();
    assert_eq!(report.skipped, "");
    let text = std::fs::read_to_string(Path::new(&world.dir).join("README.md")).unwrap();
    assert_eq!(text, "Widget\n");
}

#[tokio::test]
async fn an_archive_over_the_limits_is_refused_with_the_figure() {
    let bytes = Limits {
        max_bytes: 3,
        ..ROOMY
    };
    let text = World::new().await.refused(bytes).await;
    assert!(text.contains("more than 3 bytes"), "{text}");
    let entries = Limits {
        max_entries: 1,
        ..ROOMY
    };
    let text = World::new().await.refused(entries).await;
    assert!(text.contains("more than 1 entries"), "{text}");
}

#[tokio::test]
async fn an_archive_that_nobody_honest_writes_is_refused() {
    let world = World::new().await;
    world
        .repo
        .set_archive(&world.head, with_file_at("root/../../x"));
    world.refused(ROOMY).await;
}

/// None of these says anything against the repository: a later try may go well.
#[tokio::test]
async fn what_may_go_better_another_time_is_no_refusal() {
    let world = World::new().await;
    world
        .repo
        .set_archive(&world.head, Archive::Bytes(b"\x1f\x8b".to_vec()));
    let error = world.checkout(ROOMY).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Failed(_)), "{error:?}");
    // The workspace went with it.
    let error = world.checkout(ROOMY).await.unwrap_err();
    assert_eq!(
        error,
        CheckoutError::Failed(format!("{} is gone", world.dir))
    );

    let world = World::new().await;
    world.repo.set_archive(&world.head, Archive::Missing);
    let error = world.checkout(ROOMY).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Gone(_)), "{error:?}");
    world.github.revoke(TOKEN);
    let error = world.checkout(ROOMY).await.unwrap_err();
    assert!(matches!(error, CheckoutError::Forge(_)), "{error:?}");
}

//! Names of repositories and projects, in every form that people copy them in, and everything that
//! is made of a name: folders, files, keys, addresses.
//!
//! The first line of an input is the name; a second one is the automation's id, a third a commit.

use github_adapter::RepoName;
use gitlab_adapter::ProjectPath;
use lifecycle::document::{ISSUE, NEWS, REVIEW};
use state_store::Slot;
use std::path::{Component, Path};
use workspace_fs::{Area, WorkspaceRoots, issue_parts, review_parts, safe_name, target_folder};

/// The longest name that file systems take, in bytes.
const MAX_NAME: usize = 255;

/// Reads a name and makes of it what is made of names.
///
/// # Panics
/// When a property does not hold.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let (name, id, sha) = (
        lines.next().unwrap_or_default(),
        lines.next(),
        lines.next().unwrap_or_default(),
    );
    read(name);
    passwords(name);
    paths(name, sha);
    locations(name, id);
}

fn read(name: &str) {
    for api in ["https://api.github.com", "https://git.example.com/api/v3"] {
        let Ok(api) = github_adapter::api_base(api) else {
            continue;
        };
        match github_adapter::parse_repo(name, &api) {
            Ok(repo) => {
                check_repo(&repo);
                let again = github_adapter::parse_repo(&repo.to_string(), &api);
                assert_eq!(again.as_ref(), Ok(&repo));
            }
            Err(error) => line(&error.to_string()),
        }
    }
    for api in [
        "https://gitlab.com",
        "https://git.example.com/gitlab",
        "https://[::1]:3000",
    ] {
        let Ok(api) = gitlab_adapter::api_base(api) else {
            continue;
        };
        match gitlab_adapter::parse_project(name, &api) {
            Ok(project) => {
                check_project(&project);
                let again = |spec: &str| gitlab_adapter::parse_project(spec, &api);
                let site = api.as_str().trim_end_matches("/api/v4");
                assert_eq!(again(&format!("{site}/{project}")).as_ref(), Ok(&project));
                // A group that is called like the host is only found in an address.
                let group = project.as_str().split('/').next().unwrap_or_default();
                if !api
                    .host_str()
                    .unwrap_or_default()
                    .eq_ignore_ascii_case(group)
                {
                    assert_eq!(again(project.as_str()).as_ref(), Ok(&project));
                }
            }
            Err(error) => line(&error.to_string()),
        }
    }
    for base in [
        github_adapter::api_base(name).map_err(|error| line(&error.to_string())),
        gitlab_adapter::api_base(name).map_err(|error| line(&error.to_string())),
    ]
    .into_iter()
    .flatten()
    {
        assert!(matches!(base.scheme(), "http" | "https"), "{base}");
        assert!(
            base.username().is_empty() && base.password().is_none(),
            "{base}"
        );
        assert!(
            base.query().is_none() && base.fragment().is_none(),
            "{base}"
        );
    }
}

/// Wherever a password stands before a host, no error repeats it, and nothing is named with it.
fn passwords(name: &str) {
    const PASSWORD: &str = "hunter2hunter2";
    // A long name is read as above, and would be read twenty times here.
    if name.len() > 2000 || name.contains(PASSWORD) {
        return;
    }
    let (Ok(github), Ok(gitlab)) = (
        github_adapter::api_base("https://github.com"),
        gitlab_adapter::api_base("https://gitlab.com"),
    ) else {
        panic!("an address of a forge was refused");
    };
    for spec in [
        format!("oauth2:{PASSWORD}@{name}"),
        format!("htps://oauth2:{PASSWORD}@{name}"),
        format!("https://oauth2:{PASSWORD}@{name}"),
        format!("me@gitlab.com:{PASSWORD}@{name}"),
        format!("{name}://me:{PASSWORD}@gitlab.com/group/project"),
    ] {
        let texts = [
            github_adapter::parse_repo(&spec, &github)
                .map_or_else(|error| error.to_string(), |repo| repo.to_string()),
            gitlab_adapter::parse_project(&spec, &gitlab)
                .map_or_else(|error| error.to_string(), |project| project.to_string()),
            // An address that is taken may have anything in its path.
            github_adapter::api_base(&spec)
                .map_or_else(|error| error.to_string(), |_| String::new()),
            gitlab_adapter::api_base(&spec)
                .map_or_else(|error| error.to_string(), |_| String::new()),
        ];
        for text in texts {
            assert!(!text.contains(PASSWORD), "{spec:?}: {text:?}");
        }
    }
}

/// A repository may stand in an address and in a path as it is.
pub(crate) fn check_repo(repo: &RepoName) {
    for part in [repo.owner(), repo.name()] {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        assert!(!part.is_empty() && part.chars().all(plain), "{repo}");
        assert!(part != "." && part != "..", "{repo}");
    }
}

/// A project stays one segment of an address once it is encoded, and says nothing to a shell or a
/// reader of logs.
pub(crate) fn check_project(project: &ProjectPath) {
    let parts: Vec<&str> = project.as_str().split('/').collect();
    assert!(parts.len() >= 2, "{project}");
    for part in parts {
        assert!(!part.is_empty() && !part.starts_with('-'), "{project}");
        assert!(!part.chars().all(|c| c == '.'), "{project}");
        let says = |c: char| c.is_control() || "\\?#%\"'<>|:;&$`".contains(c);
        assert!(!part.contains(says), "{project}");
    }
}

fn paths(name: &str, sha: &str) {
    for safe in [safe_name(name), target_folder(name)] {
        single(&safe);
        assert!(!safe.starts_with(['.', '-']), "{safe:?}");
        assert_eq!(safe_name(&safe), safe);
    }
    let Ok(roots) = WorkspaceRoots::new("/base/automation-runs/run", Area::Repositories) else {
        panic!("an absolute base was refused");
    };
    for parts in [review_parts(name, 7, sha), issue_parts(name, 7, 9)] {
        let path = roots.path_of(&parts);
        let below = path.strip_prefix("/base/automation-runs/run/repositories");
        let below = below.map(|below| below.components().count());
        assert_eq!(below, Ok(2), "{}", path.display());
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::RootDir);
        assert!(path.components().all(plain), "{}", path.display());
    }
}

fn locations(name: &str, id: Option<&str>) {
    for schema in [&NEWS, &REVIEW, &ISSUE] {
        let slot = Slot::new(schema, id, name);
        let (keys, files) = state_store::fuzzing::names(&slot, name);
        for file in files {
            single(&file);
        }
        for key in keys {
            assert!(
                key.len() <= MAX_NAME && !key.contains(['/', '\\']),
                "{key:?}"
            );
            assert!(!key.contains(char::is_control), "{key:?}");
        }
    }
}

/// A name is one component of a path.
fn single(name: &str) {
    let path = Path::new(name);
    let mut parts = path.components();
    let one = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    );
    assert!(one && !name.contains(['/', '\\']), "{name:?}");
    assert!(!name.is_empty() && name.len() <= MAX_NAME, "{name:?}");
    assert!(!name.contains(char::is_control), "{name:?}");
}

/// A text for people that may repeat the name.
fn line(text: &str) {
    assert!(crate::is_line(text), "more than a line: {text:?}");
    assert!(text.chars().count() < 700, "a text of {} bytes", text.len());
}

//! What is handed to git: addresses, branch names, commit ids, identities. Nothing that git could
//! take for an option, for another transport, or for more than one thing.

use url::Url;

use super::credential::{GitCredential, plain_address};
use crate::error::WorkspaceError;

/// A repository on a host, and the credential for that host.
#[derive(Clone, Debug)]
pub struct GitRemote {
    url: Url,
    credential: Option<GitCredential>,
}

impl GitRemote {
    /// `url` is the address that the forge reports (`https`, or `http` for an instance without
    /// TLS). User and password in it are dropped.
    pub fn new(url: &str, credential: Option<GitCredential>) -> Result<Self, WorkspaceError> {
        let parsed = Url::parse(url).map(|url| plain_address(&url));
        let bad = |reason| WorkspaceError::GitArgument {
            what: "address",
            value: match &parsed {
                Ok(plain) => plain.to_string(),
                Err(_) => "(unreadable)".to_owned(),
            },
            reason,
        };
        match &parsed {
            Err(_) => Err(bad("it is no URL")),
            Ok(plain) if !matches!(plain.scheme(), "https" | "http" | "file") => {
                Err(bad("only https and http are used"))
            }
            Ok(plain) if plain.query().is_some() || plain.fragment().is_some() => {
                Err(bad("it has a query or fragment"))
            }
            Ok(plain) => Ok(Self {
                url: plain.clone(),
                credential,
            }),
        }
    }

    pub(super) fn url(&self) -> &str {
        self.url.as_str()
    }

    pub(super) fn is_local(&self) -> bool {
        self.url.scheme() == "file"
    }

    pub(super) fn credential(&self) -> Option<&GitCredential> {
        self.credential.as_ref()
    }

    /// Scheme, host and port, as a key of git's `http.<url>.*` settings.
    pub(super) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }
}

/// Who commits. Name and mail are made fit for a commit: without line breaks and angle brackets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitIdentity {
    name: String,
    email: String,
}

impl GitIdentity {
    /// Name and mail of the token's owner. An empty name is replaced by the part of the mail before
    /// the `@`; an empty mail by one that reaches nobody.
    pub fn new(name: &str, email: &str) -> Self {
        let mut email = plain(email);
        if email.is_empty() {
            "noreply@invalid".clone_into(&mut email);
        }
        let mut name = plain(name);
        // git refuses a name of nothing but punctuation.
        if !name.contains(char::is_alphanumeric) {
            let local = email.split('@').next().unwrap_or_default();
            name = plain(local);
        }
        if !name.contains(char::is_alphanumeric) {
            "noreply".clone_into(&mut name);
        }
        Self { name, email }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The mail address.
    pub fn email(&self) -> &str {
        &self.email
    }
}

fn plain(text: &str) -> String {
    let text: String = text
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '<' | '>'))
        .collect();
    text.trim().chars().take(200).collect()
}

/// Checks a branch name by git's own rules (`git check-ref-format`), and that it is no option.
pub(super) fn check_branch(name: &str) -> Result<(), WorkspaceError> {
    let reason = if name.is_empty() || name.len() > 200 {
        "it is empty or longer than 200 bytes"
    } else if name.starts_with('-') || name == "HEAD" || name == "@" {
        "git would take it for something else"
    } else if name
        .chars()
        .any(|c| c.is_control() || " ~^:?*[\\".contains(c))
        || name.contains("..")
        || name.contains("@{")
        || name.ends_with('.')
    {
        "it has a character that git does not allow"
    } else if name.split('/').any(|part| {
        part.is_empty() || part.starts_with('.') || part.strip_suffix(".lock").is_some()
    }) {
        "one of its parts is empty, starts with a dot or ends with .lock"
    } else {
        return Ok(());
    };
    Err(WorkspaceError::GitArgument {
        what: "branch name",
        value: name.to_owned(),
        reason,
    })
}

/// Checks a commit id: 40 or 64 hexadecimal digits in lower case.
pub(super) fn check_sha(sha: &str) -> Result<(), WorkspaceError> {
    if is_object_id(sha) {
        return Ok(());
    }
    Err(WorkspaceError::GitArgument {
        what: "commit id",
        value: sha.to_owned(),
        reason: "it is not 40 or 64 hexadecimal digits",
    })
}

/// Whether a text is the full name of an object.
pub(super) fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let good =
            GitRemote::new("https://oauth2:secret@host:8443/gitlab/g/s/p.git", None).unwrap();
        assert_eq!(good.url(), "https://host:8443/gitlab/g/s/p.git");
        assert_eq!(good.origin(), "https://host:8443");
        for bad in [
            "ext::sh -c touch% /tmp/x",
            "ssh://git@host/p.git",
            "git@host:p.git",
            "--upload-pack=touch",
            "/local/path",
            "../q.git",
            "https://host/p.git?x=secret#y",
            "",
        ] {
            let error = GitRemote::new(bad, None).unwrap_err().to_string();
            assert!(error.contains("cannot be used"), "{error}");
        }
        let leaky = GitRemote::new("ssh://me:secret@host/p.git", None).unwrap_err();
        assert!(!leaky.to_string().contains("secret"));
    }

    #[test]
    fn branch_names() {
        for good in [
            "main",
            "openhands/issue-42",
            "feature/ü",
            "a.b-c_d",
            "v1@2",
            "lock",
        ] {
            check_branch(good).unwrap();
        }
        let long = "x".repeat(201);
        for bad in [
            "", "-d", "--force", "HEAD", "@", "a..b", "a b", "a:b", "+a^", "a~1", "a?", "a*",
            "a[b", "a\\b", "a\nb", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a.lock/b", "a.",
            "a@{1}", &long,
        ] {
            assert!(check_branch(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn identities() {
        let who = |name, email| {
            let identity = GitIdentity::new(name, email);
            format!("{} <{}>", identity.name(), identity.email())
        };
        assert_eq!(who("Ada L.", "ada@example.org"), "Ada L. <ada@example.org>");
        assert_eq!(who("Ada\n<evil>", " a@b "), "Adaevil <a@b>");
        assert_eq!(who("", "ada@example.org"), "ada <ada@example.org>");
        assert_eq!(who("...", ""), "noreply <noreply@invalid>");
    }
}

//! What a bare repository has beside git's own: settings, the hook that refuses pushes as GitLab
//! does, and the one that writes down those that were taken. What the hooks go by lies in files
//! beside them: `protected`, `committer`, `push-rule`.

/// What GitLab's repositories allow and check; and nothing is tidied up behind a test's back.
pub(super) const SETTINGS: &str = "[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[receive]
	fsckObjects = true
	autogc = false
[gc]
	auto = 0
";

/// Runs before a push is taken. Refuses protected branches to whoever is below Maintainer,
/// committers with another address than required, and everything once there is a rule's text.
pub(super) const PRE_RECEIVE: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
refused=
while read -r old new ref; do
    name=${ref#refs/heads/}
    if [ "${STAND_IN_LEVEL:-0}" -lt 40 ] && grep -qxF -e "$name" "$here/protected"; then
        echo "GitLab: You are not allowed to push code to protected branches on this project." >&2
        refused=1
    fi
    if [ -s "$here/committer" ] && [ -n "${new##0000000000*}" ]; then
        wanted=$(cat "$here/committer")
        for mail in $(git log --format=%ce "$new" --not --all); do
            if [ "$mail" != "$wanted" ]; then
                echo "GitLab: You cannot push commits for '$mail'. You can only push commits that were committed with one of your own verified emails." >&2
                refused=1
                break
            fi
        done
    fi
done
if [ -s "$here/push-rule" ]; then
    sed 's/^/GitLab: /' "$here/push-rule" >&2
    refused=1
fi
[ -z "$refused" ]
"#;

/// Runs after a push was taken: writes down what came in, and whether it was forced over.
pub(super) const POST_RECEIVE: &str = r#"#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
while read -r old new ref; do
    forced=no
    case "$old$new" in
        0000000000*|*0000000000) ;;
        *) git merge-base --is-ancestor "$old" "$new" || forced=yes ;;
    esac
    echo "$ref $old $new $forced" >>"$here/pushes"
    echo "To create a merge request for ${ref#refs/heads/}, visit:" >&2
    echo "  $STAND_IN_URL/-/merge_requests/new?merge_request%5Bsource_branch%5D=${ref#refs/heads/}" >&2
done
"#;

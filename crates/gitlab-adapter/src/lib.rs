//! GitLab REST v4, as the issue port needs it.

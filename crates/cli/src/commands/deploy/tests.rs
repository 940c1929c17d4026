//! Deployments against the stand-in.

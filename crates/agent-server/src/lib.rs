//! Client of the OpenHands agent server, and of the completion and phase reports of a run.

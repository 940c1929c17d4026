//! GitHub REST, as the review port needs it.

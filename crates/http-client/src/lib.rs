//! The one HTTP policy: time limits, retries, rate limits, proxies, certificates, redirects, redaction and counting.

//! Reads feeds: fetch, repair, parse, canonical links, fingerprints and the shortlist.

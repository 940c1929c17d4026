//! Size of documents (being written).

//! The core: documents, records, pure decisions, the poll engine and the ports it talks through.

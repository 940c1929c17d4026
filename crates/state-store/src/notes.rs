//! Notes for people, each once.

use std::cell::RefCell;

#[derive(Debug, Default)]
pub(crate) struct Notes {
    told: RefCell<Vec<String>>,
    fresh: RefCell<Vec<String>>,
}

impl Notes {
    pub(crate) fn add(&self, note: String) {
        if !self.told.borrow().contains(&note) {
            self.told.borrow_mut().push(note.clone());
            self.fresh.borrow_mut().push(note);
        }
    }

    pub(crate) fn take(&self) -> Vec<String> {
        self.fresh.take()
    }
}

//! Issues: the forge of the issue automation.

use super::pulls::Item;
use lifecycle::moment::rfc3339;
use lifecycle::ports::Issue;

/// An issue.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    pub(crate) item: Item,
}

impl Ticket {
    pub(crate) fn shown(&self) -> Issue {
        Issue {
            iid: self.item.number,
            title: format!("Issue {}", self.item.number),
            open: self.item.is_open,
            labels: self.item.labels(),
            updated_at: rfc3339(self.item.updated_at),
            web_url: format!("https://forge.example/issues/{}", self.item.number),
        }
    }
}

/// All issues, and the head of the default branch.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    pub(crate) all: Vec<Ticket>,
    pub(crate) main: String,
}

impl Tickets {
    pub(crate) fn get(&self, iid: u64) -> Option<&Ticket> {
        self.all.iter().find(|ticket| ticket.item.number == iid)
    }

    pub(crate) fn get_mut(&mut self, iid: u64) -> Option<&mut Ticket> {
        self.all.iter_mut().find(|ticket| ticket.item.number == iid)
    }
}

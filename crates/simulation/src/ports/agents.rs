//! The agent server, as a run sees it.

use super::Link;
use crate::world::{Fault, Service};
use lifecycle::ports::{AgentError, Agents, Observation, StartConversation, Started};

/// What the client makes of a call that brought no result.
fn error(fault: Fault) -> AgentError {
    let text = format!("{fault:?}");
    match fault {
        Fault::Status(429) => AgentError::Full(text),
        Fault::Status(401) => AgentError::Unauthorized(text),
        Fault::Status(400) | Fault::OutOfTime => AgentError::Refused(text),
        _ => AgentError::Unavailable(text),
    }
}

impl Agents for Link {
    async fn start(&self, request: &StartConversation) -> Result<Started, AgentError> {
        let what = format!("starts conversation {}", request.conversation_id);
        let request = request.clone();
        let call = Self::call_of(Service::Agents, true, what);
        self.call(call, move |world, run| {
            world.start_conversation(run, &request)
        })
        .await
        .map_err(error)
    }

    async fn observe(&self, ids: &[String]) -> Vec<Observation> {
        let asked = ids.to_vec();
        let call = Self::call_of(Service::Agents, false, format!("looks at {ids:?}"));
        let seen = self.call(call, move |world, run| {
            let looks = asked.iter().map(|id| world.look_at(run, id));
            let seen: Vec<Observation> = looks
                .map(|look| look.map_or(Observation::Unknown, Observation::Seen))
                .collect();
            world.note(|_| format!("           it sees {seen:?}"));
            seen
        });
        match seen.await {
            Ok(seen) => seen,
            Err(_) if self.takes_all_for_gone() => vec![Observation::Unknown; ids.len()],
            Err(fault) => {
                vec![Observation::Unavailable(format!("{fault:?}")); ids.len()]
            }
        }
    }

    async fn final_response(&self, conversation_id: &str) -> Result<String, AgentError> {
        let id = conversation_id.to_owned();
        let call = Self::call_of(
            Service::Agents,
            false,
            format!("asks for the words of {id}"),
        );
        self.call(call, move |world, run| {
            let index = world.conversation(run, &id);
            index.map_or_else(String::new, |index| {
                world.server.conversations[index].words.clone()
            })
        })
        .await
        .map_err(error)
    }

    async fn interrupt(&self, conversation_id: &str) -> Result<(), AgentError> {
        let id = conversation_id.to_owned();
        let call = Self::call_of(Service::Agents, true, format!("interrupts {id}"));
        self.call(call, move |world, run| world.interrupt(run, &id))
            .await
            .map_err(error)
    }

    fn is_sandbox(&self) -> bool {
        self.world.borrow().plan.sandbox
    }

    fn conversation_url(&self, conversation_id: &str) -> String {
        format!("https://app.example/conversations/{conversation_id}")
    }
}

impl Link {
    fn takes_all_for_gone(&self) -> bool {
        let world = self.world.borrow();
        world.is_mutated(crate::mutation::Mutation::Certainty)
    }
}

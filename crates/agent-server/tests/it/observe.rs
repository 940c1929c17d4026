//! Looking at conversations, their last words, and stopping them.

use lifecycle::ports::{AgentError, Agents, Conversation, Observation, StartConversation};
use testbed::agent_server::{AgentServer as StandIn, Pace, Script, Status};
use testbed::faults::Fault;

use crate::{ID, agents, connection, fixture, request};

fn seen(conversation: Conversation) -> Observation {
    Observation::Seen(conversation)
}

fn id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

async fn start(agents: &agent_server::AgentServer, number: usize) {
    let request = StartConversation {
        conversation_id: id(number),
        ..request()
    };
    agents.start(&request).await.unwrap();
}

fn status_of(name: &str) -> Status {
    match name {
        "idle" => Status::Idle,
        "running" => Status::Running,
        "finished" => Status::Finished,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_conversation_is_idle_before_it_runs() {
    let case = fixture("runtime/conversation-is-idle-before-it-runs.json");
    let statuses = case["statuses"].as_array().unwrap();
    let server = StandIn::start().unwrap();
    server.set_script(
        Script::of(
            statuses
                .iter()
                .map(|status| status_of(status.as_str().unwrap())),
        )
        .pace(Pace::Told),
    );
    let agents = agents(&server);
    agents.start(&request()).await.unwrap();
    for expected in case["observed"].as_array().unwrap() {
        let [Observation::Seen(conversation)] = agents.observe(&[ID.to_owned()]).await[..] else {
            panic!("not seen");
        };
        assert_eq!(format!("{conversation:?}"), expected.as_str().unwrap());
        server.advance(ID);
    }
}

#[tokio::test]
async fn idle_after_an_answer_is_done() {
    let server = StandIn::start().unwrap();
    server.set_script(Script::of([Status::Idle]));
    let agents = agents(&server);
    agents.start(&request()).await.unwrap();
    assert_eq!(
        agents.observe(&[ID.to_owned()]).await,
        [seen(Conversation::IdleFresh)]
    );
    server.set_response(ID, "Here it is.");
    assert_eq!(
        agents.observe(&[ID.to_owned()]).await,
        [seen(Conversation::IdleDone)]
    );
    // When nobody can say, it is not taken for done.
    server
        .server()
        .faults()
        .add(Fault::status(500).on("GET", "agent_final_response"));
    assert_eq!(
        agents.observe(&[ID.to_owned()]).await,
        [seen(Conversation::IdleFresh)]
    );
}

#[tokio::test]
async fn every_status_of_the_server() {
    let server = StandIn::start().unwrap();
    let agents = agents(&server);
    agents.start(&request()).await.unwrap();
    for (status, expected) in [
        (Status::Running, Conversation::Running),
        (Status::Paused, Conversation::Paused),
        (
            Status::WaitingForConfirmation,
            Conversation::WaitingForConfirmation,
        ),
        (Status::Finished, Conversation::Finished),
        (Status::Error, Conversation::Error),
        (Status::Stuck, Conversation::Stuck),
        (Status::Deleting, Conversation::Deleting),
    ] {
        server.set_status(ID, status);
        assert_eq!(agents.observe(&[ID.to_owned()]).await, [seen(expected)]);
    }
    server.delete(ID);
    assert_eq!(
        agents.observe(&[ID.to_owned()]).await,
        [Observation::Unknown]
    );
    assert_eq!(agents.observe(&[]).await, []);
}

#[tokio::test]
async fn many_are_looked_at_in_batches_of_99_and_stay_in_order() {
    let server = StandIn::start().unwrap();
    server.set_script(Script::of([Status::Running]));
    let agents = agents(&server);
    for number in [0, 98, 99, 150] {
        start(&agents, number).await;
    }
    server.server().log().clear();
    let ids: Vec<String> = (0..200).map(id).collect();
    let observed = agents.observe(&ids).await;
    for (number, observation) in observed.iter().enumerate() {
        let expected = if [0, 98, 99, 150].contains(&number) {
            seen(Conversation::Running)
        } else {
            Observation::Unknown
        };
        assert_eq!(*observation, expected, "{number}");
    }
    let log = server.server().log();
    let mut sizes: Vec<usize> = log
        .all()
        .iter()
        .map(|asked| asked.query.matches("ids=").count())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 99, 99]);
    server.check().unwrap();
}

#[tokio::test]
async fn an_id_that_is_no_uuid_is_asked_alone_and_unknown() {
    let server = StandIn::start().unwrap();
    server.set_script(Script::of([Status::Running]));
    let agents = agents(&server);
    start(&agents, 1).await;
    start(&agents, 2).await;
    server.server().log().clear();
    let ids = [id(1), "task-7".to_owned(), id(2), "a/b?c".to_owned(), id(1)];
    let running = || seen(Conversation::Running);
    assert_eq!(
        agents.observe(&ids).await,
        [
            running(),
            Observation::Unknown,
            running(),
            Observation::Unknown,
            running()
        ],
    );
    assert_eq!(
        server.server().log().len(),
        3,
        "{:?}",
        server.server().log().lines()
    );
}

#[tokio::test]
async fn a_batch_that_is_refused_is_asked_one_by_one() {
    for status in [404, 405, 422] {
        let server = StandIn::start().unwrap();
        server.set_script(Script::of([Status::Running]));
        let agents = agents(&server);
        start(&agents, 1).await;
        server
            .server()
            .faults()
            .add(Fault::status(status).on("GET", "ids="));
        let observed = agents.observe(&[id(1), id(2)]).await;
        assert_eq!(
            observed,
            [seen(Conversation::Running), Observation::Unknown],
            "{status}"
        );
    }
}

#[tokio::test]
async fn a_batch_of_another_shape_proves_nothing() {
    let server = StandIn::start().unwrap();
    server.set_script(Script::of([Status::Running]));
    let agents = agents(&server);
    start(&agents, 1).await;
    let stranger = format!(
        "[{{\"id\": \"{}\", \"execution_status\": \"finished\"}}, null]",
        id(9)
    );
    for body in ["[null]", &stranger] {
        server.server().faults().add(
            Fault::status(200)
                .body("application/json", body)
                .on("GET", "ids="),
        );
        let observed = agents.observe(&[id(1), id(2)]).await;
        assert_eq!(
            observed,
            [seen(Conversation::Running), Observation::Unknown],
            "{body}"
        );
    }
    for body in ["<html>", "", "{\"items\": []}"] {
        server
            .server()
            .faults()
            .add(Fault::status(200).body("text/html", body).on("GET", "ids="));
        let observed = agents.observe(&[id(1), id(2)]).await;
        assert!(matches!(
            observed[..],
            [Observation::Unavailable(_), Observation::Unavailable(_)]
        ));
    }
}

#[tokio::test]
async fn a_server_that_cannot_say_is_not_one_that_does_not_know() {
    let server = StandIn::start().unwrap();
    let agents = agents(&server);
    for status in [401, 429, 500, 503] {
        server.server().faults().clear();
        server.server().faults().add(Fault::status(status).always());
        for ids in [vec![id(1)], vec![id(1), id(2)]] {
            for observation in agents.observe(&ids).await {
                assert!(
                    matches!(observation, Observation::Unavailable(_)),
                    "{observation:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn last_words() {
    let server = StandIn::start().unwrap();
    let agents = agents(&server);
    assert_eq!(
        agents.final_response(ID).await.unwrap(),
        "",
        "of a conversation that is gone"
    );
    agents.start(&request()).await.unwrap();
    assert_eq!(agents.final_response(ID).await.unwrap(), "");
    server.run_to_end(ID);
    assert_eq!(agents.final_response(ID).await.unwrap(), "Done.");
    for body in [r#"{"response": null}"#, "{}"] {
        server.server().faults().add(
            Fault::status(200)
                .body("application/json", body)
                .on("GET", "final_response"),
        );
        assert_eq!(agents.final_response(ID).await.unwrap(), "");
    }
    server
        .server()
        .faults()
        .add(Fault::status(500).on("GET", "final_response"));
    let error = agents.final_response(ID).await.unwrap_err();
    assert!(matches!(error, AgentError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn an_interrupt_stops_and_may_be_repeated() {
    let server = StandIn::start().unwrap();
    server.set_script(Script::of([Status::Running]));
    let agents = agents(&server);
    agents.start(&request()).await.unwrap();
    server
        .server()
        .faults()
        .add(Fault::answer_lost().on("POST", "interrupt"));
    agents.interrupt(ID).await.unwrap();
    assert_eq!(
        agents.observe(&[ID.to_owned()]).await,
        [seen(Conversation::Paused)]
    );
    agents.interrupt(&id(5)).await.unwrap();
    agents.interrupt("no-uuid").await.unwrap();
    server
        .server()
        .faults()
        .add(Fault::status(500).on("POST", "interrupt"));
    let error = agents.interrupt(ID).await.unwrap_err();
    assert!(matches!(error, AgentError::Unavailable(_)), "{error}");
}

#[test]
fn where_people_look() {
    let server = StandIn::start().unwrap();
    let mut connection = connection(&server);
    assert!(!connection.sandbox);
    connection.web_url = "https://app.example/".to_owned();
    let agents = agent_server::AgentServer::new(crate::client(), connection);
    assert_eq!(
        agents.conversation_url("x"),
        "https://app.example/conversations/x"
    );
}

//! One attempt at a call: sent, redirected where that is allowed, answered. No repetition here.

use std::sync::Arc;

use bytes::Bytes;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::body::{BodyStream, Decoder};
use crate::client::Inner;
use crate::error::HttpError;
use crate::hosts::{Host, Turn};
use crate::request::{Redirects, Request};
use crate::response::{About, Headers};
use crate::secret::{Secret, is_telling};
use crate::transport::{self, Failure};

/// Where a call stands between two redirects.
pub(crate) struct Way<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) request: &'a Request,
    pub(crate) url: Url,
    /// Whether the call has been led away from the origin it was meant for. It stays so even when
    /// it is led back.
    pub(crate) left_home: bool,
    /// Whether an address that anybody can reach has answered.
    pub(crate) saw_public: bool,
    pub(crate) hops: usize,
    pub(crate) all_permanent: bool,
}

/// Makes the call once. The stream it gives holds its turn.
pub(crate) async fn open(inner: &Inner, request: &Request) -> Result<BodyStream, HttpError> {
    let mut way = Way {
        inner,
        request,
        url: request.url.clone(),
        left_home: false,
        saw_public: false,
        hops: 0,
        all_permanent: true,
    };
    let mut times: Option<(Instant, Instant)> = None;
    loop {
        let host = inner.hosts.host(&way.url);
        let turn = way.turn(&host, times.map(|(_, end)| end)).await?;
        let (started, end) = if let Some(times) = times {
            times
        } else {
            let now = Instant::now();
            (now, way.end_from(now)?)
        };
        times = Some((started, end));
        let answer = way.exchange(&host, started, end).await?;
        match way.next_hop(&answer).await? {
            Some(next) => way.follow(answer.status().as_u16(), next),
            None => return Ok(way.stream(answer, turn, started, end)),
        }
    }
}

impl Way<'_> {
    /// Waits for a turn; the time for it is bounded by the budget of the run, and after a redirect
    /// by the limit of the attempt.
    async fn turn(&self, host: &Host, end: Option<Instant>) -> Result<Turn, HttpError> {
        if self.request.urgent {
            return Ok(Turn::out_of_line());
        }
        self.check_silence(host)?;
        let end = end.or_else(|| self.inner.deadline());
        let turn = self.inner.hosts.turn(host);
        let turn = match end {
            Some(end) => timeout_at(end, turn)
                .await
                .map_err(|_| self.out_of_time())?,
            None => turn.await,
        };
        // While this call waited, the one before it may have found the host silent.
        self.check_silence(host)?;
        Ok(turn)
    }

    fn check_silence(&self, host: &Host) -> Result<(), HttpError> {
        if host.is_silent() {
            return Err(HttpError::Unresponsive {
                service: self.request.service,
                call: self.request.call_with_host(),
            });
        }
        Ok(())
    }

    fn end_from(&self, now: Instant) -> Result<Instant, HttpError> {
        let end = now
            + self
                .request
                .timeout
                .unwrap_or(self.inner.policy.call_timeout);
        match self.inner.deadline() {
            Some(deadline) if !self.request.urgent => {
                if deadline <= now {
                    return Err(self.out_of_time());
                }
                Ok(end.min(deadline))
            }
            _ => Ok(end),
        }
    }

    fn out_of_time(&self) -> HttpError {
        HttpError::Deadline {
            service: self.request.service,
            call: self.request.call_with_host(),
        }
    }

    /// One request and the head of its answer.
    async fn exchange(
        &self,
        host: &Arc<Host>,
        started: Instant,
        end: Instant,
    ) -> Result<reqwest::Response, HttpError> {
        let request = self.request;
        transport::goes_through_proxy(&self.inner.transport.proxies, &self.url)?;
        let client = self.inner.transport.client(self.is_guarded())?;
        let mut builder = client
            .request(request.method.clone(), self.url.clone())
            .headers(self.headers()?);
        if let Some(body) = &request.body {
            builder = builder.body(Bytes::clone(body));
        }
        self.inner.counters.count_request();
        let timeout = |sent| HttpError::Timeout {
            service: request.service,
            call: request.call_with_host(),
            after: end - started,
            sent,
        };
        let Ok(result) = timeout_at(end, builder.send()).await else {
            // A call that was given less time than usual proves little about the host.
            if started.elapsed() >= self.inner.policy.call_timeout {
                host.kept_silent(started);
            }
            return Err(timeout(true));
        };
        let answer = result.map_err(|error| match transport::classify(error) {
            Failure::NoConnection(detail) => HttpError::Connect {
                service: request.service,
                call: request.call_with_host(),
                detail,
            },
            Failure::ConnectTimeout => {
                host.kept_silent(started);
                HttpError::Timeout {
                    service: request.service,
                    call: request.call_with_host(),
                    after: self.inner.policy.connect_timeout,
                    sent: false,
                }
            }
            Failure::Private => self.refused("it leads to a private address"),
            Failure::Tls(detail) => HttpError::Tls {
                service: request.service,
                call: request.call_with_host(),
                detail,
            },
            Failure::Broken(detail) => HttpError::Broken {
                service: request.service,
                call: request.call_with_host(),
                detail,
            },
        })?;
        host.answered();
        if answer.status().as_u16() == 304 {
            self.inner.counters.count_not_modified();
        }
        Ok(answer)
    }

    fn is_guarded(&self) -> bool {
        self.request.redirects == Redirects::FollowGuarded && self.saw_public
    }

    /// The headers for this hop: credentials only at home, and away from it nothing that is named
    /// like one either.
    fn headers(&self) -> Result<HeaderMap, HttpError> {
        let mut headers = self.request.headers.clone();
        if self.left_home {
            let telling: Vec<_> = headers
                .keys()
                .filter(|name| is_telling(name.as_str()) || name.as_str() == "cookie")
                .cloned()
                .collect();
            for name in telling {
                headers.remove(name);
            }
        } else {
            for (name, secret) in &self.request.credentials {
                let mut value = HeaderValue::try_from(secret.expose()).map_err(|_| {
                    HttpError::Setup(format!(
                        "the credential for {} ({name}) holds characters a header may not",
                        self.request.service
                    ))
                })?;
                value.set_sensitive(true);
                headers.insert(*name, value);
            }
        }
        headers
            .entry(ACCEPT_ENCODING)
            .or_insert(HeaderValue::from_static("gzip"));
        Ok(headers)
    }

    fn stream(
        self,
        mut answer: reqwest::Response,
        turn: Turn,
        started: Instant,
        end: Instant,
    ) -> BodyStream {
        let headers = std::mem::take(answer.headers_mut());
        let gzip = headers
            .get(CONTENT_ENCODING)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| {
                matches!(
                    value.trim().to_ascii_lowercase().as_str(),
                    "gzip" | "x-gzip"
                )
            });
        BodyStream {
            headers: Headers(headers),
            status: answer.status().as_u16(),
            url: self.url,
            redirected: self.hops > 0,
            moved_permanently: self.hops > 0 && self.all_permanent,
            service: self.request.service,
            method: self.request.method.to_string(),
            about: About {
                asked: self.request.url.clone(),
                call: self.request.call_with_host(),
                secrets: known_secrets(self.request),
            },
            source: answer,
            decoder: if gzip {
                Decoder::Announced
            } else {
                Decoder::Plain
            },
            pending: Bytes::new(),
            limit: self.request.max_bytes,
            read: 0,
            started,
            end,
            _turn: turn,
        }
    }
}

/// The credentials of a request, and without the scheme before them (`Bearer`), for redaction.
fn known_secrets(request: &Request) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for (_, secret) in &request.credentials {
        if let Some((_, bare)) = secret.expose().split_once(' ') {
            secrets.push(Secret::new(bare));
        }
        secrets.push(secret.clone());
    }
    if let Some(password) = request.url.password() {
        secrets.push(Secret::new(password));
    }
    secrets
}

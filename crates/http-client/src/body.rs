//! Reading a body piece by piece, unpacking gzip on the way, within a number of bytes and a time.

use std::io::Write as _;

use bytes::{Buf as _, Bytes};
use flate2::write::GzDecoder;
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::error::HttpError;
use crate::hosts::Turn;
use crate::response::{About, Headers, Response};
use crate::transport::{self, Failure};

/// Compressed bytes unpacked in one step: bounds what one step can blow up to (about a
/// thousandfold) before the limit is looked at.
const STEP: usize = 4096;

/// An answer whose body is read by the caller. It keeps its place among the calls under way until
/// it is dropped; the time limit of the request runs on while it is read.
pub struct BodyStream {
    /// The headers.
    pub headers: Headers,
    pub(crate) status: u16,
    pub(crate) url: Url,
    pub(crate) redirected: bool,
    pub(crate) moved_permanently: bool,
    pub(crate) service: &'static str,
    pub(crate) method: String,
    pub(crate) about: About,
    pub(crate) source: reqwest::Response,
    pub(crate) decoder: Decoder,
    pub(crate) pending: Bytes,
    pub(crate) limit: u64,
    pub(crate) read: u64,
    pub(crate) started: Instant,
    pub(crate) end: Instant,
    pub(crate) _turn: Turn,
}

pub(crate) enum Decoder {
    Plain,
    /// Gzip is announced; the first byte will tell whether it is true.
    Announced,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    /// The body was read in advance, or what is left is padding after the compressed data.
    Over,
}

impl std::fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BodyStream")
            .field("call", &self.about.call)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl BodyStream {
    /// The status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The address that answered in the end; may hold a one-time token.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Whether a redirect was followed.
    pub fn redirected(&self) -> bool {
        self.redirected
    }

    /// The next piece of the body, `None` at its end. A body that is cut off is an error, never an
    /// end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            if !self.pending.is_empty() {
                let piece = self.unpack()?;
                if piece.is_empty() {
                    continue;
                }
                self.read += piece.len() as u64;
                if self.read > self.limit {
                    return Err(HttpError::TooLarge {
                        service: self.service,
                        call: self.about.call.clone(),
                        limit: self.limit,
                    });
                }
                return Ok(Some(piece));
            }
            if matches!(self.decoder, Decoder::Over) {
                return Ok(None);
            }
            match self.receive().await? {
                Some(piece) => self.pending = piece,
                None => match self.close()? {
                    piece if piece.is_empty() => return Ok(None),
                    piece => self.pending = piece,
                },
            }
        }
    }

    /// Reads the rest of the body, for a caller that wants to know why the status is a failure.
    pub async fn into_response(mut self) -> Result<Response, HttpError> {
        let body = self.read_to_end().await?;
        Ok(self.with_body(body))
    }

    pub(crate) async fn read_to_end(&mut self) -> Result<Vec<u8>, HttpError> {
        let mut body = Vec::new();
        while let Some(piece) = self.chunk().await? {
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    pub(crate) fn with_body(self, body: Vec<u8>) -> Response {
        Response {
            status: self.status,
            headers: self.headers,
            url: self.url,
            redirected: self.redirected,
            moved_permanently: self.moved_permanently,
            body,
            service: self.service,
            method: self.method,
            about: self.about,
        }
    }

    /// Puts a body that was read in advance back in front of the reader.
    pub(crate) fn replay(&mut self, body: Vec<u8>) {
        self.read = 0;
        self.decoder = Decoder::Over;
        self.pending = body.into();
    }

    async fn receive(&mut self) -> Result<Option<Bytes>, HttpError> {
        let Ok(received) = timeout_at(self.end, self.source.chunk()).await else {
            return Err(HttpError::Timeout {
                service: self.service,
                call: self.about.call.clone(),
                after: self.end - self.started,
                sent: true,
            });
        };
        received.map_err(|error| {
            let (Failure::Broken(detail) | Failure::NoConnection(detail) | Failure::Tls(detail)) =
                transport::classify(error)
            else {
                return self.broken("the connection was lost");
            };
            self.broken(&detail)
        })
    }

    fn broken(&self, detail: &str) -> HttpError {
        HttpError::Broken {
            service: self.service,
            call: self.about.call.clone(),
            detail: format!("the body is cut off: {detail}"),
        }
    }

    /// Takes from `pending` what can be handed on.
    fn unpack(&mut self) -> Result<Bytes, HttpError> {
        loop {
            match &mut self.decoder {
                Decoder::Announced => {
                    // Some servers announce compression and send plain bytes.
                    self.decoder = if self.pending[0] == 0x1f {
                        Decoder::Gzip(Box::new(GzDecoder::new(Vec::new())))
                    } else {
                        Decoder::Plain
                    };
                }
                Decoder::Plain | Decoder::Over => return Ok(std::mem::take(&mut self.pending)),
                Decoder::Gzip(decoder) => {
                    let step = self.pending.len().min(STEP);
                    let result = decoder.write(&self.pending[..step]);
                    let unpacked = std::mem::take(decoder.get_mut());
                    match result {
                        Ok(0) => {
                            // This member is complete; another may follow it.
                            let rest = self.close()?;
                            if self.pending.starts_with(&[0x1f, 0x8b]) {
                                self.decoder = Decoder::Announced;
                            } else {
                                self.pending = Bytes::new();
                                self.decoder = Decoder::Over;
                            }
                            return Ok([unpacked, rest.to_vec()].concat().into());
                        }
                        Ok(taken) => self.pending.advance(taken),
                        Err(error) => return Err(self.damaged(&error)),
                    }
                    return Ok(unpacked.into());
                }
            }
        }
    }

    /// Ends the decoder: what it still holds, or an error when its data is not complete.
    fn close(&mut self) -> Result<Bytes, HttpError> {
        let ended = std::mem::replace(&mut self.decoder, Decoder::Over);
        let Decoder::Gzip(mut decoder) = ended else {
            return Ok(Bytes::new());
        };
        match decoder.try_finish() {
            Ok(()) => Ok(std::mem::take(decoder.get_mut()).into()),
            Err(error) => Err(self.damaged(&error)),
        }
    }

    fn damaged(&self, error: &std::io::Error) -> HttpError {
        HttpError::Body {
            service: self.service,
            call: self.about.call.clone(),
            status: self.status,
            detail: format!("its gzip compression is damaged or cut off ({error})"),
            snippet: String::new(),
        }
    }
}

//! A plain blocking HTTP/1.1 call over a fresh connection: what scripted deeds and the tests of the
//! stand-ins use, so that no client with a policy of its own is in the way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::error::TestbedError;

/// A request to be sent. No redirects, no retries, `http` only, 10 s to connect, read and write.
#[derive(Debug, Clone)]
pub struct Call {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    timeout: Duration,
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Header names in lower case with their values.
    pub headers: Vec<(String, String)>,
    /// The body with its transfer coding undone.
    pub body: Vec<u8>,
}

impl Call {
    /// A call with any method.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: Duration::from_secs(10),
        }
    }

    /// `GET url`.
    pub fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    /// `POST url` with this JSON.
    pub fn post(url: &str, body: &Value) -> Self {
        Self::new("POST", url).json(body)
    }

    /// `PUT url` with this JSON.
    pub fn put(url: &str, body: &Value) -> Self {
        Self::new("PUT", url).json(body)
    }

    /// `DELETE url`.
    pub fn delete(url: &str) -> Self {
        Self::new("DELETE", url)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// `Authorization: Bearer TOKEN`.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Sets the body and its content type.
    #[must_use]
    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", content_type)
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// How long to wait for a connection, and for each read and write.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends the request and reads the whole answer.
    ///
    /// # Errors
    /// [`TestbedError::Call`] when there is no whole answer: refused, reset, cut off, timed out.
    pub fn send(&self) -> Result<Answer, TestbedError> {
        self.exchange().map_err(|reason| TestbedError::Call {
            call: format!("{} {}", self.method, self.url),
            reason,
        })
    }

    fn exchange(&self) -> Result<Answer, String> {
        let url = Url::parse(&self.url).map_err(|e| e.to_string())?;
        let host = url.host_str().ok_or("no host")?;
        let port = url.port_or_known_default().ok_or("no port")?;
        let mut stream = TcpStream::connect((host, port)).map_err(|e| e.to_string())?;
        stream
            .set_read_timeout(Some(self.timeout))
            .map_err(|e| e.to_string())?;
        stream
            .set_write_timeout(Some(self.timeout))
            .map_err(|e| e.to_string())?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;

        // The target goes out as it was written: a key such as `state:a__b` must arrive like that.
        let query = url
            .query()
            .map_or_else(String::new, |query| format!("?{query}"));
        let mut head = format!(
            "{} {}{query} HTTP/1.1\r\nhost: {host}:{port}\r\nconnection: close\r\ncontent-length: {}\r\n",
            self.method,
            url.path(),
            self.body.len()
        );
        for (name, value) in &self.headers {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        stream.write_all(&bytes).map_err(|e| e.to_string())?;
        read_answer(&mut BufReader::new(stream), self.method == "HEAD")
    }
}

impl Answer {
    /// The first value of a header; names compare without regard to case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(have, _)| have.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; `null` when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as a value of this type; `None` when it does not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }
}

fn read_answer(reader: &mut impl BufRead, without_body: bool) -> Result<Answer, String> {
    let status_line = read_line(reader)?;
    let status = status_line
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .ok_or_else(|| format!("no status in {status_line:?}"))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let mut answer = Answer {
        status,
        headers,
        body: Vec::new(),
    };
    if without_body || matches!(status, 204 | 304) {
        return Ok(answer);
    }
    let length = answer
        .header("content-length")
        .and_then(|length| length.parse::<usize>().ok());
    answer.body = if answer.header("transfer-encoding") == Some("chunked") {
        read_chunks(reader)?
    } else if let Some(length) = length {
        let mut body = vec![0; length];
        reader.read_exact(&mut body).map_err(|e| e.to_string())?;
        body
    } else {
        let mut body = Vec::new();
        reader.read_to_end(&mut body).map_err(|e| e.to_string())?;
        body
    };
    Ok(answer)
}

fn read_chunks(reader: &mut impl BufRead) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader)?;
        let size = usize::from_str_radix(line.split(';').next().unwrap_or_default(), 16)
            .map_err(|e| format!("chunk size {line:?}: {e}"))?;
        let mut chunk = Vec::new();
        let read = reader.by_ref().take(size as u64).read_to_end(&mut chunk);
        if read.map_err(|e| e.to_string())? != size {
            return Err("cut off in a chunk".to_owned());
        }
        body.append(&mut chunk);
        read_line(reader)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

fn read_line(reader: &mut impl BufRead) -> Result<String, String> {
    let mut line = Vec::new();
    reader
        .read_until(b'\n', &mut line)
        .map_err(|e| e.to_string())?;
    if line.pop() != Some(b'\n') {
        return Err("the line was closed".to_owned());
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

//! What is asked, as plain values. Nothing is sent here and no credential appears here.

use http_client::{Method, Url};
use serde_json::Value;

/// One request.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: Url,
    /// The form of answer that is accepted.
    pub accept: &'static str,
    /// Sent as JSON.
    pub body: Option<Value>,
}

impl Ask {
    /// A read of an address as it is, such as that of a next page.
    pub fn get(url: Url, accept: &'static str) -> Self {
        Self {
            method: Method::GET,
            url,
            accept,
            body: None,
        }
    }

    /// A write, or a question too long for an address.
    pub fn post(url: Url, accept: &'static str, body: Value) -> Self {
        Self {
            method: Method::POST,
            url,
            accept,
            body: Some(body),
        }
    }

    /// Method and path, for errors: the query may hold what does not belong there.
    pub fn call(&self) -> String {
        format!("{} {}", self.method, self.url.path())
    }
}

/// An address below that of an API. Each part is encoded whole, a slash in it included.
pub fn below(api: &Url, parts: &[&str]) -> Url {
    let mut url = api.clone();
    // An address without a path is refused when it is sent.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(parts);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_parts_and_the_query_stays_out_of_words() {
        for (api, expected) in [
            ("https://a.example", "/x/..%2Fy%20z"),
            ("https://a.example/api/v4", "/api/v4/x/..%2Fy%20z"),
            ("https://a.example/api/v4/", "/api/v4/x/..%2Fy%20z"),
        ] {
            let mut url = below(&Url::parse(api).unwrap(), &["x", "../y z"]);
            assert_eq!(url.path(), expected);
            url.set_query(Some("token=1"));
            assert_eq!(Ask::get(url, "x/y").call(), format!("GET {expected}"));
        }
    }
}

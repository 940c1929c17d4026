use super::*;

#[test]
fn dates_of_http() {
    for (text, seconds) in [
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777.0)),
        ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0.0)),
        ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199.0)),
        ("Fri, 01 Mar 2024 00:00:00 GMT", Some(1_709_251_200.0)),
        ("Sunday, 06-Nov-94 08:49:37 GMT", None),
        ("Sun, 06 Nov 99999999999999999 08:49:37 GMT", None),
        ("Sun, 06 Nov 1994 08:49", None),
        ("soon", None),
    ] {
        assert_eq!(http_date(text), seconds, "{text}");
    }
}

#[test]
fn retry_after_in_its_forms() {
    assert_eq!(
        retry_after(" 57 "),
        Some(RateLimit::After(Duration::from_secs(57)))
    );
    assert_eq!(retry_after("-1"), Some(RateLimit::After(Duration::ZERO)));
    assert_eq!(
        retry_after("1e300"),
        Some(RateLimit::After(Duration::from_secs(10_000_000)))
    );
    assert_eq!(
        retry_after("Sun, 06 Nov 1994 08:49:37 GMT"),
        Some(RateLimit::Until(784_111_777.0))
    );
    assert_eq!(retry_after("NaN"), None);
}

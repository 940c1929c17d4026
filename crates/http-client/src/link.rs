//! The `Link` header (RFC 8288), as far as pages of a list need it.

/// The links of a header, one pair of relation and target for each relation that a link has, in
/// order. Compare relations without regard to case; what is no link is passed over.
///
/// ```
/// let header = "<https://a/?page=2>; rel=\"next\", <https://a/?page=9>; rel=\"last\"";
/// assert!(http_client::links(header).any(|link| link == ("last", "https://a/?page=9")));
/// ```
pub fn links(header: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = header;
    let split = std::iter::from_fn(move || {
        let (_, after) = rest.split_once('<')?;
        let (target, after) = after.split_once('>')?;
        // The parameters run up to the next comma outside quotes.
        let mut quoted = false;
        let end = after
            .find(|c| {
                quoted ^= c == '"';
                c == ',' && !quoted
            })
            .unwrap_or(after.len());
        rest = &after[end..];
        Some((target.trim(), &after[..end]))
    });
    split.flat_map(|(target, parameters)| {
        relations(parameters).map(move |relation| (relation, target))
    })
}

fn relations(parameters: &str) -> impl Iterator<Item = &str> {
    parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('='))
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("rel"))
        .flat_map(|(_, value)| value.trim().trim_matches('"').split_ascii_whitespace())
}

/// The target of the first link whose relation is `next`.
pub fn next_link(header: &str) -> Option<&str> {
    links(header)
        .find(|(relation, _)| relation.eq_ignore_ascii_case("next"))
        .map(|(_, target)| target)
}

#[cfg(test)]
mod tests {
    use super::next_link;

    #[test]
    fn links_in_every_form() {
        for (header, expected) in [
            (
                "<https://a/?page=2>; rel=\"next\"",
                Some("https://a/?page=2"),
            ),
            (
                "<https://a/1,2>; rel=first, </3>; title=\"x, y\"; rel=\"last Next\"",
                Some("/3"),
            ),
            ("<https://a/>; rel=\"prev\"", None),
            ("<https://a/>; title=\"rel=next\"", None),
            ("<https://a/", None),
            ("", None),
        ] {
            assert_eq!(next_link(header), expected, "{header}");
        }
    }
}

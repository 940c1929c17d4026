//! The `Link` header (RFC 8288), as far as pages of a list need it.

/// The target of the first link whose relation is `next`.
pub(crate) fn next(header: &str) -> Option<&str> {
    let mut rest = header;
    loop {
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
        if after[..end].split(';').any(is_next) {
            return Some(target.trim());
        }
        rest = &after[end..];
    }
}

fn is_next(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, value)| {
        name.trim().eq_ignore_ascii_case("rel")
            && value
                .trim()
                .trim_matches('"')
                .split_ascii_whitespace()
                .any(|relation| relation.eq_ignore_ascii_case("next"))
    })
}

#[cfg(test)]
mod tests {
    use super::next;

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
            assert_eq!(next(header), expected, "{header}");
        }
    }
}

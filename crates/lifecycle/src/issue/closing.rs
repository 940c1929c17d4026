//! What a forge does when a branch is merged: it closes the issues that a commit or the description
//! says it closes. Only the issue that was asked for is to be closed, so other people's words say
//! nothing of that kind.
//!
//! The rule is GitLab's default pattern for closing issues
//! (<https://docs.gitlab.com/ee/user/project/issues/managing_issues.html#default-closing-pattern>):
//! a verb, perhaps a colon, blanks, perhaps "issue", and a reference. It asks for blanks of the usual
//! kind before the reference, so one that does not break lines looks the same and closes nothing.

/// The verbs by their stems, each with its endings.
const VERBS: [(&str, &[&str]); 4] = [
    ("clos", &["e", "es", "ed", "ing"]),
    ("fix", &["", "es", "ed", "ing"]),
    ("resolv", &["e", "es", "ed", "ing"]),
    ("implement", &["", "s", "ed", "ing"]),
];
/// What takes the place of the blank.
const UNBROKEN: char = '\u{a0}';

/// The same text to the eye, in which nothing closes an issue.
pub(super) fn without_closing(text: &str) -> String {
    let mut harmless = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(reference) = closing(rest) {
        // A blank is a byte.
        harmless.push_str(&rest[..reference - 1]);
        harmless.push(UNBROKEN);
        rest = &rest[reference..];
    }
    harmless.push_str(rest);
    harmless
}

/// Where the reference of the first verb that has one starts.
fn closing(text: &str) -> Option<usize> {
    let ends = text.match_indices([' ', ':']).map(|(end, _)| end);
    ends.filter(|end| ends_in_verb(&text[..*end]))
        .find_map(|end| reference_after(text, end))
}

/// Whether a text ends in a verb, or in a longer word that does: older instances do not look where
/// the word begins.
fn ends_in_verb(text: &str) -> bool {
    VERBS.iter().any(|(stem, endings)| {
        endings.iter().any(|ending| {
            let length = stem.len() + ending.len();
            let start = text.len().checked_sub(length);
            let word = start.and_then(|start| text.get(start..));
            word.is_some_and(|word| {
                let (first, last) = word.split_at_checked(stem.len()).unwrap_or_default();
                first.eq_ignore_ascii_case(stem) && last.eq_ignore_ascii_case(ending)
            })
        })
    })
}

/// Where a reference starts that belongs to a verb which ends here.
fn reference_after(text: &str, verb: usize) -> Option<usize> {
    let start = after_blanks(
        text,
        text[verb..].strip_prefix(':').map_or(verb, |_| verb + 1),
    )?;
    let word = text[start..].split(' ').next().unwrap_or_default();
    let noun = ["issue", "issues"]
        .iter()
        .any(|noun| word.eq_ignore_ascii_case(noun));
    let start = if noun {
        after_blanks(text, start + word.len())?
    } else {
        start
    };
    is_reference(&text[start..]).then_some(start)
}

/// The place after one or more blanks.
fn after_blanks(text: &str, from: usize) -> Option<usize> {
    let blanks = text[from..]
        .bytes()
        .take_while(|byte| *byte == b' ')
        .count();
    (blanks > 0).then_some(from + blanks)
}

/// `#5`, `group/project#5`, `[issue:5]`, an address, or the key of another tracker (`ABC-5`).
fn is_reference(text: &str) -> bool {
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    word.split('#').skip(1).any(is_number)
        || word.contains("://")
        || word
            .split_once(':')
            .is_some_and(|(kind, _)| matches!(kind, "[issue" | "[work_item" | "[epic"))
        || word.split_once('-').is_some_and(|(key, number)| {
            key.starts_with(|c: char| c.is_ascii_uppercase()) && is_number(number)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_close_an_issue_looks_the_same_and_closes_none() {
        for text in [
            "Closes #5",
            "closes: #5",
            "it FIXED   issue #5, #6 and #7",
            "Resolves issues group/project#5",
            "implements ABC-5",
            "Fixing https://gitlab.example.com/a/b/-/issues/5 now",
            "(fix #5)",
            "closes\u{301}? closes #5",
            "Closes [issue:5]",
            "closes [issue:group/project/5]",
            "Fixes [work_item:5]",
            "\u{b2}Closes #5",
            "\u{2460}Fix #5",
            "it discloses #5",
        ] {
            let harmless = without_closing(text);
            assert_ne!(harmless, text);
            assert_eq!(harmless.replace(UNBROKEN, " "), text);
            assert_eq!(closing(&harmless), None, "{harmless}");
            assert_eq!(without_closing(&harmless), harmless);
        }
        assert_eq!(
            without_closing("Closes #5, closes #6"),
            "Closes\u{a0}#5, closes\u{a0}#6"
        );
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "",
            "Fix the retry",
            "Closes the door of room # 5",
            "closest #5",
            "close_ #5",
            "Closes#5",
            "Closes\n#5",
            "fix utf-8",
            "See #5",
            "Fix: the heading \"# 1\"",
        ] {
            assert_eq!(without_closing(text), text);
        }
    }
}

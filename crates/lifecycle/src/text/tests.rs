//! Cutting keeps characters whole, and what is cut or left open does not swallow what follows.

use super::*;

#[test]
fn bytes_are_cut_at_a_character() {
    let cases = [
        ("short", 10, "short"),
        ("exact", 5, "exact"),
        ("longer", 5, "lo…"),
        ("äöü", 5, "ä…"),
        ("äöü", 4, "…"),
        ("äöü", 3, "…"),
        ("äöü", 2, ""),
        ("", 0, ""),
        ("🚀🚀", 7, "🚀…"),
    ];
    for (text, max, expected) in cases {
        assert_eq!(cut_bytes(text, max), expected, "{text} to {max}");
        assert!(cut_bytes(text, max).len() <= max);
    }
}

#[test]
fn characters_are_counted_not_bytes() {
    let cases = [
        ("äöü", 3, "äöü"),
        ("äöüß", 3, "äö…"),
        ("🚀🚀", 1, "…"),
        ("ab", 0, ""),
        ("", 0, ""),
    ];
    for (text, max, expected) in cases {
        assert_eq!(cut_chars(text, max), expected, "{text} to {max}");
    }
}

#[test]
fn white_space_and_control_characters_become_one_blank() {
    assert_eq!(one_line("  a\r\n\tb\u{0}\u{85}c\u{2028}d  "), "a b c d");
    assert_eq!(one_line("\n\n"), "");
}

#[test]
fn what_is_open_is_closed() {
    let cases = [
        ("nothing special", "nothing special"),
        ("```\nwhole\n```", "```\nwhole\n```"),
        ("```rust\nopen", "```rust\nopen\n```"),
        ("~~~~\nopen\n~~~", "~~~~\nopen\n~~~\n~~~~"),
        ("```\n~~~\nopen", "```\n~~~\nopen\n```"),
        ("`` ` `` in a line", "`` ` `` in a line"),
        ("```one line``` of code", "```one line``` of code"),
        ("    ```\nindented code", "    ```\nindented code"),
        ("<!-- whole -->", "<!-- whole -->"),
        ("a <!-- open", "a ‹!-- open"),
        ("<!--> one", "‹!--> one"),
        ("<!-- one <!-- two", "‹!-- one ‹!-- two"),
        (
            "<!-- whole --> <!-- one <!-- two",
            "<!-- whole --> ‹!-- one ‹!-- two",
        ),
        ("<details>open", "<details>open\n</details>"),
        ("<details>whole</details>", "<details>whole</details>"),
    ];
    for (text, expected) in cases {
        assert_eq!(fit_markdown(text, 1000, " (cut)"), expected, "{text}");
    }
}

#[test]
fn markdown_is_cut_with_a_note_and_closed() {
    let long = format!("before\n\n```\n{}\n```\n\nafter", "code\n".repeat(100));
    let cut = fit_markdown(&long, 200, "\n\n(cut)");
    assert!(cut.ends_with("…\n```\n\n(cut)"), "{cut}");
    assert!(cut.chars().count() <= 200);
    // Hostile openings are closed only so far: the limit holds.
    for hostile in [
        "<details>",
        "```\n",
        "~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n",
        "<!--",
        "ä",
    ] {
        let cut = fit_markdown(&hostile.repeat(1000), 500, "\n\n(cut)");
        assert!(
            cut.ends_with("(cut)") && cut.chars().count() <= 500,
            "{cut}"
        );
    }
}

#[test]
fn json_is_one_line_to_every_reader() {
    let text = "a\nb\u{85}c\u{2028}d\u{202e}e\u{7f}f\u{e0041}g\"é日";
    let line = json_line(&text.into());
    assert_eq!(
        line,
        r#""a\nb\u0085c\u2028d\u202ee\u007ff\udb40\udc41g\"é日""#
    );
    assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
}

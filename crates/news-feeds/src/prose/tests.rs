use super::*;

fn html(text: &str, expected: &str) {
    assert_eq!(line(text, Format::Html), expected, "{text}");
}

fn plain(text: &str, expected: &str) {
    assert_eq!(line(text, Format::Plain), expected, "{text}");
}

#[test]
fn blocks_separate_words_and_inline_elements_do_not() {
    html("<p>one</p><p>two</p>", "one two");
    html("un<b>believ</b>able<br>day", "unbelievable day");
    html("<ul><li>a</li><li>b</li></ul><td>c</td>d", "a b c d");
    html(
        "H<sub>2</sub>O <IMG src='x.png'>and <a href=\"/x?a>b\">a link</a>.",
        "H2O and a link.",
    );
    html("<custom-tag>kept</custom-tag> text", "kept text");
}

#[test]
fn what_is_not_text_goes_with_its_content() {
    html("a<script>if (a < b) { x('</p>') }</script>b", "a b");
    html(
        "<style>p { color: red }</STYLE>text<!-- a > comment -->!",
        "text!",
    );
    html("<iframe src='x'>no frames</iframe>text", "text");
    html("<math><mi>E</mi>=<mi>m</mi></math> holds", "E=m holds");
    html(
        "an excerpt that is <a href=\"https://example.org/cut",
        "an excerpt that is",
    );
}

#[test]
fn entities_are_read_once_more_when_they_were_escaped_twice() {
    html("Fish &amp; chips", "Fish & chips");
    html("Fish &amp;amp; chips", "Fish & chips");
    html("&lt;p&gt;escaped &amp;eacute;&lt;/p&gt;", "escaped é");
    html(
        "It&#39;s &#8220;so&#8221; &#x2026; &#146;90s&#8217 &nbsp;",
        "It's “so” … ’90s’",
    );
    html(
        "&unknown; & &; &#; &#x; &#xzz; a&b AT&T",
        "&unknown; & &; &#; &#x; &#xzz; a&b AT&T",
    );
    html(
        "&#0;&#8;&#xD800;&#x110000;&#99999999999;x",
        "\u{fffd}\u{fffd}\u{fffd}x",
    );
}

#[test]
fn words_in_angle_brackets_stay() {
    html(
        "Vec<T> and HashMap<String, Vec<u8>>",
        "Vec<T> and HashMap<String, Vec<u8>>",
    );
    html("1 < 2 > 0 <3 a<b", "1 < 2 > 0 <3 a<b");
    html("the <script> tag", "the <script> tag");
    html("mail <me@example.org>", "mail <me@example.org>");
    plain(
        "the <canvas> and the <b> tag",
        "the <canvas> and the <b> tag",
    );
    plain("a &lt; b &amp; c", "a < b & c");
    plain("<b>sloppy</b> &lt;i&gt;text&lt;/i&gt;", "sloppy text");
    plain(
        "line one\n  line\ttwo\u{a0}\u{3000}end ",
        "line one line two end",
    );
}

#[test]
fn characters_that_act_are_dropped() {
    html("\u{1b}[31mred\u{7}\u{202e}evil\u{2066}", "[31mredevil");
    html(
        "soft\u{ad}hyphen zero\u{200b}width \u{feff}mark",
        "softhyphen zerowidth mark",
    );
    html("क्\u{200d}ष stays joined", "क्\u{200d}ष stays joined");
}

#[test]
fn long_texts_end_in_an_ellipsis_at_a_word() {
    assert_eq!(capped("short".to_owned(), 5), "short");
    assert_eq!(capped("two words".to_owned(), 6), "two…");
    assert_eq!(capped("éééééééé".to_owned(), 4), "ééé…");
    let long = "word ".repeat(1000);
    let cut = capped(long, 100);
    assert!(
        cut.ends_with("word…") && cut.chars().count() <= 100,
        "{cut}"
    );
}

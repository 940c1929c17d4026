use super::*;

#[test]
fn every_name_of_the_table_is_found() {
    let names: Vec<&str> = NAMES.split(' ').collect();
    assert!(names.is_sorted_by(|a, b| a.split(':').next() < b.split(':').next()));
    assert!(names.len() > 250);
    for entry in names {
        let (name, code) = entry.split_once(':').unwrap();
        let code = u32::from_str_radix(code, 16).unwrap();
        assert_eq!(named(name), char::from_u32(code), "{name}");
        assert!(name.len() < LONGEST, "{name}");
    }
    for name in ["", "A", "zzz", "nbs", "nbspx", "amp:", " "] {
        assert_eq!(named(name), None, "{name}");
    }
}

#[test]
fn xml_needs_the_semicolon_and_html_does_not_always() {
    let read = |text: &str, lenient| {
        let mut out = String::new();
        decode_into(&mut out, text, lenient);
        out
    };
    assert_eq!(read("?a=1&lt=2&amp;b&copy=3", false), "?a=1&lt=2&b&copy=3");
    assert_eq!(
        read("?a=1&lt=2&amp b &#65 &copy", true),
        "?a=1&lt=2& b A &copy"
    );
    assert_eq!(read("&#65 &#x41", false), "&#65 &#x41");
    assert_eq!(read("&#x0000000041; &#128; &euro;", false), "A € €");
}

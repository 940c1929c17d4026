use super::Hasher;

/// Bit by bit, as RFC 1952 describes it.
fn plain(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                (sum >> 1) ^ 0xedb8_8320
            } else {
                sum >> 1
            };
        }
    }
    !sum
}

fn sum(bytes: &[u8]) -> Hasher {
    let mut sum = Hasher::new();
    sum.update(bytes);
    sum
}

fn bytes(length: usize) -> Vec<u8> {
    let next = |state: &mut u32| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    let mut state = 7;
    (0..length).map(|_| next(&mut state)).collect()
}

#[test]
fn sums_are_those_of_the_plain_way_at_every_length() {
    let bytes = bytes(300);
    for length in 0..=bytes.len() {
        assert_eq!(
            sum(&bytes[..length]).finalize(),
            plain(&bytes[..length]),
            "{length}"
        );
    }
}

#[test]
fn pieces_give_the_sum_of_the_whole() {
    let bytes = bytes(200);
    for cut in 0..=bytes.len() {
        let (first, second) = bytes.split_at(cut);
        let mut fed = sum(first);
        fed.update(second);
        assert_eq!(fed.finalize(), plain(&bytes), "{cut}");
        let mut joined = sum(first);
        joined.combine(&sum(second));
        assert_eq!(joined.finalize(), plain(&bytes), "{cut}");
    }
}

#[test]
fn a_reset_sum_is_new() {
    let mut reset = sum(b"before");
    reset.reset();
    reset.update(b"123456789");
    assert_eq!(reset.finalize(), 0xcbf4_3926);
}

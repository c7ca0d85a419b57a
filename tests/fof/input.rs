//! What is refused, and with which messages.

use crate::fof_oracle::{find, rules};
use inselberg::fof::{FofError, LinkingRules, Particles, Role};
use inselberg::particles::{Ids, Masses, Positions};

fn some(list: &[[f64; 3]]) -> Particles {
    Particles::plain(Positions::Double(list.to_vec()))
}

fn refusal(particles: &Particles, rules: &LinkingRules) -> String {
    find(particles, rules).expect_err("refused").to_string()
}

const BOX: Option<[f64; 3]> = Some([1.0, 2.0, 3.0]);

#[test]
fn lengths() {
    let two = some(&[[0.1; 3], [0.2; 3]]);
    for length in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = refusal(&two, &rules(length, 1, BOX));
        assert!(text.contains(&format!("the linking length is {length}; expected a positive")), "{text}");
    }
    let text = refusal(&two, &rules(0.5001, 1, BOX));
    assert!(text.contains("0.5001") && text.contains("half the shortest side of the box, 0.5"), "{text}");
    assert!(find(&two, &rules(0.5, 1, BOX)).is_ok());
    let text = refusal(&two, &rules(1e-11, 1, BOX));
    assert!(text.contains("expected at least"), "{text}");
    // Far below and far above the mean distance.
    for (length, n) in [(1e-9, 2), (0.17, 2), (0.1735, 1), (1e9, 1)] {
        assert_eq!(find(&two, &rules(length, 1, None)).expect("found").groups.len(), n, "{length}");
    }
    assert!(matches!(find(&two, &rules(0.1, 0, BOX)), Err(FofError::MinSize)));
    for side in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(find(&two, &rules(0.1, 1, Some([1.0, side, 1.0]))), Err(FofError::Sides(_))));
    }
}

#[test]
fn places() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
        for sides in [None, BOX] {
            let text = refusal(&some(&[[0.5; 3], [0.5, bad, 0.5]]), &rules(0.1, 1, sides));
            assert!(text.contains("particle 1 is") && text.contains("finite"), "{text}");
        }
    }
    for bad in [-0.001, 1.001] {
        let text = refusal(&some(&[[0.5; 3], [0.5; 3], [bad, 0.5, 0.5]]), &rules(0.1, 1, BOX));
        assert!(text.contains("particle 2 is at") && text.contains("[1.0, 2.0, 3.0]"), "{text}");
    }
    // A side and what rounds to it are 0.
    let at_side = some(&[[1.0, 2.0, 3.0], [0.0; 3], [1.0 + 1e-8, -1e-9, 0.0]]);
    assert_eq!(find(&at_side, &rules(1e-3, 1, BOX)).expect("found").groups.size, [3]);
    assert_eq!(find(&some(&[]), &rules(0.1, 1, BOX)).expect("none").groups.n_total, 0);
}

#[test]
fn columns() {
    let plain = some(&[[0.1; 3], [0.2; 3]]);
    let rules = rules(0.1, 1, BOX);
    let short = Particles { mass: Masses::Each(vec![1.0]), ..plain.clone() };
    assert_eq!(
        refusal(&short, &rules),
        "the column of masses has 1 entries; expected one for each of 2 particles"
    );
    let short = Particles { role: Some(vec![Role::Linkable; 3]), ..plain.clone() };
    assert!(refusal(&short, &rules).contains("roles has 3 entries"));
    let heavy = Particles { mass: Masses::Each(vec![1.0, f64::NAN]), ..plain.clone() };
    assert!(refusal(&heavy, &rules).contains("the mass of particle 1 is NaN"));
    let fast = Particles { velocity: Some(vec![[0.0; 3], [0.0, f32::INFINITY, 0.0]]), ..plain.clone() };
    assert!(refusal(&fast, &rules).contains("the velocity of particle 1 is inf"));
    for ids in [vec![5, 5], vec![u64::MAX, u64::MAX]] {
        let twice = Particles { id: Ids::Each(ids.clone()), ..plain.clone() };
        assert_eq!(find(&twice, &rules), Err(FofError::SameId(ids[0])));
    }
    let far = Particles { id: Ids::Each(vec![0, u64::MAX]), ..plain };
    assert_eq!(find(&far, &rules).expect("found").groups.lowest_id, [0, u64::MAX]);
}

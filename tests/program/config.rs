//! Configuration: one table behind help, file and reference; flags take precedence; bad values are named.

use inselberg::Linking;
use inselberg::phew::Rules;
use inselberg::phew::defaults;
use inselberg::phew::params::{FieldChoice, Persistence};
use inselberg::{BoundRequest, PotentialChoice, PropertyChoice};
use inselberg_cli::config::{
    COMMANDS, Command, CommandJob, ConfigError, FofJob, Job, OPTIONS, OptionKind, PhewJob, RawConfig,
    RawValue, check, options_of, parameters_markdown, parameters_python, reference_toml,
};
use std::path::Path;
use std::time::Duration;

fn raw(command: Command, toml: &str, flags: &[(&str, &str)]) -> Result<RawConfig, ConfigError> {
    let mut raw = RawConfig::new(command);
    raw.read_text(Path::new("run.toml"), toml)?;
    for (name, text) in flags {
        raw.set_flag(raw.option(name), text)?;
    }
    Ok(raw)
}

fn job(toml: &str, flags: &[(&str, &str)]) -> Result<Job, ConfigError> {
    check(&raw(Command::Phew, toml, flags)?)
}

const WHOLE: &str = "[phew]\ninput = 'in'\noutput = 'out.hdf5'\ndensity_threshold = 80\n";

#[test]
fn the_reference_file_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/reference.toml");
    let committed = std::fs::read_to_string(path).expect("the reference file");
    let hint = "run: inselberg options --reference > configs/reference.toml";
    assert!(committed == reference_toml(), "configs/reference.toml is not up to date; {hint}");
}

#[test]
fn printed_parameters_are_what_the_library_declares() {
    for (path, flag, printed) in [
        ("docs/parameters.md", "--markdown", parameters_markdown()),
        ("python/inselberg/_parameters.py", "--python", parameters_python()),
    ] {
        let committed =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect(path);
        assert!(committed == printed, "{path} is not up to date; run: inselberg options {flag} > {path}");
    }
}

#[test]
fn every_option_is_in_the_reference_and_every_line_of_it_is_accepted() {
    let reference = reference_toml();
    for opt in OPTIONS.iter().filter(|o| !o.key.is_empty()) {
        assert!(reference.contains(&format!("\n#{} = ", opt.key)), "{}", opt.name);
        assert!(reference.contains(&format!("# {}: {}.", opt.label(), opt.help)), "{}", opt.name);
    }
    let live: String = reference
        .lines()
        .map(|l| l.strip_prefix('#').filter(|l| !l.starts_with(' ')).unwrap_or(l))
        .fold(String::new(), |text, line| text + line + "\n");
    for info in COMMANDS {
        raw(info.command, &live, &[]).unwrap_or_else(|e| panic!("{}: {e}", info.table));
    }
}

#[test]
fn a_table_is_for_its_own_command() {
    let shared =
        |command, name: &str, toml: &str| raw(command, toml, &[]).expect("sound").get(name).map(|v| v.0);
    let output = shared(Command::Recut, "output", "[phew]\noutput = 'phew.hdf5'\n");
    assert_eq!(output, None, "recut must not replace the catalogue of phew");
    let both = "[fof]\nranks = 2\n[phew]\nranks = 4\n[scaling.fof]\nsimulate = '8..16'\n[scaling.phew]\nsimulate = '32..64'\n";
    assert_eq!(shared(Command::Fof, "ranks", both), Some(RawValue::Count(2)));
    assert_eq!(shared(Command::Phew, "ranks", both), Some(RawValue::Count(4)));
    assert_eq!(shared(Command::ScalingFof, "simulate", both), Some(RawValue::Text("8..16".into())));
    assert_eq!(shared(Command::ScalingPhew, "simulate", both), Some(RawValue::Text("32..64".into())));
}

#[test]
fn the_example_files_are_accepted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the examples").flatten() {
        if entry.path().extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(entry.path()).expect("readable");
            raw(Command::Phew, &text, &[]).unwrap_or_else(|e| panic!("{:?}: {e}", entry.path()));
            seen += 1;
        }
    }
    assert!(seen >= 2);
}

#[test]
fn rows_of_the_table_do_not_clash() {
    for info in COMMANDS {
        let rows: Vec<_> = options_of(info.command).collect();
        for (i, a) in rows.iter().enumerate() {
            for b in &rows[..i] {
                assert!(a.name != b.name && (a.key.is_empty() || a.key != b.key), "{}", a.name);
                assert!(a.short.is_none() || a.short != b.short, "{}", a.name);
            }
            assert!(!a.help.ends_with('.') && a.help.len() <= 90, "{}: {}", a.name, a.help);
        }
    }
    for opt in OPTIONS.iter().filter(|o| !o.positional && !o.key.is_empty()) {
        assert_eq!(opt.key, opt.name.replace('-', "_"));
        assert!(!OPTIONS.iter().any(|o| o.key == opt.alias && !opt.alias.is_empty()), "{}", opt.alias);
        let flag = matches!(opt.kind, OptionKind::Flag);
        assert!(flag != (opt.default.is_empty() != opt.example.is_empty()), "{}", opt.name);
    }
}

/// The job of the first snapshot.
fn first_of(job: Job) -> PhewJob {
    let CommandJob::Phew(series) = job.work else { panic!("phew") };
    series.jobs[0].clone()
}

fn phew(toml: &str, flags: &[(&str, &str)]) -> PhewJob {
    first_of(job(toml, flags).expect("whole"))
}

#[test]
fn defaults_are_the_documented_ones() {
    let phew = phew(WHOLE, &[]);
    assert_eq!((phew.phew.density, phew.phew.persistence, phew.phew.saddle), (Some(80.0), None, None));
    assert_eq!(phew.phew.mass, 0.0);
    assert_eq!((phew.field, phew.phew.rules), (FieldChoice::Auto, Rules::Paper));
    assert_eq!((phew.launch.ranks.get(), phew.launch.stall_timeout), (1, Some(Duration::from_secs(600))));
    assert!(!phew.launch.diagnostics);
}

#[test]
fn ranks_and_how_long_they_wait_are_options_like_any_other() {
    let toml = format!("{WHOLE}ranks = 3\nstall_timeout = 0\ndiagnostics = true\n");
    let of_five = phew(&toml, &[("ranks", "5")]);
    assert_eq!(
        (of_five.launch.ranks.get(), of_five.launch.stall_timeout, of_five.launch.diagnostics),
        (5, None, true)
    );
    assert_eq!(
        phew(WHOLE, &[("stall-timeout", "0.5")]).launch.stall_timeout,
        Some(Duration::from_millis(500))
    );
}

#[test]
fn flags_win_over_the_file_and_the_file_over_defaults() {
    let toml = format!("threads = 3\n{WHOLE}relevance_threshold = 4\ncompat = 'ramses'\nfield = 'cic'\n");
    let job = job(&toml, &[("relevance-threshold", "5"), ("field", "pressure")]).expect("whole");
    assert_eq!(job.common.threads.map(usize::from), Some(3));
    let phew = first_of(job);
    assert_eq!(phew.phew.persistence, Some(Persistence::Ratio(5.0)));
    assert_eq!(phew.phew.rules, Rules::Ramses);
    assert_eq!(phew.field, FieldChoice::Named("pressure".into()));
}

#[test]
fn a_relevance_is_a_ratio_or_a_difference() {
    let persistence = |toml: &str, flags: &[(&str, &str)]| -> Result<Persistence, String> {
        match job(toml, flags).map_err(|error| error.to_string())?.work {
            CommandJob::Phew(series) => {
                Ok(series.jobs[0].phew.persistence.unwrap_or(Persistence::Ratio(3.0)))
            }
            _ => panic!("phew"),
        }
    };
    let refused = |toml: &str, flags: &[(&str, &str)], part: &str| {
        let said = persistence(toml, flags).expect_err(part);
        assert!(said.contains(part), "{said}");
    };
    let file = format!("{WHOLE}relevance_difference = 1.5\n");
    assert_eq!(persistence(&file, &[]), Ok(Persistence::Difference(1.5)));
    assert_eq!(persistence(&file, &[("relevance-threshold", "4")]), Ok(Persistence::Ratio(4.0)));
    assert_eq!(persistence(WHOLE, &[("relevance-difference", "0")]), Ok(Persistence::Difference(0.0)));
    let both = "expected one of --relevance-difference and --relevance-threshold";
    refused(WHOLE, &[("relevance-difference", "2"), ("relevance-threshold", "3")], both);
    refused(&format!("{file}relevance_threshold = 3\n"), &[], both);
    refused(&file, &[("compat", "ramses")], "--relevance-threshold with --compat ramses");
    refused(WHOLE, &[("relevance-difference", "-1")], "a finite difference, 0 or more");
}

#[test]
fn a_relevance_of_haloes_takes_the_place_of_a_saddle_threshold() {
    let thresholds = |toml: &str, flags: &[(&str, &str)]| match job(toml, flags)
        .map_err(|error| error.to_string())?
        .work
    {
        CommandJob::Phew(series) => {
            let of = series.jobs[0].phew.thresholds();
            Ok((of.saddle, of.halo_relevance))
        }
        _ => panic!("phew"),
    };
    let refused = |toml: &str, flags: &[(&str, &str)], part: &str| {
        let said: String = thresholds(toml, flags).expect_err(part);
        assert!(said.contains(part), "{said}");
    };
    assert_eq!(thresholds(WHOLE, &[("halo-relevance", "5")]), Ok((None, Some(5.0))));
    let file = format!("{WHOLE}saddle_threshold = 200\n");
    assert_eq!(thresholds(&file, &[("halo-relevance", "5")]), Ok((None, Some(5.0))));
    let both = [("halo-relevance", "5"), ("saddle-threshold", "200")];
    refused(WHOLE, &both, "expected one of --halo-relevance and --saddle-threshold");
    refused(
        WHOLE,
        &[("halo-relevance", "2"), ("relevance-threshold", "3")],
        "`2` for halo-relevance; expected at least 3",
    );
    refused(
        WHOLE,
        &[("halo-relevance", "5"), ("compat", "ramses")],
        "--saddle-threshold with --compat ramses",
    );
    refused(WHOLE, &[("halo-relevance", "-1")], "a finite relevance, 0 or more");
}

/// The error of a file, whole.
fn refuse(toml: &str, expected: &str) {
    let error = job(toml, &[]).expect_err(toml).to_string();
    assert_eq!(error, expected);
}

#[test]
fn errors_of_a_file_name_the_key_the_line_and_what_was_expected() {
    refuse(
        "[phew]\n\ndensty_threshold = 80\n",
        "run.toml:3: unknown key `densty_threshold` in [phew]; did you mean `density_threshold`?",
    );
    refuse("[pew]\n", "run.toml:1: unknown key `pew`; did you mean `phew`?");
    refuse(
        "[phew]\nthreads = 2\n",
        "run.toml:2: unknown key `threads` in [phew]; it belongs at the top of the file, before any [table]",
    );
    refuse("density_threshold = 80\n", "run.toml:1: unknown key `density_threshold`; it belongs in [phew]");
    refuse(
        "[phew]\ncolour = 'red'\n",
        "run.toml:2: unknown key `colour` in [phew]; configs/reference.toml lists every key",
    );
    refuse("[recut]\ncompat = 1\n", "run.toml:2: unknown key `compat` in [recut]; it belongs in [phew]");
    refuse(
        "[phew]\ndensity_threshold = 'high'\n",
        "run.toml:2: `high` for density-threshold; expected a number, or one with a unit as in 200crit, 1e-25g/cm3 or 30kpc",
    );
    refuse("[phew]\ncompat = 'gadget'\n", "run.toml:2: `gadget` for compat; expected paper or ramses");
    refuse("[phew]\nwith_cells = 1\n", "run.toml:2: `1` for with-cells; expected true or false");
    let broken = job("[phew\n", &[]).expect_err("broken").to_string();
    assert!(broken.starts_with("run.toml:1: not valid TOML: ") && !broken.contains('\n'), "{broken}");
}

#[test]
fn thresholds_out_of_range_are_named_wherever_they_come_from() {
    let table = [
        ("density-threshold", "nan"),
        ("density-threshold", "inf"),
        ("density-threshold", "-80"),
        ("relevance-threshold", "nan"),
        ("relevance-threshold", "-inf"),
        ("relevance-threshold", "-1"),
        ("saddle-threshold", "nan"),
        ("saddle-threshold", "0"),
        ("saddle-threshold", "-1"),
        ("saddle-threshold", "79.9"),
        ("mass-threshold", "-1"),
        ("mass-threshold", "inf"),
        ("threads", "0"),
        ("threads", "1e9"),
        ("ranks", "0"),
        ("ranks", "1e5"),
        ("stall-timeout", "-1"),
        ("stall-timeout", "nan"),
        ("stall-timeout", "1e300"),
    ];
    for (name, value) in table {
        let error = job(WHOLE, &[(name, value)]).expect_err(name).to_string();
        assert!(error.starts_with(&format!("--{name}: `")), "{error}");
        assert!(error.contains(&format!("for {name}; expected ")), "{error}");
        if name != "density-threshold" && name != "threads" {
            let toml = format!("{WHOLE}{} = {value}\n", name.replace('-', "_"));
            let error = job(&toml, &[]).expect_err(name).to_string();
            assert!(error.starts_with("run.toml:5: `"), "{error}");
        }
    }
    assert!(job(WHOLE, &[("saddle-threshold", "80")]).is_ok(), "equal thresholds are in order");
}

#[test]
fn what_is_missing_is_named_with_its_flag_and_its_key() {
    let error = job("[phew]\ninput = 'in'\n", &[]).expect_err("no output").to_string();
    let how = "--output or `output` under [phew] of a --config file";
    assert_eq!(error, format!("phew needs an output; give {how}"));
}

#[test]
fn thresholds_that_are_not_given_are_left_to_the_input() {
    let without = "[phew]\ninput = 'in'\noutput = 'out.hdf5'\n";
    let none = phew(without, &[]).phew;
    assert_eq!((none.density, none.persistence, none.saddle), (None, None, None));
    let saddle = phew(without, &[("saddle-threshold", "150")]).phew;
    assert_eq!((saddle.density, saddle.saddle), (None, Some(150.0)));
    let least = defaults::DENSITY.value;
    let low =
        job(without, &[("saddle-threshold", &(0.5 * least).to_string())]).expect_err("too low").to_string();
    assert!(low.contains(&format!("at least the density threshold {least}")), "{low}");
    let options = |flags: &[(&str, &str)]| match job(without, flags).expect("whole").work {
        CommandJob::Phew(series) => series.options,
        _ => panic!("phew"),
    };
    // A density threshold alone is a run without the saddle pass, also where it has the value of the default.
    let (plain, given) = (options(&[]), options(&[("density-threshold", defaults::DENSITY.text)]));
    assert!(
        plain.contains("--saddle-threshold") && !given.contains("--saddle-threshold"),
        "{plain} / {given}"
    );
}

fn fof(toml: &str, flags: &[(&str, &str)]) -> Result<FofJob, String> {
    let raw = raw(Command::Fof, toml, flags).map_err(|e| e.to_string())?;
    match check(&raw).map_err(|e| e.to_string())?.work {
        CommandJob::Fof(series) => Ok(series.jobs[0].clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_of_a_snapshot_are_one_of_a_series() {
    let files = "['s_1.10.hdf5', 's_1.2.hdf5', 's_2.0.hdf5']";
    let toml = format!("[fof]\ninput = {files}\noutput = 'f_{{number}}.hdf5'\n");
    let raw = raw(Command::Fof, &toml, &[]).expect("sound");
    let CommandJob::Fof(series) = check(&raw).expect("sound").work else { panic!("fof") };
    let inputs: Vec<Vec<&str>> =
        series.jobs.iter().map(|job| job.inputs.iter().filter_map(|path| path.to_str()).collect()).collect();
    assert_eq!(inputs, [vec!["s_1.2.hdf5", "s_1.10.hdf5"], vec!["s_2.0.hdf5"]]);
    let results: Vec<_> = series.jobs.iter().filter_map(|job| job.output.as_deref()).collect();
    assert_eq!(results, [Path::new("f_1.hdf5"), Path::new("f_2.hdf5")]);
    // As before, several files with one result are one snapshot.
    let plain = toml.replace("{number}", "all");
    assert_eq!(fof(&plain, &[]).expect("sound").inputs.len(), 3);
}

const FOF: &str = "[fof]\ninput = ['a.0.hdf5', 'a.1.hdf5']\noutput = 'fof.hdf5'\n";

#[test]
fn the_search_for_groups_is_asked_for_as_in_swift() {
    let plain = fof(FOF, &[]).expect("whole");
    assert_eq!(plain.inputs.len(), 2);
    assert_eq!(plain.fof.linking, Linking::Ratio(0.2));
    assert_eq!((plain.fof.min_size, plain.fof.id_of_none, plain.fof.first_id), (20, 2_147_483_647, 1));
    assert_eq!(plain.types.linking, [1]);
    assert_eq!(plain.types.attached(), [0, 4, 5]);
    let text = "min_group_size = 32\nlinking_types = [1, 1, 0, 0, 0, 0, 0]\nlinking_length_ratio = 0.3\n\
                absolute_linking_length = -1\ngroup_id_default = 7\ngroup_id_offset = 100\n\
                seed_black_holes_enabled = true\nblack_hole_seed_halo_mass_Msun = 1.5e10\n";
    let swift = fof(&format!("{FOF}{text}"), &[]).expect("whole");
    assert_eq!(swift.fof.linking, Linking::Ratio(0.3));
    assert_eq!((swift.fof.min_size, swift.fof.id_of_none, swift.fof.first_id), (32, 7, 100));
    assert_eq!(swift.fof.seed_mass, Some(1.5e10));
    assert_eq!(swift.types.attached(), [4, 5], "gas links");
    let flags = fof(&format!("{FOF}{text}"), &[("linking-length", "0.5"), ("min-size", "2")]).expect("whole");
    assert_eq!((flags.fof.linking, flags.fof.min_size), (Linking::Length(0.5), 2));
    let named = fof("[fof]\ninput = 'a.npy'\nbasename = 'out/fof'\n", &[]).expect("whole");
    assert_eq!(named.output.expect("a name"), Path::new("out/fof_0000.hdf5"));
}

#[test]
fn properties_of_groups_are_words() {
    let bound = |flags: &[(&str, &str)]| fof(FOF, flags).map(|job| (job.fof.bound, job.fof.softening));
    let none = BoundRequest::default();
    assert_eq!(bound(&[]), Ok((none, None)));
    let spheres = BoundRequest { properties: PropertyChoice::Spheres, ..none };
    assert_eq!(bound(&[("properties", "so")]), Ok((spheres, None)));
    let all = BoundRequest {
        unbind: true,
        potential: PotentialChoice::Spherical,
        properties: PropertyChoice::All,
        with_members: true,
        ..none
    };
    let flags = [("properties", "so,bound"), ("potential", "spherical"), ("with-members", "true")];
    assert_eq!(bound(&[&flags[..], &[("softening", "0.5")]].concat()), Ok((all, Some(0.5))));
    let of_file = fof(&format!("{FOF}properties = 'basic'\n"), &[]).expect("whole").fof.bound;
    assert_eq!(of_file, BoundRequest { unbind: true, ..none });
    for (flags, expected) in [
        (&[("properties", "few")][..], "expected words out of basic, bound, so and all"),
        (&[("properties", "so,gas")], "expected words out of basic, bound, so and all"),
        (&[("properties", "so"), ("with-members", "true")], "expected --properties basic, bound or all"),
        (&[("properties", "so"), ("softening", "0.5")], "expected --properties basic, bound or all"),
        (&[("properties", "bound"), ("softening", "0")], "expected a finite length above 0"),
    ] {
        let error = bound(flags).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
    let error =
        fof("[fof]\ninput = 'a.npy'\ngroup_ids = 'ids.csv'\nproperties = 'so'\n", &[]).expect_err("alone");
    assert!(error.contains("expected --output, --soap, --yt or --vtk as well"), "{error}");
}

#[test]
fn properties_of_clumps_are_words() {
    let bound = |text: &str| match job(&format!("{WHOLE}unbind = true\nproperties = '{text}'\n"), &[]) {
        Ok(Job { work: CommandJob::Phew(series), .. }) => Ok(series.jobs[0].phew.bound.properties),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    };
    assert_eq!(bound("basic"), Ok(PropertyChoice::Basic));
    assert_eq!(bound("bound"), Ok(PropertyChoice::Bound));
    assert_eq!(bound("so"), Ok(PropertyChoice::Spheres));
    assert_eq!(bound("all"), Ok(PropertyChoice::All));
    assert!(bound("some").expect_err("a word").contains("expected words out of basic"));
    let flags = |flags: &[(&str, &str)]| match job(WHOLE, flags) {
        Ok(Job { work: CommandJob::Phew(series), .. }) => Ok(series.jobs[0].phew.bound),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    };
    let gas = BoundRequest { gas: true, ..BoundRequest::default() };
    assert_eq!(flags(&[("properties", "gas")]), Ok(gas));
    let given = BoundRequest { adiabatic_index: Some(1.4), ..gas };
    assert_eq!(flags(&[("properties", "gas"), ("gamma", "1.4")]), Ok(given));
    let both = BoundRequest { unbind: true, properties: PropertyChoice::Spheres, ..gas };
    assert_eq!(flags(&[("unbind", "true"), ("properties", "gas,so")]), Ok(both));
    for (given, expected) in [
        (&[("properties", "so")][..], "expected --unbind as well, or gas alone"),
        (&[("properties", "gas,bound")], "expected --unbind as well, or gas alone"),
        (&[("properties", "gas"), ("mesh-from-particles", "true")], "expected the gas cells of an output"),
        (&[("gamma", "1.4")], "expected --unbind or --properties gas as well"),
        (&[("properties", "gas"), ("gamma", "1")], "expected a finite number above 1"),
    ] {
        let error = flags(given).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_no_search_for_groups_can_be_is_named() {
    let table = [
        ("linking_length = 0", "linking-length", "a finite length above 0"),
        ("linking_length = nan", "linking-length", "a finite length above 0"),
        ("linking_length = -2", "linking-length", "a finite length above 0"),
        ("linking_ratio = 0", "linking-ratio", "a finite ratio above 0"),
        ("linking_length_ratio = inf", "linking-ratio", "a finite ratio above 0"),
        ("min_size = 0", "min-size", "1 or more"),
        ("box = -1", "box", "a finite side above 0"),
        ("linking_types = [0, 1]", "linking-types", "7 times 0 or 1"),
        ("linking_types = [0, 2, 0, 0, 0, 0, 0]", "linking-types", "7 times 0 or 1"),
        ("linking_types = [0, 0, 0, 0, 0, 0, 0]", "linking-types", "at least one kind"),
        (
            "attaching_types = [0, 1, 0, 0, 0, 0, 0]",
            "attaching-types",
            "dark matter either linking or attaching",
        ),
        ("input = []", "input", "one or several paths"),
        ("seed_black_holes = 1", "seed-black-holes", "true or false"),
        ("group_id_default = 1e19", "group-id-default", "a whole number"),
    ];
    for (line, name, expected) in table {
        let error =
            fof(&format!("[fof]\n{line}\n"), &[("input", "a.npy"), ("output", "f.csv")]).expect_err(line);
        assert!(error.contains(&format!("for {name}; expected {expected}")), "{error}");
    }
    let twice = format!("{FOF}min_size = 3\nmin_group_size = 3\n");
    let error = fof(&twice, &[]).expect_err("twice");
    assert!(error.contains("one of `min_size` and `min_group_size`, which are the same"), "{error}");
    for (toml, part) in [
        ("[fof]\noutput = 'f.csv'\n", "fof needs an input"),
        ("[fof]\ninput = 'a.npy'\n", "fof needs an output"),
        ("[fof]\ninput = 'a.npy'\noutput = 'f.csv'\nseed_black_holes = true\n", "a black hole seed mass"),
    ] {
        let error = fof(toml, &[]).expect_err(part);
        assert!(error.contains(part), "{error}");
    }
}

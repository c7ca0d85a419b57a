//! Octs and particles in memory as a snapshot, over any number of pieces.

use super::meshes::Field;
use super::random::Random;
use inselberg::field::LevelOcts;
use inselberg_io::{Every, Family, FieldInfo, Header, OctBlock, ParticleBlock, ReadResult, Snapshot, Units};
use inselberg_kernels::geom::Domain;

/// Fields: `density` as given, `other` a function of the place.
pub struct Boxed {
    pub header: Header,
    pub fields: Vec<FieldInfo>,
    /// Blocks of each piece.
    pub octs: Vec<Vec<OctBlock>>,
    /// Blocks of each piece.
    pub particles: Vec<Vec<ParticleBlock>>,
}

impl Boxed {
    /// A field over `n_pieces`, octs dealt out in small blocks as `random` says.
    pub fn new(field: &Field, n_pieces: usize, random: &mut Random) -> Self {
        Self::of_octs(field.domain, &field.octs(), n_pieces, random)
    }

    pub fn of_octs(domain: Domain, levels: &[LevelOcts], n_pieces: usize, random: &mut Random) -> Self {
        let mut octs = vec![Vec::new(); n_pieces];
        for (level, of_level) in levels.iter().enumerate() {
            let mut at = 0;
            while at < of_level.position.len() {
                let end = (at + 1 + random.below(5)).min(of_level.position.len());
                octs[random.below(n_pieces)].push(block(level as u8, of_level, at..end));
                at = end;
            }
        }
        let fields = ["density", "other"].map(|name| FieldInfo { family: "hydro", name: name.into() });
        let header = Header {
            format: "boxed",
            number: None,
            time: 0.0,
            boxlen: 1.25,
            origin: [0.0; 3],
            coarse: domain.coarse,
            periodic: domain.periodic,
            levelmin: 1,
            levelmax: levels.len() as u8,
            units: Units { length: 1.0, density: 1.0, time: 1.0 },
            cosmology: None,
            n_pieces,
        };
        Self { header, fields: fields.into(), octs, particles: vec![Vec::new(); n_pieces] }
    }

    /// With `n` particles, most in a few heaps, of masses over several powers of ten. The gas is then at
    /// rest.
    pub fn with_particles(mut self, n: usize, random: &mut Random) -> Self {
        let side = self.header.coarse.map(|n| f64::from(n) * self.header.boxlen);
        for name in ["velocity_x", "velocity_y", "velocity_z"] {
            self.fields.push(FieldInfo { family: "hydro", name: name.into() });
            for block in self.octs.iter_mut().flatten() {
                block.values.push(vec![[0.0; 8]; block.position.len()]);
            }
        }
        let heap: [f64; 3] = std::array::from_fn(|_| random.real());
        for id in 0..n {
            let width = if random.below(3) == 0 { 1.0 } else { 0.02 };
            let at = std::array::from_fn(|a| ((heap[a] + width * random.real()) % 1.0) * side[a]);
            let piece = random.below(self.particles.len());
            self.particles[piece].push(ParticleBlock {
                first: id as u64,
                position: vec![at],
                velocity: vec![[0.0; 3]],
                mass: vec![random.real() * 10.0_f64.powi(random.below(6) as i32)],
                id: vec![id as i64],
                family: vec![if random.below(5) == 0 { Family::Star } else { Family::DarkMatter }],
            });
        }
        self
    }
}

fn block(level: u8, octs: &LevelOcts, run: std::ops::Range<usize>) -> OctBlock {
    let position = octs.position[run.clone()].to_vec();
    let other = |p: &[u32; 3]| {
        std::array::from_fn(|i| f64::from(p[0] + 100 * p[1]) + 1e4 * f64::from(p[2]) + i as f64 / 8.0)
    };
    let other = position.iter().map(other).collect();
    OctBlock {
        level,
        split: octs.split[run.clone()].to_vec(),
        values: vec![octs.values[run].to_vec(), other],
        position,
    }
}

impl Snapshot for Boxed {
    fn header(&self) -> &Header {
        &self.header
    }

    fn fields(&self) -> &[FieldInfo] {
        &self.fields
    }

    fn has_particles(&self) -> bool {
        self.particles.iter().any(|p| !p.is_empty())
    }

    fn count_octs(&self, _piece: usize) -> ReadResult<Vec<u64>> {
        Ok(Vec::new())
    }

    fn count_particles(&self, _piece: usize) -> ReadResult<u64> {
        Ok(0)
    }

    fn octs(
        &self,
        piece: usize,
        fields: &[&str],
        sink: &mut dyn FnMut(&OctBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        self.octs[piece].iter().try_for_each(|block| {
            let place = |name: &str| self.fields.iter().position(|f| f.name == name).expect("a field");
            let values = fields.iter().map(|name| block.values[place(name)].clone()).collect();
            sink(&OctBlock { values, ..block.clone() })
        })
    }

    fn particles_of(
        &self,
        piece: usize,
        blocks: Every,
        sink: &mut dyn FnMut(&ParticleBlock) -> ReadResult<()>,
    ) -> ReadResult<()> {
        let mut blocks = blocks.counted();
        self.particles[piece].iter().filter(|_| blocks.next_is_taken()).try_for_each(sink)
    }
}

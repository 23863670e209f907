//! Lists the programs of the library's own tests, so that none is left out.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/tests/programs/fixtures");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the folder of the programs");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "prog"));
    paths.sort();
    let mut list = String::from("&[\n");
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let _ =
            writeln!(list, "    Fixture {{ name: {name:?}, text: include_str!({:?}) }},", path.display().to_string());
    }
    list.push_str("]\n");
    let out = env::var_os("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("fixtures.rs"), list).expect("the list can be written");
}

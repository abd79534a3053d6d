//! Prints the catalog of a working folder as JSON.
//!
//! Run: `cargo run -p wharf-config --example catalog -- HOME FOLDER`.

use wharf_config::{Env, LoadOptions, Platform, load, view::CatalogView};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let home = arguments.next().ok_or("the home folder is missing")?;
    let folder = arguments.next().ok_or("the working folder is missing")?;
    let env = Env::new(Platform::HOST, folder).with_home(home);
    let catalog = load(&env, LoadOptions::default())?;
    let listing = serde_json::to_string_pretty(&CatalogView::of(&catalog, true))?;
    #[expect(clippy::print_stdout, reason = "an example that shows what it found")]
    {
        println!("{listing}");
    }
    Ok(())
}

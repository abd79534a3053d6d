//! Discovery of config files: finds the files of every program and reads what they define.
//!
//! `path_template` finds the paths, `scan` reads each document once, `budget` limits how much of a
//! project is read. Precedence is decided in `merge`, by the rank of each definition.

mod budget;
mod folders;
mod path_template;
mod scan;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::{self, Notation, ParsedDocument};
use crate::env::Env;
use crate::formats::{self, ConfigFile, FileReader, FileShape, Program};
use crate::problem::Problem;
use crate::server::Definition;
use crate::source::{FilePrecedence, Level, Rank, Source};

pub(crate) use budget::{ReadBudget, is_too_large};
pub(crate) use folders::project_folders;
pub(crate) use folders::repository_root;
#[cfg(feature = "discovery")]
pub(crate) use path_template::paths;
use path_template::{FileId, FolderListings};
pub(crate) use path_template::{RELATIVE_FOLDER, relative_folder_problems};
#[cfg(feature = "discovery")]
pub(crate) use scan::notation_of;
pub(crate) use scan::{Documents, Scan};

/// All definitions and problems found in the files of this machine, unsorted.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    pub(crate) definitions: Vec<Definition>,
    pub(crate) problems: Vec<Problem>,
    /// Every file that exists, whatever it contains.
    pub(crate) files: Vec<Arc<Source>>,
    /// The documents that a later stage may read again.
    pub(crate) documents: Documents,
}

/// A file that exists, with its rank.
struct LocatedFile {
    program: &'static Program,
    file: &'static ConfigFile,
    path: PathBuf,
    /// Identifies the file independently of its path; `None` for a variable.
    id: Option<FileId>,
    folder: Arc<PathBuf>,
    rank: Rank,
}

/// Which files are read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DiscoveryScope<'a> {
    /// Whether project files are read at all.
    pub(crate) with_projects: bool,
    /// Programs whose files are not read.
    pub(crate) disabled_programs: &'a [String],
    /// Programs whose project files are not read.
    pub(crate) programs_disabled_by_project: &'a [String],
}

/// Reads the files of all programs that are not excluded.
pub(crate) fn discover(env: &Env, scope: DiscoveryScope<'_>) -> Discovery {
    let folders = if scope.with_projects { project_folders(env) } else { Vec::new() };
    let mut scan = Scan::new(env, folders);
    let mut found = Discovery::default();
    let mut located: Vec<LocatedFile> = Vec::new();
    let listings = FolderListings::read(env, &scan.folders);
    for (index, program) in formats::PROGRAMS.iter().copied().enumerate() {
        if !scope.disabled_programs.iter().any(|id| id == program.id) {
            locate(&scan, &listings, index, program, &mut located);
        }
    }
    located.retain(|file| {
        let is_named = scope.programs_disabled_by_project.iter().any(|id| id == file.program.id);
        file.file.level != Level::Project || !is_named
    });
    drop_user_files_seen_as_project(&mut located);
    let mut located = located.into_iter().peekable();
    while let Some(program) = located.peek().map(|next| next.program) {
        let mut definitions = Vec::new();
        let first = found.files.len();
        while let Some(file) = located.next_if(|next| next.program.id == program.id) {
            let source = read(&mut scan, file, &mut definitions);
            found.files.push(source);
        }
        (program.finish)(&mut scan, &mut definitions);
        if !program.keeps_documents {
            found.files[first..].iter().for_each(|file| scan.forget(&file.path));
        }
        found.definitions.append(&mut definitions);
    }
    (found.problems, found.documents) = scan.finish();
    found
}

/// Reads servers from a text that is not a file, such as a variable.
pub(crate) fn read_variable(
    env: &Env,
    program: &'static Program,
    name: &str,
    text: &str,
) -> Result<Discovery, document::SyntaxError> {
    let parsed = document::parse(text, Notation::Json)?;
    Ok(read_document(env, program, &formats::VARIABLE, Path::new(name), parsed))
}

/// Reads a document as if it were a file of a program. The file need not exist.
pub(crate) fn read_document(
    env: &Env,
    program: &'static Program,
    file: &'static ConfigFile,
    path: &Path,
    parsed: ParsedDocument,
) -> Discovery {
    let folder = Arc::new(env.cwd.clone());
    let rank = first_rank(program, 0, file.precedence);
    let located = LocatedFile { program, file, path: path.to_owned(), id: None, folder, rank };
    let mut scan = Scan::new(env, project_folders(env));
    let mut found = Discovery::default();
    scan.remember(path, parsed);
    let source = read(&mut scan, located, &mut found.definitions);
    (program.finish)(&mut scan, &mut found.definitions);
    found.files.push(source);
    (found.problems, found.documents) = scan.finish();
    found
}

/// Reads a file that belongs to no program; `None` if it does not exist.
#[cfg(feature = "discovery")]
pub(crate) fn read_file(env: &Env, path: &Path) -> Option<Discovery> {
    let program = formats::program("shared").filter(|_| path.exists())?;
    let mut scan = Scan::new(env, Vec::new());
    let mut found = Discovery::default();
    let file = LocatedFile {
        program,
        file: &formats::ANY_FILE,
        path: path.to_owned(),
        id: None,
        folder: Arc::new(env.cwd.clone()),
        rank: first_rank(program, 0, FilePrecedence::User),
    };
    let source = read(&mut scan, file, &mut found.definitions);
    found.files.push(source);
    (found.problems, found.documents) = scan.finish();
    Some(found)
}

fn first_rank(program: &Program, index: usize, precedence: FilePrecedence) -> Rank {
    Rank {
        priority: Reverse(program.priority),
        program: index,
        precedence,
        distance: 0,
        file: 0,
        found: 0,
        entry: 0,
    }
}

/// Adds the files of a program that exist.
fn locate(
    scan: &Scan<'_>,
    listings: &FolderListings,
    index: usize,
    program: &'static Program,
    located: &mut Vec<LocatedFile>,
) {
    let working_folder = std::slice::from_ref(&scan.working_folder);
    for (file_index, file) in program.files.iter().enumerate() {
        let folders = match file.level {
            Level::Project => scan.folders.as_slice(),
            Level::Program | Level::User | Level::Builtin => working_folder,
            Level::Env if scan.env.nonempty_variable(file.template.linux).is_some() => {
                working_folder
            }
            Level::Env => &[],
        };
        for (distance, folder) in folders.iter().enumerate() {
            let paths: Vec<(PathBuf, Option<FileId>)> = if file.level == Level::Env {
                vec![(PathBuf::from(file.template.linux), None)]
            } else {
                let found =
                    path_template::existing_paths(&file.template, scan.env, folder, listings);
                found.into_iter().map(|(path, id)| (path, Some(id))).collect()
            };
            // Depending on variables, two path templates can lead to the same file.
            let is_new = |path: &PathBuf, located: &[LocatedFile]| {
                !located.iter().any(|own| {
                    own.path == *path
                        && own.program.id == program.id
                        && own.file.precedence == file.precedence
                })
            };
            let paths: Vec<(PathBuf, Option<FileId>)> =
                paths.into_iter().filter(|(path, _)| is_new(path, located)).collect();
            located.extend(paths.into_iter().enumerate().map(|(found, (path, id))| {
                let rank = first_rank(program, index, file.precedence);
                let rank = Rank { distance, file: file_index, found, ..rank };
                LocatedFile { program, file, path, id, folder: Arc::clone(folder), rank }
            }));
        }
    }
}

/// Drops project files that are also user files: they are read once, as user files, because they
/// cannot come with a repository.
fn drop_user_files_seen_as_project(located: &mut Vec<LocatedFile>) {
    let is_at = |level: Level| move |file: &&LocatedFile| file.file.level == level;
    let user_files: HashSet<FileId> =
        located.iter().filter(is_at(Level::User)).filter_map(|file| file.id.clone()).collect();
    let is_user_file =
        |file: &LocatedFile| file.id.as_ref().is_some_and(|id| user_files.contains(id));
    located.retain(|file| file.file.level != Level::Project || !is_user_file(file));
}

/// Reads one file.
fn read(
    scan: &mut Scan<'_>,
    located: LocatedFile,
    definitions: &mut Vec<Definition>,
) -> Arc<Source> {
    let LocatedFile { program, file, path, folder, rank, .. } = located;
    let root = match (file.level, &file.shape) {
        (_, FileShape::Notice(text)) => {
            scan.problems.push(Problem::warning("unsupported", *text).in_file(&path));
            None
        }
        (Level::Env, _) => scan.variable(&path),
        _ => scan.document(&path),
    };
    let source = Arc::new(Source {
        provider: program.id,
        provider_name: program.name,
        level: file.level,
        path,
        also_read_by: file.also_read_by,
    });
    let Some(root) = root else { return source };
    let mut reader = FileReader {
        env: scan.env,
        program,
        dialect: program.dialect,
        source: Arc::clone(&source),
        folder,
        plugin: None,
        name_prefix: String::new(),
        rank,
        limit_is_reported: false,
        budget: (file.level == Level::Project).then(|| scan.budget()),
        definitions: Vec::new(),
        problems: Vec::new(),
    };
    reader.read_root(&root, &file.shape);
    let FileReader { definitions: mut own, mut problems, .. } = reader;
    definitions.append(&mut own);
    scan.problems.append(&mut problems);
    source
}

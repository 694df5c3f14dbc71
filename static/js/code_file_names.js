const FALLBACK = 'code.txt';

/** The languages of each file name, without those that a double click would run (bat, cmd, vbs, reg): they get .txt. */
const LANGUAGES_BY_FILE_NAME = {
  'code.c': ['c', 'h'],
  'code.clj': ['clj', 'clojure'],
  'code.cpp': ['c++', 'cc', 'cpp', 'cxx', 'hpp'],
  'code.cs': ['c#', 'cs', 'csharp'],
  'code.dart': ['dart'],
  'code.ex': ['elixir', 'ex', 'exs'],
  'code.f90': ['f90', 'fortran'],
  'code.go': ['go', 'golang'],
  'code.hs': ['haskell', 'hs'],
  'code.jl': ['jl', 'julia'],
  'code.kt': ['kotlin', 'kt'],
  'code.lua': ['lua'],
  'code.m': ['matlab', 'octave'],
  'code.ml': ['ml', 'ocaml'],
  'code.php': ['php'],
  'code.pl': ['perl', 'pl'],
  'code.py': ['py', 'py3', 'python', 'python3'],
  'code.r': ['r'],
  'code.rb': ['rb', 'ruby'],
  'code.rs': ['rs', 'rust'],
  'code.scala': ['scala'],
  'code.swift': ['swift'],
  'code.zig': ['zig'],
  'changes.diff': ['diff', 'patch', 'udiff'],
  'component.jsx': ['jsx'],
  'component.svelte': ['svelte'],
  'component.tsx': ['tsx'],
  'component.vue': ['vue'],
  'config.ini': ['cfg', 'conf', 'ini'],
  'config.toml': ['toml'],
  'config.yaml': ['yaml', 'yml'],
  'data.csv': ['csv'],
  'data.json': ['json', 'json5', 'jsonc'],
  'data.jsonl': ['jsonl', 'ndjson'],
  'data.xml': ['xml'],
  'document.md': ['markdown', 'md'],
  'document.tex': ['latex', 'tex'],
  Dockerfile: ['docker', 'dockerfile'],
  'image.svg': ['svg'],
  'index.html': ['html', 'xhtml'],
  'main.tf': ['hcl', 'terraform', 'tf'],
  Makefile: ['make', 'makefile'],
  'Main.java': ['java'],
  'query.graphql': ['gql', 'graphql'],
  'query.sql': ['mysql', 'postgres', 'postgresql', 'psql', 'sql', 'sqlite', 'sqlite3'],
  'schema.proto': ['proto', 'protobuf'],
  'script.fish': ['fish'],
  'script.js': ['javascript', 'js', 'mjs', 'node'],
  'script.ps1': ['powershell', 'ps1', 'pwsh'],
  'script.sh': ['bash', 'sh', 'shell', 'zsh'],
  'script.ts': ['ts', 'typescript'],
  'style.css': ['css'],
  'style.less': ['less'],
  'style.scss': ['scss'],
};

const FILE_NAMES = new Map(
  Object.entries(LANGUAGES_BY_FILE_NAME).flatMap(([name, languages]) => languages.map((language) => [language, name])),
);

/**
 * Return the name of the file for a code block. It is always one of this table's: a language comes from the model.
 * @param {string} language  in lower case, as the block's header shows it; '' if unknown
 */
export function fileNameOf(language) {
  return FILE_NAMES.get(language) ?? FALLBACK;
}

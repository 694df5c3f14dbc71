import { copyText, showCopied } from './clipboard.js';
import { holdInPlace } from './older_messages.js';
import { announce, page } from './page.js';

const DOWNLOAD_STARTED_MS = 60_000; // time after which the browser has read the file
const YEAR_SECONDS = 31_536_000;
const BELOW_HEADER_PX = 10; // from the header of a block into its first visible line
const OTHER_FILE_NAME = 'code.txt';

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

/** Copy a code block. A failure is shown where it is in view, because the end of the reply may be far away. */
export async function copyCode(chat, button) {
  if (!(await copyText(textOf(button)))) return page.showNotice('not-copied');
  announce(page.text('copied'));
  showCopied(button);
}

/** Save a code block as a file: in a live reply, the part that has arrived. */
export function downloadCode(chat, button) {
  const link = document.createElement('a');
  link.download = fileNameOf(button.closest('figure').querySelector('figcaption').textContent);
  link.href = URL.createObjectURL(new Blob([textOf(button)], { type: 'text/plain;charset=utf-8' }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_STARTED_MS);
}

/** Toggle the wrapping of long lines in all code. The cookie tells the server to render later pages likewise. */
export function toggleWrap(chat, button) {
  const wraps = button.ariaPressed !== 'true';
  const template = document.getElementById('code-actions-template').content;
  const change = () => {
    document.body.classList.toggle('wrap-code', wraps);
    for (const root of [template, document]) {
      for (const each of root.querySelectorAll('[data-action=wrap-code]')) each.ariaPressed = String(wraps);
    }
  };
  document.cookie = `wrap=${wraps ? 'on' : ''};path=/;max-age=${wraps ? YEAR_SECONDS : 0};samesite=lax`;
  changeInPlace(chat, lineInView(button), change);
}

/** Change a block without moving this element on the screen; a reader at the end of a live reply stays there. */
function changeInPlace(chat, element, change) {
  if (chat.busy && chat.follower.following) {
    change();
    chat.followEnd();
  } else {
    chat.follower.release(); // the place is kept, even if the end of the page moves away from it
    holdInPlace(element, change);
  }
}

function textOf(button) {
  return button.closest('figure').querySelector('code').textContent;
}

/** Return the first line that is visible below the header of a block; the whole code if its beginning is. */
function lineInView(button) {
  const code = button.closest('figure').querySelector('pre');
  const { bottom } = button.parentElement.getBoundingClientRect();
  const { top, left } = code.getBoundingClientRect();
  if (top >= bottom - 1) return code;
  const caret = document.caretPositionFromPoint?.(left + BELOW_HEADER_PX, bottom + BELOW_HEADER_PX);
  const text = caret?.offsetNode;
  if (!code.contains(text ?? null) || !(caret.offset < text.length)) return code;
  const range = document.createRange();
  range.setStart(text, caret.offset);
  range.setEnd(text, caret.offset + 1);
  return range;
}

/**
 * Return the name of the file for a code block. It is always one of this table's: a language comes from the model.
 * @param {string} language  in lower case, as the block's header shows it; '' if unknown
 */
export function fileNameOf(language) {
  return FILE_NAMES.get(language) ?? OTHER_FILE_NAME;
}

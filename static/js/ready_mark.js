import { fetchJson } from './api.js';
import { page } from './page.js';

const MARK = '● ';
const ASK_MS = 10_000; // a hidden page's stream is paused, and this is all that it asks meanwhile
const WRITING_STATUSES = ['queued', 'running'];

let watching = false;

document.addEventListener('visibilitychange', () => document.hidden || (document.title = document.title.replace(MARK, '')));

/** Say in the tab's title, until the page is looked at, that a reply is ready or asks for an answer. */
export function markReady() {
  if (document.hidden && !document.title.startsWith(MARK)) document.title = MARK + document.title;
}

/** Mark the title once the reply of this page has ended or asks for an answer, which its paused stream does not tell. */
export async function watchEnd() {
  if (watching) return;
  watching = true;
  while (document.hidden) {
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
    const state = document.hidden && (await fetchJson(page.url('state', page.conversation)).catch(() => null));
    if (!state || WRITING_STATUSES.includes(state.status)) continue;
    markReady();
    break;
  }
  watching = false;
}

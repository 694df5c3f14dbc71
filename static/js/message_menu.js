import { fetchHtml } from './api.js';
import { openMenu } from './popup_menu.js';
import { parseTrustedHtml } from './page.js';

let last = null; // the menu that was opened last

/** Open the menu of a message. The server renders it, because it shows how many messages a deletion removes. */
export async function openMessageMenu(chat, link) {
  const { message } = link.closest('article').dataset;
  const url = chat.page.url('source', message).replace(/source\/$/, 'actions/');
  const html = await fetchHtml(url).catch(() => '');
  if (!html) return location.assign(url);
  last?.remove();
  last = document.createElement('div');
  last.className = 'options';
  last.popover = 'auto';
  last.ariaLabel = link.ariaLabel;
  last.append(parseTrustedHtml(html));
  document.body.append(last);
  openMenu(last, link);
}

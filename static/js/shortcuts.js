import { fetchHtml } from './api.js';
import { cloneTemplate, parseTrustedHtml } from './page.js';

let dialog = null;

/** Open the table of all keyboard shortcuts. If it cannot be loaded, the link's page is opened. */
export async function openShortcuts(link) {
  if (dialog?.open) return;
  dialog ??= await load(link.href).catch(() => null);
  if (dialog) dialog.showModal();
  else location.assign(link.href);
}

async function load(url) {
  const html = await fetchHtml(url);
  const created = cloneTemplate('shortcuts-template');
  created.querySelector('h2').after(parseTrustedHtml(html));
  document.body.append(created);
  return created;
}

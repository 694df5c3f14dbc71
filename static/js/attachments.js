import { attachmentsOf, loadParts } from './attachment_parts.js';
import { AttachmentTray } from './attachment_tray.js';
import { drafts } from './drafts.js';
import { page } from './page.js';

/** Add files to the question that is being written, or edited where the event was. */
export async function addFiles(chat, files, target) {
  const edit = target?.closest?.('.edit');
  if (!document.getElementById('files')) return page.showNotice('no-files');
  try {
    (edit ? await editTray(chat, edit) : await composerTray(chat)).add(files);
  } catch (error) {
    console.warn(error);
    offerAgain(chat, { files, target });
  }
  return undefined;
}

/** Keep files for which there is no tray yet: pasted ones are nowhere else. */
function offerAgain(chat, source) {
  const button = Object.assign(page.link('not-loaded', ''), { role: 'button' });
  button.addEventListener('click', (event) => {
    event.preventDefault();
    page.setNotice('');
    chat.addFiles(source, source.target);
  });
  page.setNotice('', button);
}

/** @returns {Promise<AttachmentTray>} the attachments of the message box */
export async function composerTray(chat) {
  const { composer } = chat;
  const words = await loadParts();
  composer.attachments ??= new AttachmentTray({
    words,
    before: document.querySelector('#composer .attach'),
    resized: () => chat.followEnd(),
    changed: (attachments) => drafts.save(`attachments-${page.draft}`, attachments.length ? JSON.stringify(attachments) : ''),
  });
  return composer.attachments;
}

/** Put attachments into the message box: a queued message's, or those that were in it when the page was left. */
export async function putBack(chat, attachments) {
  (await composerTray(chat)).put(attachments);
}

/** @returns {Promise<AttachmentTray>} the attachments of an edited question: at first those that it has */
export async function editTray(chat, form, attachments = attachmentsOf(form.closest('article'))) {
  const words = await loadParts();
  const changed = () => form.dispatchEvent(new Event('input'));
  form.attachments ??= new AttachmentTray({ words, before: form.elements.content, changed }, attachments);
  return form.attachments;
}

import { loadParts } from './attachment_parts.js';
import { AttachmentTray } from './attachment_tray.js';
import { picturesOf } from './pictures.js';

/** Add pictures to the question that is being written, or edited where the event was. */
export async function addPictures(chat, files, target) {
  const edit = target?.closest?.('.edit');
  const tray = edit ? await editTray(chat, edit) : await composerTray(chat);
  await tray.add(files);
}

/** @returns {Promise<AttachmentTray>} the pictures of the message box */
export async function composerTray(chat) {
  const { composer, page } = chat;
  const words = await loadParts(page);
  composer.pictures ??= new AttachmentTray({
    page,
    words,
    before: document.querySelector('#composer .attach'),
    resized: () => chat.followEnd(),
    changed: (pictures) => chat.savePictures(pictures),
  });
  return composer.pictures;
}

/** Put pictures into the message box: those of a queued message, or those that were in it when the page was left. */
export async function putBackPictures(chat, pictures) {
  (await composerTray(chat)).put(pictures);
}

/** @returns {Promise<AttachmentTray>} the pictures of an edited question: at first those that it has */
export async function editTray(chat, form, pictures = picturesOf(form.closest('article'))) {
  const words = await loadParts(chat.page);
  const changed = () => form.dispatchEvent(new Event('input'));
  form.pictures ??= new AttachmentTray({ page: chat.page, words, before: form.elements.content, changed }, pictures);
  return form.pictures;
}

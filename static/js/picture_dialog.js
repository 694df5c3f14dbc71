import { loadParts, pictureOf, showImage } from './attachment_parts.js';

const TALL = 2.5; // times as high as wide: scaled to the window's height, it would be too narrow to be read

/** Open a picture of the thread in its full size. */
export async function openPicture(chat, link) {
  try {
    await loadParts();
  } catch {
    location.assign(link.href);
    return;
  }
  openDialog(pictureOf(link));
}

/**
 * Open a picture in its full size.
 * @param {import('./attachment_parts.js').Picture} picture
 * @param {(alt: string) => void} [describe]  gets the alternative text; none: it cannot be changed
 */
export function openDialog({ url, name, alt, width, height }, describe) {
  const dialog = document.getElementById('picture');
  const form = dialog.querySelector('form');
  const save = form.querySelector('[value=save]');
  watchClicksBeside(dialog, () => (describe ? form.requestSubmit(save) : dialog.close()));
  showImage(dialog.querySelector('img'), { url, name, alt, width, height });
  showFrame(dialog.querySelector('.picture-frame'), height > TALL * width);
  dialog.querySelector('h2').textContent = name;
  dialog.querySelector('p').textContent = describe || alt === name ? '' : alt;
  dialog.querySelector('.picture-alt').hidden = !describe;
  form.elements.alt.value = alt;
  save.hidden = !describe;
  form.onsubmit = ({ submitter }) => submitter.value && describe(form.elements.alt.value.trim());
  dialog.showModal();
  if (describe) form.elements.alt.focus();
}

/** Let a tall picture scroll, also by keys. */
function showFrame(frame, isTall) {
  frame.classList.toggle('tall', isTall);
  frame.tabIndex = isTall ? 0 : -1;
  frame.scrollTop = 0;
}

/** Both ends of the click count: a selection of text may end beside the dialog. */
function watchClicksBeside(dialog, then) {
  let pressed = null;
  dialog.onpointerdown = ({ target }) => void (pressed = target);
  dialog.onclick = ({ target }) => {
    if (target === dialog && pressed === dialog) then();
  };
}

import { copy } from './transcript.js';

const AS_JSON = { headers: { Accept: 'application/json' }, credentials: 'same-origin' };
let open = null; // the result of the open dialog, shared by all that need it meanwhile

/**
 * Have the person whose session ended sign in again, without leaving the page.
 * @param {import('./transcript.js').Page} page
 * @returns {Promise<boolean>} true if they did; then every form of the page has a valid CSRF token again
 */
export function signIn(page) {
  open ??= ask(page).finally(() => (open = null));
  return open;
}

async function ask(page) {
  const back = document.activeElement;
  if (await isBack(page)) return true;
  const dialog = copy('sign-in-template');
  document.body.append(dialog);
  dialog.showModal();
  const signedIn = await answered(page, dialog);
  dialog.remove();
  const box = document.getElementById('content');
  (back?.isConnected && back !== document.body ? back : box).focus({ preventScroll: true });
  return signedIn;
}

function answered(page, dialog) {
  const looked = async () => {
    // The person may have signed in in another tab meanwhile.
    if (!document.hidden && (await isBack(page))) dialog.close('in');
  };
  document.addEventListener('visibilitychange', looked);
  dialog.querySelector('[value=cancel]').addEventListener('click', () => dialog.close());
  dialog.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    attempt(page, dialog);
  });
  return new Promise((settle) => {
    dialog.addEventListener('close', () => {
      document.removeEventListener('visibilitychange', looked);
      settle(dialog.returnValue === 'in');
    });
  });
}

async function attempt(page, dialog) {
  const [form, button, error] = ['form', '.strong', '.error'].map((part) => dialog.querySelector(part));
  if (button.ariaDisabled) return;
  button.ariaDisabled = 'true';
  error.textContent = '';
  const trouble = await enter(page, new URLSearchParams(new FormData(form)));
  button.ariaDisabled = null;
  if (!trouble) return dialog.close('in');
  error.textContent = trouble;
  form.elements.password.select();
  form.elements.password.focus();
}

/** @returns {Promise<string>} '' or the error message for the person */
async function enter(page, fields) {
  try {
    // Get the current token first: a login or logout in another tab has made this page's invalid.
    if (await isBack(page)) return '';
    fields.set('csrfmiddlewaretoken', page.token);
    const response = await fetch(page.url('login'), { method: 'POST', body: fields, ...AS_JSON });
    const said = await response.json();
    if (!response.ok) return said.error.message;
    return (await meet(page, said)) ? '' : page.say('no-answer');
  } catch {
    return page.say('no-answer');
  }
}

async function isBack(page) {
  const response = await fetch(page.url('login'), AS_JSON).catch(() => null);
  return response?.ok ? meet(page, await response.json()) : false;
}

/**
 * Take over the session's token. The page belongs to one person: if another one is signed in
 * now, it is reloaded and does nothing more.
 */
async function meet(page, { user, csrf }) {
  page.token = csrf;
  if (user === null) return false;
  if (String(user) === page.user) return true;
  location.reload();
  return new Promise(() => {});
}

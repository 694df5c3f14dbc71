/**
 * Post a change. A person who is signed out signs in first, and then it is sent again.
 * @param {import('./transcript.js').Page} page
 * @returns {Promise<string>} '' if it was stored, otherwise the error message for the person
 */
export async function save(page, url, body, again = true) {
  let response;
  try {
    response = await page.post(url, body);
  } catch {
    return page.say('no-answer');
  }
  // 403: a sign-in in another tab has made this page's CSRF token invalid.
  if (again && [401, 403].includes(response.status)) return signInAndSave(page, url, body);
  if (response.ok) return '';
  const { error } = await response.json().catch(() => ({}));
  return error?.message || page.say('not-saved');
}

async function signInAndSave(page, url, body) {
  const { signIn } = await import('./signin.js');
  return (await signIn(page)) ? save(page, url, body, false) : page.say('not-saved');
}

/** Fetch a fragment of HTML that the server has rendered. Rejects if the request fails. */
export async function part(url) {
  const response = await fetch(url, { headers: { 'X-Requested-With': 'fetch' }, credentials: 'same-origin' });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.text();
}

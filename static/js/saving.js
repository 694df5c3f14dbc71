/**
 * Posts a change; whoever is signed out signs in first, and then it goes out again.
 * @param {import('./transcript.js').Page} page
 * @returns {Promise<string>} '' when it is stored, else what to tell the person
 */
export async function save(page, url, body, again = true) {
  let response;
  try {
    response = await page.post(url, body);
  } catch {
    return page.say('no-answer');
  }
  // 403: somebody signed in in another tab, which made this page's token worthless.
  if (again && [401, 403].includes(response.status)) return signInAndSave(page, url, body);
  if (response.ok) return '';
  const { error } = await response.json().catch(() => ({}));
  return error?.message || page.say('not-saved');
}

async function signInAndSave(page, url, body) {
  const { signIn } = await import('./signin.js');
  return (await signIn(page)) ? save(page, url, body, false) : page.say('not-saved');
}

/** A part of a page, which the server rendered. Rejects when it does not come. */
export async function part(url) {
  const response = await fetch(url, { headers: { 'X-Requested-With': 'fetch' }, credentials: 'same-origin' });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.text();
}

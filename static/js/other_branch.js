import { page } from './page.js';

// Show the branch of the message that the page was opened at. If the request fails, the form's button remains.
const response = await page.post(document.getElementById('other-branch').action).catch(() => null);
const { conversation, message } = response?.ok ? await response.json() : {};
if (conversation) {
  // To its own address with a fragment, a page only scrolls. From another one it is loaded.
  history.replaceState(null, '', location.pathname);
  location.replace(`${location.pathname}?at=${message}#m-${message}`);
}

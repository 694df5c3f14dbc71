/** Show the branch of the message that the page was opened at. If the request fails, the form's button remains. */
async function show(form) {
  const { conversation, message } = await post(form);
  if (!conversation) return;
  // To its own address with a fragment, a page only scrolls. From another one it is loaded.
  history.replaceState(null, '', location.pathname);
  location.replace(`${location.pathname}?at=${message}#m-${message}`);
}

async function post(form) {
  const headers = { Accept: 'application/json', 'Content-Type': 'application/json', 'X-CSRFToken': form.elements.csrfmiddlewaretoken.value };
  const response = await fetch(form.action, { method: 'POST', headers, body: '{}' }).catch(() => null);
  return response?.ok ? response.json() : {};
}

show(document.getElementById('other-branch'));

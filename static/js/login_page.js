/** After a sign-out, tell the other tabs. session_end.js asks the server whether it is so. */
const COOKIE = 'signed-out=';

if (document.cookie.includes(COOKIE)) {
  document.cookie = `${COOKIE};path=${location.pathname};max-age=0`;
  const channel = new BroadcastChannel('chat'); // as in sync.js
  channel.postMessage('signed-out');
  channel.close();
  localStorage.setItem('signed-out', Date.now()); // for those that were not listening
}

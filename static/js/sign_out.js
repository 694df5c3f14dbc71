import { DraftStore } from './composer.js';
import { hasSignedOut, leaveIfSignedOut, SIGNED_OUT } from './session_end.js';

/** On a page of the settings, do what chat.js and sync.js do on theirs when this tab or another signs out. */
const form = document.getElementById('sign-out');
let channel = null;

form.addEventListener('submit', () => DraftStore.open(form.dataset.user).clear());
addEventListener('pageshow', open);
addEventListener('pagehide', () => {
  channel?.close(); // a page with an open one is kept out of the back/forward cache
  channel = null;
});
open();

function open() {
  channel ??= new BroadcastChannel('chat');
  channel.onmessage = ({ data }) => data === SIGNED_OUT && leaveIfSignedOut(form.dataset);
  if (hasSignedOut()) leaveIfSignedOut(form.dataset);
}

/** Tell the other tabs that the session has ended, as far as this one knows. session_end.js asks the server. */
const channel = new BroadcastChannel('chat'); // as in sync.js
channel.postMessage('signed-out');
channel.close();

import { drafts } from './drafts.js';
import { setUp } from './settings_section.js';
import { hearTabs, tellSignOut } from './tabs.js';

// What pages without the chat need, each by the elements that it has.

// What chat.js and sync.js do on theirs when this tab or another signs out.
const signOut = document.getElementById('sign-out');
signOut?.addEventListener('submit', () => drafts.clear());
if (signOut) hearTabs();
else tellSignOut();

// The keys of the list of conversations, once the focus comes near it.
const list = document.getElementById('conversations');
const addKeys = () => import('./list_keys.js').then(({ addListKeys }) => addListKeys(list));
list?.closest('nav').addEventListener('focusin', addKeys, { once: true });

setUp(document);

import { DraftStore } from './composer.js';

/** Remove what a person typed and did not send when they sign out on a page of the settings. chat.js does it on its own. */
const form = document.getElementById('sign-out');
form.addEventListener('submit', () => DraftStore.open(form.dataset.user).clear());

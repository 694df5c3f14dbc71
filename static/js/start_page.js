const thread = document.getElementById('thread');

/** Mark the chosen model on the page of a new chat, and show the warning about the small one. */
export function showModel(model) {
  for (const button of thread.querySelectorAll('[data-action=use-model]')) button.ariaPressed = String(button.value === model);
  for (const warning of thread.querySelectorAll('.small-model')) warning.hidden = warning.dataset.model !== model;
}

/** Choose a recent model. */
export async function useModel(chat, button) {
  const { useModel: choose } = await import('./model_picker.js');
  choose(chat.page, button.value);
  showModel(button.value); // also where background.js is not loaded yet
}

/**
 * Show an error below the message that it concerns. Screen readers read it out.
 * @param {string} [code]  the error's code; a `busy` error is removed when the reply that was in the way ends
 */
export function showError(article, text, code = '') {
  clearError(article);
  const error = document.createElement('p');
  error.className = 'message-error';
  error.role = 'alert';
  error.dataset.code = code;
  article.append(error);
  error.textContent = text;
  error.scrollIntoView({ block: 'nearest' });
}

export function clearError(article) {
  article?.querySelector('.message-error')?.remove();
}

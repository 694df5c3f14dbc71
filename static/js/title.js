const MAX_TITLE_LENGTH = 80; // characters

/** Return the title that the server gives a new conversation: the question's first line, cut at a word. */
export function titleFromQuestion(question) {
  const lines = question.split('\n').map((line) => line.trim().replace(/\s+/g, ' '));
  const letters = Array.from(lines.find(Boolean) ?? '');
  if (letters.length <= MAX_TITLE_LENGTH) return letters.join('');
  const head = letters.slice(0, MAX_TITLE_LENGTH - 1);
  const lastSpace = head.lastIndexOf(' ');
  return `${head.slice(0, lastSpace >= 20 ? lastSpace : undefined).join('')}…`;
}

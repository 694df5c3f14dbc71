/** Add pasted files to the question: otherwise they would vanish. For dropped files, see chat.js. */
export function watchPastedFiles(chat) {
  document.addEventListener('paste', (event) => {
    const { types = [], files = [] } = event.clipboardData ?? {};
    // A copy from an office program holds its text and a picture of it.
    const isText = types.includes('text/plain') && Array.from(files).every(({ type }) => type.startsWith('image/'));
    if (types.length && !isText) chat.onFiles(event, event.clipboardData);
  });
}

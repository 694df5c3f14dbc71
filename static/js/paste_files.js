/** Add pasted files as pictures: otherwise they would vanish. For dropped files, see chat.js. */
export function watchPastedFiles(chat) {
  document.addEventListener('paste', (event) => {
    const types = event.clipboardData?.types ?? [];
    // A copy from an office program holds its text and a picture of it.
    if (types.length && !types.includes('text/plain')) chat.onFiles(event, event.clipboardData);
  });
}

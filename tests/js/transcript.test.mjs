import assert from 'node:assert/strict';
import { test } from 'node:test';

import { titleOf } from '../../static/js/transcript.js';

test('a title is the first line that says something', () => {
  assert.equal(titleOf('\n  Tell me   a story\nand another one'), 'Tell me a story');
  assert.equal(titleOf(' \n '), '');
});

test('a long title is cut at a word, a long word anywhere, a character nowhere', () => {
  assert.equal(titleOf('word '.repeat(40)), `${'word '.repeat(15).trim()}…`);
  assert.equal(titleOf('x'.repeat(200)), `${'x'.repeat(79)}…`);
  assert.equal(titleOf('👩'.repeat(81)), `${'👩'.repeat(79)}…`);
  assert.equal(titleOf('👩'.repeat(80)), '👩'.repeat(80));
});

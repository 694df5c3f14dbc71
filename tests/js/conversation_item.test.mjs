import assert from 'node:assert/strict';
import { test } from 'node:test';

import { titleFromQuestion } from '../../static/js/conversation_item.js';

test('a title is the first line that is not blank', () => {
  assert.equal(titleFromQuestion('\n  Tell me   a story\nand another one'), 'Tell me a story');
  assert.equal(titleFromQuestion(' \n '), '');
});

test('a long title is cut at a word, never inside a character', () => {
  assert.equal(titleFromQuestion('word '.repeat(40)), `${'word '.repeat(15).trim()}…`);
  assert.equal(titleFromQuestion('x'.repeat(200)), `${'x'.repeat(79)}…`);
  assert.equal(titleFromQuestion('👩'.repeat(81)), `${'👩'.repeat(79)}…`);
  assert.equal(titleFromQuestion('👩'.repeat(80)), '👩'.repeat(80));
});

import assert from 'node:assert/strict';
import test from 'node:test';

import { matchingPrompts, menuKey, queryIn } from '../../static/js/prompt_menu.js';

const PROMPTS = [
  { command: 'letter', title: 'A formal letter' },
  { command: 'summary', title: 'Short summary' },
  { command: 'übersetzen', title: 'Übersetzen ins Englische' },
  { command: 'form', title: 'Fill in' },
];

test('everything fits an empty query', () => {
  assert.deepEqual(matchingPrompts('', PROMPTS), [0, 1, 2, 3]);
});

test('a command that begins with the query comes before a word of a title', () => {
  assert.deepEqual(matchingPrompts('FORM', PROMPTS), [3, 0]);
  assert.deepEqual(matchingPrompts('s', PROMPTS), [1]);
  assert.deepEqual(matchingPrompts('ÜB', PROMPTS), [2]);
});

test('a path and other words fit nothing', () => {
  for (const query of ['etc/hosts', 'etc', '/', '.*']) assert.deepEqual(matchingPrompts(query, PROMPTS), [], query);
});

test('the query is the word after the slash, and nothing else', () => {
  assert.equal(queryIn('/'), '');
  assert.equal(queryIn('/sum'), 'sum');
  for (const text of ['', 'sum', ' /sum', '/ sum', '/sum up', '/sum\n', 'a/b']) assert.equal(queryIn(text), null, text);
});

test('keys act only alone, and not while text is composed', () => {
  const act = (key, more = {}) => menuKey({ key, ...more });
  assert.deepEqual(['Enter', 'Tab', 'Escape', 'ArrowDown', 'ArrowUp', 'a'].map((key) => act(key)), ['take', 'take', 'close', 1, -1, null]);
  for (const held of ['isComposing', 'ctrlKey', 'metaKey', 'altKey', 'shiftKey']) assert.equal(act('Enter', { [held]: true }), null);
});

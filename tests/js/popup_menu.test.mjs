import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nextIndex } from '../../static/js/popup_menu.js';

const NAMES = ['GLM', 'Gemma', 'Llama', 'GPT'];

test('arrow keys move by one and wrap around', () => {
  assert.equal(nextIndex('ArrowDown', NAMES, 0), 1);
  assert.equal(nextIndex('ArrowDown', NAMES, 3), 0);
  assert.equal(nextIndex('ArrowUp', NAMES, 0), 3);
});

test('Home and End lead to the ends', () => {
  assert.equal(nextIndex('Home', NAMES, 2), 0);
  assert.equal(nextIndex('End', NAMES, 2), 3);
});

test('a letter leads to the next name that begins with it', () => {
  assert.equal(nextIndex('g', NAMES, 0), 1);
  assert.equal(nextIndex('G', NAMES, 1), 3);
  assert.equal(nextIndex('g', NAMES, 3), 0);
  assert.equal(nextIndex('l', NAMES, 2), 2);
});

test('other letters and keys lead nowhere', () => {
  assert.equal(nextIndex('x', NAMES, 0), -1);
  assert.equal(nextIndex('Enter', NAMES, 0), -1);
  assert.equal(nextIndex(' ', NAMES, 0), -1);
});

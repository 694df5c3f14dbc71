import assert from 'node:assert/strict';
import { test } from 'node:test';

import { step } from '../../static/js/others.js';

const NAMES = ['GLM', 'Gemma', 'Llama', 'GPT'];

test('arrows go from one name to the next, and round at the ends', () => {
  assert.equal(step('ArrowDown', NAMES, 0), 1);
  assert.equal(step('ArrowDown', NAMES, 3), 0);
  assert.equal(step('ArrowUp', NAMES, 0), 3);
});

test('Home and End lead to the ends', () => {
  assert.equal(step('Home', NAMES, 2), 0);
  assert.equal(step('End', NAMES, 2), 3);
});

test('a letter leads to the next name that begins with it, and round', () => {
  assert.equal(step('g', NAMES, 0), 1);
  assert.equal(step('G', NAMES, 1), 3);
  assert.equal(step('g', NAMES, 3), 0);
  assert.equal(step('l', NAMES, 2), 2);
});

test('a letter that no name begins with, and any other key, lead nowhere', () => {
  assert.equal(step('x', NAMES, 0), -1);
  assert.equal(step('Enter', NAMES, 0), -1);
  assert.equal(step(' ', NAMES, 0), -1);
});

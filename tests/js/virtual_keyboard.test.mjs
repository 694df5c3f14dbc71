import assert from 'node:assert/strict';
import { test } from 'node:test';

import { coveredHeight } from '../../static/js/virtual_keyboard.js';

const WINDOW_HEIGHT = 800;

test('what the viewport leaves free below is covered by the keyboard', () => {
  assert.equal(coveredHeight({ scale: 1, offsetTop: 0, height: 500 }, WINDOW_HEIGHT), 300);
  assert.equal(coveredHeight({ scale: 1, offsetTop: 120, height: 500 }, WINDOW_HEIGHT), 180);
});

test('a small covered area, or a page that is zoomed in, has no keyboard', () => {
  assert.equal(coveredHeight({ scale: 1, offsetTop: 0, height: 725 }, WINDOW_HEIGHT), 0);
  assert.equal(coveredHeight({ scale: 1.5, offsetTop: 0, height: 500 }, WINDOW_HEIGHT), 0);
});

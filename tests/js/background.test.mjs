import assert from 'node:assert/strict';
import { test } from 'node:test';

import { coveredHeight, isHelpKey, scrollsPage } from '../../static/js/background.js';

const EMPTY = { isEmpty: true, isScrollable: false };
const WITH_TEXT = { isEmpty: false, isScrollable: false };
const press = (key, more = {}) => ({ key, ...more });

test('page keys scroll the page unless the box itself scrolls', () => {
  for (const key of ['PageUp', 'PageDown']) {
    assert.equal(scrollsPage(press(key), EMPTY), true);
    assert.equal(scrollsPage(press(key), WITH_TEXT), true);
    assert.equal(scrollsPage(press(key), { isEmpty: false, isScrollable: true }), false);
    assert.equal(scrollsPage(press(key, { ctrlKey: true }), EMPTY), false); // the browser's next tab
  }
});

test('Home and End scroll the page only from an empty box', () => {
  for (const key of ['Home', 'End']) {
    assert.equal(scrollsPage(press(key), EMPTY), true);
    assert.equal(scrollsPage(press(key, { ctrlKey: true }), EMPTY), true);
    assert.equal(scrollsPage(press(key), WITH_TEXT), false);
  }
});

test('other keys, and those that select or compose, do not scroll the page', () => {
  for (const key of ['a', 'ArrowUp', 'Pause', 'toString']) assert.equal(scrollsPage(press(key), EMPTY), false, key);
  for (const name of ['shiftKey', 'altKey', 'metaKey', 'isComposing']) {
    assert.equal(scrollsPage(press('PageUp', { [name]: true }), EMPTY), false, name);
  }
});

test('a question mark asks for help outside of fields', () => {
  assert.equal(isHelpKey(press('?'), false), true);
  assert.equal(isHelpKey(press('?'), true), false);
  for (const name of ['ctrlKey', 'metaKey', 'isComposing']) assert.equal(isHelpKey(press('?', { [name]: true }), false), false, name);
  assert.equal(isHelpKey(press('/'), false), false);
});

const WINDOW_HEIGHT = 800;

test('what the viewport leaves free below is covered by the keyboard', () => {
  assert.equal(coveredHeight({ scale: 1, offsetTop: 0, height: 500 }, WINDOW_HEIGHT), 300);
  assert.equal(coveredHeight({ scale: 1, offsetTop: 120, height: 500 }, WINDOW_HEIGHT), 180);
});

test('a small covered area, or a page that is zoomed in, has no keyboard', () => {
  assert.equal(coveredHeight({ scale: 1, offsetTop: 0, height: 725 }, WINDOW_HEIGHT), 0);
  assert.equal(coveredHeight({ scale: 1.5, offsetTop: 0, height: 500 }, WINDOW_HEIGHT), 0);
});

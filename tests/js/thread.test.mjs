import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compareIds } from '../../static/js/thread.js';

const SHOWN = ['m-1', 'm-2', 'm-3', 'm-4'];

test('equal messages stay, and new ones follow them', () => {
  assert.deepEqual(compareIds(SHOWN, ['m-3', 'm-4']), { at: 2, keptCount: 2 });
  assert.deepEqual(compareIds(SHOWN, ['m-3', 'm-4', 'm-5', 'm-6']), { at: 2, keptCount: 2 });
});

test('messages of another branch do not stay', () => {
  assert.deepEqual(compareIds(SHOWN, ['m-3', 'm-5']), { at: 2, keptCount: 1 });
  assert.deepEqual(compareIds(SHOWN, ['m-3']), { at: 2, keptCount: 1 });
});

test('nothing stays if no message is common', () => {
  assert.deepEqual(compareIds(SHOWN, ['m-8', 'm-9']), { at: -1, keptCount: 0 });
  assert.deepEqual(compareIds(SHOWN, []), { at: -1, keptCount: 0 });
});

test('a message without an id is not found again', () => {
  assert.deepEqual(compareIds(['m-1', ''], ['']), { at: -1, keptCount: 0 });
  assert.deepEqual(compareIds(['m-1', ''], ['m-1', 'm-2']), { at: 0, keptCount: 1 });
});

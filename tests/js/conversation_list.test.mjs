import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isSameOrder } from '../../static/js/conversation_list.js';

const SHOWN = ['today', '/c/1/', '/c/2/', 'yesterday', '/c/3/'];

test('a list in the same order is left in place', () => {
  assert.equal(isSameOrder(SHOWN, [...SHOWN], false), true);
  assert.equal(isSameOrder(SHOWN, ['today', '/c/2/', '/c/1/', 'yesterday', '/c/3/'], false), false);
  assert.equal(isSameOrder(SHOWN, [...SHOWN, '/c/4/'], false), false);
});

test('items loaded on demand stay behind the server’s, if it has more', () => {
  assert.equal(isSameOrder(SHOWN, SHOWN.slice(0, 3), true), true);
  assert.equal(isSameOrder(SHOWN, SHOWN.slice(0, 3), false), false);
  assert.equal(isSameOrder(SHOWN, [...SHOWN, '/c/4/'], true), false);
  assert.equal(isSameOrder(['today', '/c/12/'], ['today', '/c/1/'], true), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { updatePlaces } from '../../static/js/older_messages.js';

const places = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`/c/${n}/`, [`m-${n}`, -n]]));

test('a place replaces the former one of its conversation', () => {
  const updated = updatePlaces({ '/c/1/': ['m-1', -10], '/c/2/': ['m-2', -20] }, '/c/1/', ['m-3', -30]);
  assert.deepEqual(Object.entries(updated), [['/c/2/', ['m-2', -20]], ['/c/1/', ['m-3', -30]]]);
});

test('a reader at the end has no place', () => {
  assert.deepEqual(updatePlaces({ '/c/1/': ['m-1', -10] }, '/c/1/', null), {});
});

test('beyond fifty conversations the oldest place is removed', () => {
  assert.deepEqual(Object.keys(updatePlaces(places, '/c/50/', ['m', 0])), [...Object.keys(places).slice(1), '/c/50/']);
  assert.equal(Object.keys(updatePlaces(places, '/c/0/', ['m', 0])).length, 50);
});

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { DraftStore } from '../../static/js/drafts.js';
import { EditDrafts } from '../../static/js/edit_drafts.js';
import { MemoryStorage } from './memory_storage.mjs';

const ids = Array.from({ length: 30 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
let time = 0;

function store(name, value) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

function tab() {
  store('sessionStorage', {});
  return new EditDrafts(DraftStore.open('7'));
}

beforeEach(() => {
  store('localStorage', new MemoryStorage());
  Date.now = () => ++time;
});

test('a tab finds its own edit, else the newest of another tab', () => {
  const [one, two, three] = [tab(), tab(), tab()];
  one.save(ids[0], { text: 'one', start: 1, end: 2 });
  two.save(ids[0], { text: 'two' });
  assert.deepEqual([one, two, three].map((each) => each.find(ids[0]).text), ['one', 'two', 'two']);
  assert.equal(one.find(ids[0]).start, 1);
  assert.equal(three.find(ids[0]).start, undefined);
  assert.equal(three.find(ids[1]), undefined);
  assert.deepEqual([one.messages, three.messages], [[ids[0]], []]);
});

test('removing an edit removes its source, unless that changed', () => {
  const [one, two] = [tab(), tab()];
  one.save(ids[0], { text: 'one' });
  two.save(ids[0], two.find(ids[0]));
  two.remove(ids[0]);
  assert.equal(one.find(ids[0]), undefined);
  one.save(ids[0], { text: 'one' });
  two.save(ids[0], two.find(ids[0]));
  one.save(ids[0], { text: 'one, and on' });
  two.remove(ids[0]);
  assert.equal(two.find(ids[0]).text, 'one, and on');
});

test('beyond twenty edits the oldest is removed', () => {
  const one = tab();
  for (const id of ids) one.save(id, { text: id });
  assert.deepEqual(one.messages, ids.slice(-20));
  tab().save(ids[0], { text: 'of another tab' });
  assert.deepEqual(one.messages, ids.slice(-19));
});

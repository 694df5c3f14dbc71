import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { Edits } from '../../static/js/edits.js';

const ids = Array.from({ length: 30 }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`);
let time = 0;

/** The part of the browser's Storage that is used, names as own properties as there. */
class MemoryStorage {
  getItem(name) {
    return Object.hasOwn(this, name) ? this[name] : null;
  }

  setItem(name, value) {
    this[name] = value;
  }

  removeItem(name) {
    delete this[name];
  }
}

function store(name, value) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

function tab() {
  store('sessionStorage', {});
  return new Edits('7');
}

beforeEach(() => {
  store('localStorage', new MemoryStorage());
  Date.now = () => ++time;
});

test('each tab has its own edit of a message, and the newest of another one where it has none', () => {
  const [one, two, three] = [tab(), tab(), tab()];
  one.keep(ids[0], { text: 'one', start: 1, end: 2 });
  two.keep(ids[0], { text: 'two' });
  assert.deepEqual([one, two, three].map((each) => each.find(ids[0]).text), ['one', 'two', 'two']);
  assert.equal(one.find(ids[0]).start, 1);
  assert.equal(three.find(ids[0]).start, undefined);
  assert.equal(three.find(ids[1]), undefined);
  assert.deepEqual([one.ours, three.ours], [[ids[0]], []]);
});

test('what was gone on with is forgotten too, unless its own tab has written on', () => {
  const [one, two] = [tab(), tab()];
  one.keep(ids[0], { text: 'one' });
  two.keep(ids[0], two.find(ids[0]));
  two.forget(ids[0]);
  assert.equal(one.find(ids[0]), undefined);
  one.keep(ids[0], { text: 'one' });
  two.keep(ids[0], two.find(ids[0]));
  one.keep(ids[0], { text: 'one, and on' });
  two.forget(ids[0]);
  assert.equal(two.find(ids[0]).text, 'one, and on');
});

test('beyond twenty edits the oldest is forgotten', () => {
  const one = tab();
  for (const id of ids) one.keep(id, { text: id });
  assert.deepEqual(one.ours, ids.slice(-20));
  tab().keep(ids[0], { text: 'of another tab' });
  assert.deepEqual(one.ours, ids.slice(-19));
});

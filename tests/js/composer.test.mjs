import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Outbox, isMeant, newKey, sends } from '../../static/js/composer.js';

const modifiers = { shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };
const enter = { key: 'Enter', keyCode: 13, isComposing: false, ...modifiers };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('Enter sends, Shift and Enter make a new line', () => {
  assert.equal(sends(enter, false), true);
  assert.equal(sends({ ...enter, shiftKey: true }, false), false);
  assert.equal(sends({ ...enter, key: 'a' }, false), false);
});

test('the Enter that ends a composition does not send, in either shape browsers give it', () => {
  assert.equal(sends({ ...enter, isComposing: true }, false), false);
  assert.equal(sends({ ...enter, keyCode: 229 }, false), false);
  assert.equal(sends({ ...enter, keyCode: 229, ctrlKey: true }, true), false);
});

test('on a touch keyboard Enter makes a new line, with Control or Command it sends everywhere', () => {
  assert.equal(sends(enter, true), false);
  assert.equal(sends({ ...enter, ctrlKey: true }, true), true);
  assert.equal(sends({ ...enter, metaKey: true, shiftKey: true }, false), true);
});

test('a key is a version 4 UUID, also where randomUUID is absent', () => {
  assert.match(newKey(), UUID);
  const own = Object.getOwnPropertyDescriptor(crypto, 'randomUUID');
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  try {
    assert.match(newKey(), UUID);
    assert.notEqual(newKey(), newKey());
  } finally {
    if (own) Object.defineProperty(crypto, 'randomUUID', own);
    else delete crypto.randomUUID;
  }
});

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

test('the same message keeps its key until it is released, another one has another', () => {
  const outbox = new Outbox(new MemoryStorage(), '7');
  const key = outbox.keyFor('new', { content: 'Hello' });
  assert.equal(outbox.keyFor('new', { content: 'Hello' }), key);
  assert.notEqual(outbox.keyFor('other', { content: 'Hello' }), key);
  assert.notEqual(outbox.keyFor('new', { content: 'Hello', model: 'm' }), key);
  const again = outbox.keyFor('new', { content: 'Hello' });
  outbox.release('new');
  assert.notEqual(outbox.keyFor('new', { content: 'Hello' }), again);
});

test('drafts are kept apart by person and conversation, and signing out takes only one’s own', () => {
  const storage = new MemoryStorage();
  const alice = new Outbox(storage, '7');
  const bob = new Outbox(storage, '77');
  alice.keep('new', 'from alice');
  bob.keep('new', 'from bob');
  const drafts = [alice.draft('new'), bob.draft('new'), alice.draft('other')];
  assert.deepEqual(drafts, ['from alice', 'from bob', '']);
  alice.purge();
  assert.deepEqual([alice.draft('new'), bob.draft('new')], ['', 'from bob']);
});

test('drafts are named by how their names begin, and one’s own alone', () => {
  const storage = new MemoryStorage();
  const alice = new Outbox(storage, '7');
  new Outbox(storage, '77').keep('edit-a-1', 'of another person');
  alice.keep('edit-a-1', 'one');
  alice.keep('edit-b-1', 'two');
  alice.keep('new', 'three');
  assert.deepEqual(alice.drafts('edit-'), ['edit-a-1', 'edit-b-1']);
  assert.deepEqual(alice.drafts('edit-b'), ['edit-b-1']);
  assert.deepEqual(new Outbox(null, '7').drafts(''), []);
});

test('without storage nothing is kept and nothing fails', () => {
  const outbox = new Outbox(null, '7');
  outbox.keep('new', 'text');
  outbox.purge();
  assert.equal(outbox.draft('new'), '');
  assert.match(outbox.keyFor('new', { content: 'Hello' }), UUID);
});

test('a press of the button counts unless it began before the button showed what it shows', () => {
  const button = { shown: 1_000, used: -Infinity };
  assert.equal(isMeant({ began: 999, clicks: 1 }, button), false);
  assert.equal(isMeant({ began: 1_000, clicks: 1 }, button), true);
  assert.equal(isMeant({ began: 1_000, clicks: 0 }, button), true); // by keyboard, or by a screen reader
});

test('the second half of a double tap or a double click is no press of its own', () => {
  const button = { shown: 1_005, used: 1_000 };
  assert.equal(isMeant({ began: 1_150, clicks: 1 }, button), false);
  assert.equal(isMeant({ began: 1_349, clicks: 1 }, button), false);
  assert.equal(isMeant({ began: 1_350, clicks: 1 }, button), true);
  assert.equal(isMeant({ began: 1_900, clicks: 2 }, button), false); // a slow double click
  assert.equal(isMeant({ began: 2_000, clicks: 2 }, button), true); // nobody clicks on for ever without effect
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isIntendedPress, isSendKey } from '../../static/js/composer.js';
import { DraftStore, newUuid } from '../../static/js/drafts.js';
import { MemoryStorage } from './memory_storage.mjs';

const modifiers = { shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };
const enter = { key: 'Enter', keyCode: 13, isComposing: false, ...modifiers };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test('Enter sends, Shift and Enter make a new line', () => {
  assert.equal(isSendKey(enter, false), true);
  assert.equal(isSendKey({ ...enter, shiftKey: true }, false), false);
  assert.equal(isSendKey({ ...enter, key: 'a' }, false), false);
});

test('the Enter that ends a composition does not send', () => {
  assert.equal(isSendKey({ ...enter, isComposing: true }, false), false);
  assert.equal(isSendKey({ ...enter, keyCode: 229 }, false), false);
  assert.equal(isSendKey({ ...enter, keyCode: 229, ctrlKey: true }, true), false);
});

test('on touch Enter makes a new line; with Control it sends', () => {
  assert.equal(isSendKey(enter, true), false);
  assert.equal(isSendKey({ ...enter, ctrlKey: true }, true), true);
  assert.equal(isSendKey({ ...enter, metaKey: true, shiftKey: true }, false), true);
});

test('a key is a version 4 UUID, also without randomUUID', () => {
  assert.match(newUuid(), UUID);
  const own = Object.getOwnPropertyDescriptor(crypto, 'randomUUID');
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  try {
    assert.match(newUuid(), UUID);
    assert.notEqual(newUuid(), newUuid());
  } finally {
    if (own) Object.defineProperty(crypto, 'randomUUID', own);
    else delete crypto.randomUUID;
  }
});

test('a message keeps its client key until the key is cleared', () => {
  const drafts = new DraftStore(new MemoryStorage(), '7');
  const key = drafts.keyFor('new', { content: 'Hello' });
  assert.equal(drafts.keyFor('new', { content: 'Hello' }), key);
  assert.notEqual(drafts.keyFor('other', { content: 'Hello' }), key);
  assert.notEqual(drafts.keyFor('new', { content: 'Hello', model: 'm' }), key);
  const again = drafts.keyFor('new', { content: 'Hello' });
  drafts.clearKey('new');
  assert.notEqual(drafts.keyFor('new', { content: 'Hello' }), again);
});

test('drafts belong to one person and one conversation', () => {
  const storage = new MemoryStorage();
  const alice = new DraftStore(storage, '7');
  const bob = new DraftStore(storage, '77');
  alice.save('new', 'from alice');
  bob.save('new', 'from bob');
  const drafts = [alice.load('new'), bob.load('new'), alice.load('other')];
  assert.deepEqual(drafts, ['from alice', 'from bob', '']);
  alice.clear();
  assert.deepEqual([alice.load('new'), bob.load('new')], ['', 'from bob']);
});

test('names lists the person’s own drafts by prefix', () => {
  const storage = new MemoryStorage();
  const alice = new DraftStore(storage, '7');
  new DraftStore(storage, '77').save('edit-a-1', 'of another person');
  alice.save('edit-a-1', 'one');
  alice.save('edit-b-1', 'two');
  alice.save('new', 'three');
  assert.deepEqual(alice.names('edit-'), ['edit-a-1', 'edit-b-1']);
  assert.deepEqual(alice.names('edit-b'), ['edit-b-1']);
  assert.deepEqual(new DraftStore(null, '7').names(''), []);
});

test('without storage nothing is kept and nothing fails', () => {
  const drafts = new DraftStore(null, '7');
  drafts.save('new', 'text');
  drafts.clear();
  assert.equal(drafts.load('new'), '');
  assert.match(drafts.keyFor('new', { content: 'Hello' }), UUID);
});

test('a press counts if the button showed its action before it', () => {
  const button = { shownAt: 1_000, usedAt: -Infinity };
  assert.equal(isIntendedPress({ pressedAt: 999, clicks: 1 }, button), false);
  assert.equal(isIntendedPress({ pressedAt: 1_000, clicks: 1 }, button), true);
  assert.equal(isIntendedPress({ pressedAt: 1_000, clicks: 0 }, button), true); // by keyboard, or by a screen reader
});

test('the second half of a double click does not count', () => {
  const button = { shownAt: 1_005, usedAt: 1_000 };
  assert.equal(isIntendedPress({ pressedAt: 1_150, clicks: 1 }, button), false);
  assert.equal(isIntendedPress({ pressedAt: 1_349, clicks: 1 }, button), false);
  assert.equal(isIntendedPress({ pressedAt: 1_350, clicks: 1 }, button), true);
  assert.equal(isIntendedPress({ pressedAt: 1_900, clicks: 2 }, button), false); // a slow double click
  assert.equal(isIntendedPress({ pressedAt: 2_000, clicks: 2 }, button), true); // nobody clicks on for ever without effect
});

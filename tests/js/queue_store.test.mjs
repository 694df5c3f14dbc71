import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { DraftStore } from '../../static/js/drafts.js';
import { QueueStore } from '../../static/js/queue_store.js';
import { MemoryStorage } from './memory_storage.mjs';

let drafts;

const open = (conversation = 'c') => new QueueStore(drafts, conversation);
const textsOf = (queue) => queue.items.map(({ text }) => text);

beforeEach(() => (drafts = new DraftStore(new MemoryStorage(), '7')));

test('messages keep their order, and all tabs see the same', () => {
  const [one, two] = [open(), open()];
  one.add('first', { model: 'glm' });
  two.add('second', { model: 'llama' });
  assert.deepEqual(textsOf(two), ['first', 'second']);
  assert.deepEqual(textsOf(one), ['first']);
  one.read();
  assert.deepEqual(one.items, two.items);
  assert.deepEqual(textsOf(open('another conversation')), []);
});

test('an empty queue is not stored, and is not held', () => {
  const queue = open();
  queue.add('first');
  queue.held = true;
  assert.equal(open().held, true);
  queue.remove(queue.items[0].key);
  assert.deepEqual([queue.held, drafts.names('')], [false, []]);
});

test('a changed message has another client key and choice', () => {
  const queue = open();
  queue.add('first', { model: 'glm' });
  const [{ key }] = queue.items;
  queue.startEdit(key);
  queue.setDraft(key, 'first, and on');
  assert.equal(open().find(key).draft, 'first, and on');
  const newKey = queue.endEdit(key, 'first, and on', { model: 'llama', tools: [] });
  assert.notEqual(newKey, key);
  const { at, ...changed } = queue.items[0];
  assert.deepEqual(changed, { key: newKey, text: 'first, and on', model: 'llama', tools: [] });
});

test('an edit that changes nothing keeps the message as it was', () => {
  const queue = open();
  queue.add('first', { model: 'glm' });
  const [before] = structuredClone(queue.items);
  queue.startEdit(before.key);
  queue.setDraft(before.key, 'other words');
  queue.startEdit(before.key);
  assert.equal(queue.find(before.key).draft, 'other words');
  assert.equal(queue.endEdit(before.key, 'first', { model: 'llama' }), before.key);
  assert.deepEqual(queue.items, [before]);
});

test('the queue moves to the conversation that its first message created', () => {
  const queue = open('');
  queue.add('second');
  queue.held = true;
  const reloaded = open('');
  open('').add('of a second tab');
  assert.equal(reloaded.name, 'queue-new');
  reloaded.moveTo('c');
  assert.deepEqual([reloaded.name, textsOf(open('c')), textsOf(open(''))], ['queue-c', ['second'], ['of a second tab']]);
  assert.deepEqual([open('c').held, open('').held], [true, true]);
});

test('without storage the page alone knows the messages', () => {
  drafts = new DraftStore(null, '7');
  const queue = open();
  queue.add('first');
  queue.add('second');
  queue.read();
  assert.deepEqual(textsOf(queue), ['first', 'second']);
});

test('a message keeps its attachments, through an edit too', () => {
  const queue = open();
  const attachments = [{ id: 'p', url: '/attachments/p/' }];
  queue.add('first', { model: 'glm' }, attachments);
  queue.add('second');
  const key = queue.endEdit(queue.items[0].key, 'changed', { model: 'glm' });
  assert.deepEqual(queue.find(key).attachments, attachments);
  assert.equal('attachments' in queue.items[1], false);
});

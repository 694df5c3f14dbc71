import assert from 'node:assert/strict';
import { test } from 'node:test';

import { actionAtEnd, continuesEarlier } from '../../static/js/message_queue.js';

const MINUTE_MS = 60_000;

test('the next message is sent after a reply that is complete', () => {
  assert.equal(actionAtEnd('done', 'complete', false), 'send');
});

test('a stop on this page lets later messages be sent', () => {
  assert.equal(actionAtEnd('done', 'stopped', true), 'send');
});

test('after a failure, or a stop from elsewhere, the queue is held', () => {
  for (const status of ['stopped', 'failed', 'interrupted', 'truncated']) {
    assert.equal(actionAtEnd('done', status, false), 'hold', status);
  }
  assert.equal(actionAtEnd('done', 'failed', true), 'hold');
  for (const kind of ['refused', 'unreachable', 'signed-out', 'cancelled']) {
    assert.equal(actionAtEnd(kind, 'queued', false), 'hold', kind);
  }
});

test('a message is tried again while another reply is written', () => {
  assert.equal(actionAtEnd('busy', 'queued', false), 'retry');
});

test('a page sends what an earlier one left within the hour', () => {
  assert.equal(continuesEarlier('complete', 59 * MINUTE_MS), true);
  assert.equal(continuesEarlier('complete', 60 * MINUTE_MS), false);
  assert.equal(continuesEarlier('failed', MINUTE_MS), false);
  assert.equal(continuesEarlier(undefined, MINUTE_MS), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pollDelay, staleFrom } from '../../static/js/sync.js';

const MINUTE_MS = 60_000;
// The last three messages, as the server lists them: the last one first.
const STATE = { trail: ['r2', 'q2', 'r1'], run: 'two', status: 'complete' };
const SHOWN = { ids: ['r2', 'q2', 'r1', 'q1'], anchor: 'r2', run: 'two', status: 'complete' };

test('a page that shows the server’s messages is up to date', () => {
  assert.equal(staleFrom(SHOWN, STATE), null);
  assert.equal(staleFrom({ ...SHOWN, run: '' }, { ...STATE, run: null, status: '' }), null);
});

test('a last reply with another run or status is out of date', () => {
  assert.equal(staleFrom(SHOWN, { ...STATE, run: 'three' }), 'r2');
  assert.equal(staleFrom(SHOWN, { ...STATE, status: 'running' }), 'r2');
});

test('after a turn made elsewhere the page is updated from its last message', () => {
  assert.equal(staleFrom({ ...SHOWN, ids: ['r1', 'q1'] }, STATE), 'r1');
});

test('messages that are on no branch any more are updated from the last common one', () => {
  assert.equal(staleFrom({ ...SHOWN, ids: ['r2-other', 'q2', 'r1', 'q1'] }, STATE), 'q2');
  assert.equal(staleFrom({ ...SHOWN, ids: ['r2-other', 'q2-other', 'r1', 'q1'] }, STATE), 'r1');
});

test('without a common message all that is shown is out of date', () => {
  assert.equal(staleFrom({ ...SHOWN, ids: ['r9', 'q9'] }, STATE), 'r9');
  assert.equal(staleFrom({ ...SHOWN, ids: [] }, STATE), '');
});

test('after own turns the page is updated from where it last matched', () => {
  const ids = ['r2', 'q2', 'r1', 'q1', 'r0', 'q0'];
  assert.equal(staleFrom({ ...SHOWN, ids, anchor: 'q1' }, STATE), 'q1');
  assert.equal(staleFrom({ ...SHOWN, ids, anchor: 'r1' }, STATE), null);
});

test('an idle page, and one that gets no answer, asks less often', () => {
  assert.equal(pollDelay(0, 0), 1_500);
  assert.equal(pollDelay(3 * MINUTE_MS, 0), 1_500);
  assert.equal(pollDelay(6 * MINUTE_MS, 0), 3_000);
  assert.equal(pollDelay(0, 2), 6_000);
  assert.equal(pollDelay(0, 30), 15_000);
  assert.equal(pollDelay(60 * MINUTE_MS, 0), 15_000);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { secondsUntil } from '../../static/js/outcome.js';

test('a countdown shows whole seconds, and 1 until its end', () => {
  assert.equal(secondsUntil(5_000, 0), 5);
  assert.equal(secondsUntil(5_000, 500), 5);
  assert.equal(secondsUntil(5_000, 4_999), 1);
  assert.equal(secondsUntil(5_000, 5_000), 0);
});

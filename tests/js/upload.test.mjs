import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isRetryable, listed } from '../../static/js/upload.js';

const more = (n) => `${n} more`;
globalThis.document = { documentElement: { lang: 'en' } };

test('names are listed as the language lists them', () => {
  assert.equal(listed(['a.png'], more), 'a.png');
  assert.equal(listed(['a.png', 'b.png'], more), 'a.png, b.png');
});

test('many names are listed by their first ones and a count', () => {
  const names = Array.from({ length: 40 }, (_none, index) => `${index}.png`);
  assert.equal(listed(names, more), '0.png, 1.png, 2.png, 3.png, 36 more');
  assert.equal(listed(names.slice(0, 5), more), '0.png, 1.png, 2.png, 3.png, 4.png');
});

test('a long name keeps its beginning and its end', () => {
  const name = `${'x'.repeat(200)}.png`;
  const short = listed([name], more);
  assert.ok(short.length <= 40, short);
  assert.ok(short.startsWith('xxx') && short.endsWith('x.png'), short);
});

test('a file is kept if another attempt can succeed', () => {
  for (const status of [0, 401, 403, 429, 500, 502, 503]) assert.ok(isRetryable(status), `${status}`);
  for (const status of [400, 404, 413, 415, 422]) assert.ok(!isRetryable(status), `${status}`);
});

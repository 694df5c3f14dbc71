import assert from 'node:assert/strict';
import { test } from 'node:test';

import { matches } from '../../static/js/model_list.js';

const TEXT = 'gpt oss 120b hard questions, maths and code openai @cf/openai/gpt-oss-120b';

test('each word has to be somewhere in the text, also within a word', () => {
  assert.ok(matches(TEXT, ''));
  assert.ok(matches(TEXT, 'gpt maths'));
  assert.ok(matches(TEXT, 'pena'));
  assert.ok(!matches(TEXT, 'gpt writing'));
});

test('a number is found by its beginning only', () => {
  assert.ok(matches(TEXT, '120b'));
  assert.ok(matches(TEXT, '12'));
  assert.ok(!matches(TEXT, '20b'));
  assert.ok(matches('llama 3.2 3b', '3b'));
  assert.ok(!matches('llama 3.2 1b', '2'));
  assert.ok(matches('qwen2.5', '2.5'));
});

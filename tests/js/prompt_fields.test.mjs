import assert from 'node:assert/strict';
import test from 'node:test';

import { fieldsOf, fillFields } from '../../static/js/prompt_fields.js';

test('fields are found once, in their order, with the first default', () => {
  const text = 'Write to {{ person }} about {{topic:the weather}} in {{language:English: formal}}. Greet {{person:Ada}}.';
  assert.deepEqual(fieldsOf(text), [
    { name: 'person', value: 'Ada' },
    { name: 'topic', value: 'the weather' },
    { name: 'language', value: 'English: formal' },
  ]);
});

test('a default may have several lines and be empty', () => {
  assert.deepEqual(fieldsOf('{{a:one\ntwo}} {{b:}} {{Schlüssel wort}}'), [
    { name: 'a', value: 'one\ntwo' },
    { name: 'b', value: '' },
    { name: 'Schlüssel wort', value: '' },
  ]);
});

test('white space around a name is that of scripts', () => {
  assert.deepEqual(fieldsOf('{{\ufeffa}} {{\x85}}'), [{ name: '\x85', value: '' }]);
});

test('other braces are text', () => {
  for (const text of ['{a}', '{{}}', '{{ }}', '{{:x}}', '{{a\nb}}', '{ {a} }', '{{a}', 'f({{}})', '${x}']) {
    assert.deepEqual(fieldsOf(text), [], text);
    assert.equal(fillFields(text, new Map([['a', 'x']])), text);
  }
});

test('values are filled in literally, wherever a field stands', () => {
  const values = new Map([['a', '$& {{b}}'], ['b', '']]);
  assert.equal(fillFields('{{a}}|{{b:x}}|{{ a }}|{{c}}', values), '$& {{b}}||$& {{b}}|{{c}}');
});

test('a long text of braces is read in linear time', () => {
  const text = '{{'.repeat(10_000) + ' '.repeat(20_000);
  assert.deepEqual(fieldsOf(text), []);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { titleOf } from '../../static/js/title.js';
import { Page } from '../../static/js/transcript.js';

/** As much of a document as a Page looks at. */
function pageOf(attributes, tokens = [{ value: 'old' }]) {
  const inTemplate = { value: 'old' };
  const template = { content: { querySelectorAll: () => [inTemplate] } };
  globalThis.document = {
    documentElement: { lang: 'en' },
    getElementById: () => null,
    querySelector: () => tokens[0],
    querySelectorAll: (selector) => (selector === 'template' ? [template] : tokens),
  };
  const main = { getAttribute: (name) => attributes[name] ?? null, dataset: {} };
  return { page: new Page(main), tokens: [...tokens, inTemplate] };
}

test('a sentence is the page’s own, with its names filled in', () => {
  const { page } = pageOf({ 'data-msg-said': '{model} said {what}', 'data-msg-seconds': '{n} s' });
  assert.equal(page.say('said', { model: 'GLM' }), 'GLM said {what}');
  assert.equal(page.say('missing'), '');
  assert.equal(page.seconds(3.14159), '3.1 s');
  assert.equal(page.seconds(3, 0), '3 s');
});

test('a number has the form that the language gives it', () => {
  const { page } = pageOf({ 'data-msg-tokens-one': '{n} token', 'data-msg-tokens-other': '{n} tokens' });
  assert.deepEqual([page.count('tokens', 1), page.count('tokens', 2)], ['1 token', '2 tokens']);
});

test('an address has the id in its place', () => {
  const { page } = pageOf({ 'data-url-send': '/c/00000000-0000-0000-0000-000000000000/messages/' });
  assert.equal(page.url('send', 'abc'), '/c/abc/messages/');
});

test('a new token goes into every form, those in templates too', () => {
  const { page, tokens } = pageOf({});
  assert.equal(page.token, 'old');
  page.token = 'new';
  assert.deepEqual(tokens.map(({ value }) => value), ['new', 'new']);
});

test('a title is the first line that says something', () => {
  assert.equal(titleOf('\n  Tell me   a story\nand another one'), 'Tell me a story');
  assert.equal(titleOf(' \n '), '');
});

test('a long title is cut at a word, a long word anywhere, a character nowhere', () => {
  assert.equal(titleOf('word '.repeat(40)), `${'word '.repeat(15).trim()}…`);
  assert.equal(titleOf('x'.repeat(200)), `${'x'.repeat(79)}…`);
  assert.equal(titleOf('👩'.repeat(81)), `${'👩'.repeat(79)}…`);
  assert.equal(titleOf('👩'.repeat(80)), '👩'.repeat(80));
});

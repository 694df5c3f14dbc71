import assert from 'node:assert/strict';
import { test } from 'node:test';

import { followsAfterScroll, page } from '../../static/js/page.js';
import { count } from '../../static/js/reply.js';
import { isLongQuestion } from '../../static/js/turn.js';

let given = {};
const main = { getAttribute: (name) => given[name] ?? null, dataset: {} };

/** As much of a document as the page's data need. @returns {{value: string}[]} its tokens */
function pageOf(attributes, tokens = [{ value: 'old' }]) {
  const inTemplate = { value: 'old' };
  const template = { content: { querySelectorAll: () => [inTemplate] } };
  given = attributes;
  globalThis.document = {
    documentElement: { lang: 'en' },
    getElementById: (id) => (id === 'chat' ? main : null),
    querySelector: () => tokens[0],
    querySelectorAll: (selector) => (selector === 'template' ? [template] : tokens),
  };
  return [...tokens, inTemplate];
}

test('a text has its names filled in', () => {
  pageOf({ 'data-msg-reply-heading': '{model} said {what}', 'data-msg-seconds': '{n} s' });
  assert.equal(page.text('reply-heading', { model: 'GLM' }), 'GLM said {what}');
  assert.equal(page.text('missing'), '');
  assert.equal(page.seconds(3.14159), '3.1 s');
  assert.equal(page.seconds(3, 0), '3 s');
});

test('a count has the plural form of the language', () => {
  pageOf({ 'data-msg-tokens-one': '{n} token', 'data-msg-tokens-other': '{n} tokens' });
  assert.deepEqual([count('tokens', 1), count('tokens', 2)], ['1 token', '2 tokens']);
});

test('a URL has the id in place of the placeholder', () => {
  pageOf({ 'data-url-send': '/c/00000000-0000-0000-0000-000000000000/messages/' });
  assert.equal(page.url('send', 'abc'), '/c/abc/messages/');
});

test('a new token is set in every form, also in templates', () => {
  const tokens = pageOf({});
  assert.equal(page.token, 'old');
  page.token = 'new';
  assert.deepEqual(tokens.map(({ value }) => value), ['new', 'new']);
});

test('a reader who moves up is left alone', () => {
  assert.equal(followsAfterScroll(true, -50, 300), false);
  assert.equal(followsAfterScroll(true, -2, 300), true); // less than a pixel of a zoomed page
});

test('a reader who comes down to the end is followed again', () => {
  assert.equal(followsAfterScroll(false, 50, 119), true);
  assert.equal(followsAfterScroll(false, 50, 120), false);
  assert.equal(followsAfterScroll(false, 0, 0), false);
});

test('a page that became shorter is followed on', () => {
  assert.equal(followsAfterScroll(true, -50, 0), true);
  assert.equal(followsAfterScroll(false, -50, 0), false);
});

test('text that arrives faster than the page scrolls is followed on', () => {
  assert.equal(followsAfterScroll(true, 50, 900), true);
});

test('a question is folded by its length, in which each line counts more', () => {
  assert.equal(isLongQuestion('x'.repeat(2_450)), false);
  assert.equal(isLongQuestion('x'.repeat(2_451)), true);
  assert.equal(isLongQuestion('\n'.repeat(48)), false);
  assert.equal(isLongQuestion('\n'.repeat(49)), true);
});

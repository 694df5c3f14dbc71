import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TrayLimits, blindModel } from '../../static/js/tray_limits.js';

const MODELS = {
  cheap: { name: 'Cheap', label: 'Cheap', sees: false, room: 1_000, parts: 600, price: 0.5 },
  free: { name: 'Free', label: 'Free', sees: true, room: 1_000, parts: 600, price: 0 },
  dear: { name: 'Dear', label: 'Dear', sees: true, room: 9_000_000, parts: 600, price: 10 },
};
const dataset = {
  models: JSON.stringify(MODELS),
  pictures: 'free',
  tokens: '{n} tokens',
  upTo: 'up to {cost}',
  cost: '{tokens}, {cost} with {model}',
  instead: '{instead} for {model}',
  blind: 'no eyes',
  long: 'too long',
};

function limits(model, lang = 'en', more = {}) {
  globalThis.document = { documentElement: { lang }, getElementById: () => ({ value: model }) };
  return new TrayLimits({ dataset: { ...dataset, ...more } });
}

test('a document shows what it costs only from a cent on', () => {
  assert.deepEqual(limits('cheap').cost(800, 1_000), { text: '', title: '800 tokens, $0.0004 with Cheap' });
  assert.deepEqual(limits('dear').cost(123_456, 123_456), { text: '$1.23', title: '123K tokens, $1.23 with Dear' });
  assert.equal(limits('cheap').cost(1, 1).title, '1 tokens, < $0.0001 with Cheap');
});

test('documents that are too long show their tokens, and cost at most the best parts', () => {
  assert.deepEqual(limits('cheap').cost(1_001, 1_001), { text: '1K tokens', title: '1K tokens, up to $0.0003 with Cheap' });
  assert.equal(limits('cheap').cost(400, 1_001).title, '400 tokens, up to $0.0002 with Cheap');
});

test('a model without a price, or unknown, shows no cost', () => {
  for (const model of ['free', 'gone']) assert.deepEqual(limits(model).cost(800, 800), { text: '', title: '800 tokens' });
});

test('the cost is written as the language writes it', () => {
  assert.equal(limits('dear', 'de').cost(800_000, 800_000).text, '8,00\u00a0$');
});

test('the hints say what the model cannot do, and which one does', () => {
  assert.deepEqual(limits('cheap').hints({ hasPictures: true, tokens: 1_001 }), ['Free for Cheap', 'too long']);
  assert.deepEqual(limits('free').hints({ hasPictures: true, tokens: 1_000 }), []);
});

test('where no model sees, pictures are not taken', () => {
  const blind = limits('cheap', 'en', { pictures: '' });
  assert.deepEqual(blind.hints({ hasPictures: true, tokens: 0 }), ['no eyes']);
  assert.equal(blind.takes('picture'), false);
  assert.equal(blind.takes('document'), true);
  assert.equal(limits('cheap').takes('picture'), true);
});

const EYES = { blind: { label: 'Blind', sees: false }, seeing: { label: 'Seeing', sees: true } };

test('only a model that cannot see is named', () => {
  assert.equal(blindModel(EYES, 'blind', false), 'Blind');
  assert.equal(blindModel(EYES, 'seeing', false), '');
  assert.equal(blindModel(EYES, 'gone', false), '');
});

test('nothing is said twice', () => {
  assert.equal(blindModel(EYES, 'blind', true), '');
});

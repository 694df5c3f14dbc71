import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TrayLimits, blindModel } from '../../static/js/tray_limits.js';

const MODELS = {
  cheap: { name: 'Cheap', sees: false, room: 1_000, parts: 600, price: 0.5 },
  free: { name: 'Free', sees: true, room: 1_000, parts: 600, price: 0 },
  dear: { name: 'Dear', sees: true, room: 9_000_000, parts: 600, price: 10 },
};
const dataset = { models: JSON.stringify(MODELS), upTo: 'up to {cost}', cost: 'With {model}', blind: '{model} is blind', long: '{model} is short' };

function limits(model, lang = 'en') {
  globalThis.document = { documentElement: { lang }, getElementById: () => ({ value: model }) };
  return new TrayLimits({ dataset });
}

test('a document costs its tokens at the price of input', () => {
  assert.deepEqual(limits('cheap').cost(800, 1_000), { text: '$0.0004', title: 'With Cheap' });
  assert.equal(limits('dear').cost(123_456, 123_456).text, '$1.23');
  assert.equal(limits('cheap').cost(1, 1).text, '< $0.0001');
});

test('documents that are too long cost at most the best parts', () => {
  assert.equal(limits('cheap').cost(1_001, 1_001).text, 'up to $0.0003');
  assert.equal(limits('cheap').cost(400, 1_001).text, 'up to $0.0002');
});

test('a model without a price, or unknown, shows no cost', () => {
  for (const model of ['free', 'gone']) assert.equal(limits(model).cost(800, 800).text, '');
});

test('the cost is written as the language writes it', () => {
  assert.equal(limits('cheap', 'de').cost(800, 800).text, '0,0004\u00a0$');
});

test('the hints say what the model cannot do', () => {
  assert.deepEqual(limits('cheap').hints({ hasPictures: true, tokens: 1_001 }), ['Cheap is blind', 'Cheap is short']);
  assert.deepEqual(limits('free').hints({ hasPictures: true, tokens: 1_000 }), []);
});

const EYES = { blind: { name: 'Blind', sees: false }, seeing: { name: 'Seeing', sees: true } };

test('only a model that cannot see is named', () => {
  assert.equal(blindModel(EYES, 'blind', false), 'Blind');
  assert.equal(blindModel(EYES, 'seeing', false), '');
  assert.equal(blindModel(EYES, 'gone', false), '');
});

test('nothing is said twice', () => {
  assert.equal(blindModel(EYES, 'blind', true), '');
});

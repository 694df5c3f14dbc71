import assert from 'node:assert/strict';
import { test } from 'node:test';

import { blindModel } from '../../static/js/earlier_pictures.js';

const MODELS = { blind: { name: 'Blind', sees: false }, seeing: { name: 'Seeing', sees: true } };

test('only a model that cannot see is named', () => {
  assert.equal(blindModel(MODELS, 'blind', false), 'Blind');
  assert.equal(blindModel(MODELS, 'seeing', false), '');
  assert.equal(blindModel(MODELS, 'gone', false), '');
});

test('nothing is said twice', () => {
  assert.equal(blindModel(MODELS, 'blind', true), '');
});

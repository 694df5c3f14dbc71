import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fileNameOf } from '../../static/js/code_actions.js';

test('a language has its own file name', () => {
  const names = ['python', 'py', 'bash', 'html', 'svg', 'c++', 'json', 'dockerfile', 'sql'].map(fileNameOf);
  assert.deepEqual(names, [
    ...['code.py', 'code.py', 'script.sh', 'index.html', 'image.svg', 'code.cpp', 'data.json', 'Dockerfile', 'query.sql'],
  ]);
});

test('any other language is saved as text', () => {
  const languages = ['', 'text', 'console', 'nonsense', 'constructor', '__proto__', 'tostring', '../../etc', '..', 'a.exe'];
  for (const language of [...languages, 'bat', 'cmd', 'vbs', 'reg', 'exe', 'hta']) {
    assert.equal(fileNameOf(language), 'code.txt', language);
  }
});

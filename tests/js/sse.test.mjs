import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EventStreamParser } from '../../static/js/event_stream.js';

function parse(pieces) {
  const events = [];
  const waits = [];
  const parser = new EventStreamParser((event) => events.push(event), (wait) => waits.push(wait));
  for (const piece of pieces) parser.push(piece);
  return { events, waits };
}

const data = (text) => parse([text]).events.map((event) => event.data);

test('the examples of the specification', () => {
  assert.deepEqual(data('data: YHOO\ndata: +2\ndata: 10\n\n'), ['YHOO\n+2\n10']);
  assert.deepEqual(data('data\n\ndata\ndata\n\ndata:'), ['', '\n']);
  assert.deepEqual(data('data:test\n\ndata: test\n\n'), ['test', 'test']);
  const blocks = [': test stream', 'data: first event\nid: 1', 'data:second event\nid', 'data:  third event'];
  const { events } = parse(blocks.map((block) => `${block}\n\n`));
  const seen = events.map((event) => [event.data, event.id]);
  assert.deepEqual(seen, [['first event', '1'], ['second event', ''], [' third event', '']]);
});

test('types last for one event, ids until the next one', () => {
  const { events } = parse(['event: meta\ndata: a\n\nid: 6.12\ndata: b\n\ndata: c\n\n']);
  assert.deepEqual(events, [
    { type: 'meta', data: 'a', id: '' },
    { type: 'message', data: 'b', id: '6.12' },
    { type: 'message', data: 'c', id: '6.12' },
  ]);
});

test('invalid ids, retries and unknown fields are ignored', () => {
  const { events, waits } = parse(['id: a\0b\nretry: 1x\nretry: 1700\nfoo: bar\ndata: x\n\n']);
  assert.deepEqual(events, [{ type: 'message', data: 'x', id: '' }]);
  assert.deepEqual(waits, [1700]);
});

test('an event without its blank line is not dispatched', () => {
  const { events } = parse(['id: 1\ndata: a\n\nid: 2\ndata: half']);
  assert.deepEqual(events, [{ type: 'message', data: 'a', id: '1' }]);
});

test('a forgotten id is not given to later events', () => {
  const ids = [];
  const parser = new EventStreamParser((event) => ids.push(event.id));
  parser.push('id: 9\ndata: a\n\n');
  parser.forgetId();
  parser.push('data: b\n\n');
  assert.deepEqual(ids, ['9', '']);
});

test('a line separator of Unicode ends no line', () => {
  assert.deepEqual(data('data: a\u2028b\u2029c\u0085d\n\n'), ['a\u2028b\u2029c\u0085d']);
});

/** A small generator with a seed, so that a failing stream can be made again. */
function random(seed) {
  return (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

function someStream(pick) {
  const end = ['\n', '\r', '\r\n'][pick(3)];
  const words = ['', 'Hello ', '{"response":"ü"}', '👩‍🚀', 'a:b', ' x', '漢字', '[DONE]'];
  const expected = [];
  let text = pick(2) ? '\uFEFF' : '';
  let id = '';
  for (let n = pick(6); n >= 0; n--) {
    const type = ['', 'meta', 'done'][pick(3)];
    const lines = Array.from({ length: pick(4) }, () => words[pick(words.length)]);
    if (pick(3) === 0) text += `: ping${end}`;
    if (type) text += `event: ${type}${end}`;
    if (pick(2)) text += `id: ${(id = `${pick(99)}.${pick(99)}`)}${end}`;
    text += lines.map((line) => `data: ${line}${end}`).join('') + end;
    if (lines.length) expected.push({ type: type || 'message', data: lines.join('\n'), id });
  }
  return { bytes: new TextEncoder().encode(text), expected };
}

async function decoded(bytes, pick, longest) {
  const source = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + pick(longest);
        controller.enqueue(bytes.slice(at, (at += size)));
      }
      controller.close();
    },
  });
  const pieces = [];
  for await (const piece of source.pipeThrough(new TextDecoderStream())) pieces.push(piece);
  return parse(pieces).events;
}

test('a stream cut anywhere gives the same events', async () => {
  for (let seed = 1; seed <= 500; seed++) {
    const pick = random(seed);
    const { bytes, expected } = someStream(pick);
    for (const longest of [1, 7, 1_000_000]) {
      const events = await decoded(bytes, pick, longest);
      assert.deepEqual(events, expected, `seed ${seed}, pieces up to ${longest} bytes`);
    }
  }
});

test('a long line in small pieces takes linear time', () => {
  const parser = new EventStreamParser(() => {});
  const started = process.cpuUsage(); // not the time that others use: linear are 20 ms, quadratic 10 s
  for (let n = 0; n < 20_000; n++) parser.push('x'.repeat(100));
  assert.ok(process.cpuUsage(started).user < 2_000_000);
});

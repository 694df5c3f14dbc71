import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { RunStream } from '../../static/js/stream.js';

const RUN = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
// However busy the machine is, nothing stalls for as long as `stallMs`.
const TIMINGS = { retryMs: 10, maxRetryMs: 30, stallMs: 600_000, maxRetryAfterMs: 3_000, maxSends: 3 };
const DONE = 'data: [DONE]\n\n';

const frame = (text, id, event = 'message', more = {}) =>
  `event: ${event}\n${id ? `id: ${id}\n` : ''}data: ${JSON.stringify({ response: text, ...more })}\n\n`;
const META = frame('', '', 'meta', { run: RUN, conversation: 'c', message: 'm' });
const END = frame('', '12!', 'done', { status: 'complete' });

const streams = []; // those of a test, which goes on with none of them if it fails

/** Gives one answer after the other, the last of them for ever; `stop` answers the stops. */
async function serving(answers, follow, stop = undefined) {
  const calls = [];
  const answer = async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { method, url, headers } = request;
    calls.push({ method, url, headers, body });
    const asked = calls.filter((call) => !call.url.endsWith('/stop/'));
    if (request.url.endsWith('/stop/')) await stop(response);
    else await answers[Math.min(asked.length, answers.length) - 1](response, request);
  };
  let fail;
  const failed = new Promise((_, reject) => (fail = reject));
  const server = createServer({ keepAliveTimeout: 0 }, (...both) => answer(...both).catch(fail));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const root = `http://127.0.0.1:${server.address().port}`;
  try {
    return await Promise.race([follow(root, calls), failed]);
  } finally {
    for (const stream of streams.splice(0)) {
      stream.reconnectNow();
      stream.pause();
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const OPEN = { 'Content-Type': 'text/event-stream', 'X-Run-Id': RUN };
const streaming = (...frames) => (response) => response.writeHead(200, OPEN).end(frames.join(''));
/** What a client has not read before the cut is lost. */
const cut = (isRead, ...frames) => async (response) => {
  silent(...frames)(response);
  await until(isRead);
  response.destroy();
};
const silent = (...frames) => (response) => void response.writeHead(200, OPEN).write(frames.join(''));
const refusing = (status, error = {}, headers = {}) => (response) => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify({ error }));
};

/** A stream and everything it told, in order. */
function listening(root, timings = {}) {
  const heard = { text: '', told: [] };
  const on = {};
  for (const name of ['accepted', 'open', 'meta', 'problem', 'done', 'disconnected']) {
    on[name] = (value) => heard.told.push([name, value]);
  }
  on.text = ({ response }) => (heard.text += response);
  on.reset = () => (heard.text = '');
  const ended = new Promise((resolve) => (on.end = (outcome) => resolve((heard.end = outcome))));
  const urls = { stream: (run) => `${root}/runs/${run}/stream/`, stop: (run) => `${root}/runs/${run}/stop/` };
  const stream = new RunStream({ urls, token: 'token', on, timings: { ...TIMINGS, ...timings } });
  streams.push(stream);
  return { stream, heard, ended, names: () => heard.told.map(([name]) => name) };
}

/** Counts turns and not seconds, which on a busy machine are over before anything has happened. */
const until = async (isTrue) => {
  for (let turns = 0; !isTrue(); turns++) {
    assert.ok(turns < 5_000, `in vain: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
const BODY = { content: 'Hello', client_key: 'key' };

test('a message is sent as JSON and its reply read to [DONE]', () =>
  serving([streaming(META, frame('Hello ', '6'), frame('you', '9'), END, DONE)], async (root, calls) => {
    const { stream, heard, names } = listening(root);
    await stream.send(`${root}/c/`, BODY);
    assert.equal(heard.text, 'Hello you');
    assert.equal(heard.end.kind, 'done');
    assert.deepEqual(names(), ['accepted', 'open', 'meta', 'done']);
    assert.equal(calls.length, 1);
    assert.deepEqual(JSON.parse(calls[0].body), BODY);
    const { headers } = calls[0];
    const named = [headers['content-type'], headers.accept, headers['x-csrftoken'], headers['last-event-id']];
    assert.deepEqual(named, ['application/json', 'text/event-stream', 'token', undefined]);
  }));

test('an end without [DONE] is resumed from the last id', () => {
  let heard;
  return serving([
    streaming(META, frame('a', '1'), frame('b', '2.7')),
    cut(() => heard.text === 'abc', META, frame('c', '3.7'), 'id: 4.7\ndata: {"resp'),
    streaming(META, frame('d', '4.7'), END, DONE),
  ], async (root, calls) => {
    const listened = listening(root);
    heard = listened.heard;
    await listened.stream.send(`${root}/c/`, BODY);
    assert.equal(heard.text, 'abcd');
    assert.deepEqual(calls.map(({ method, url, headers }) => [method, url, headers['last-event-id']]), [
      ['POST', '/c/', undefined],
      ['GET', `/runs/${RUN}/stream/`, '2.7'],
      ['GET', `/runs/${RUN}/stream/`, '3.7'],
    ]);
  });
});

test('a page resumes from the position in its HTML', () =>
  serving([streaming(META, frame('rest', '10'), END, DONE)], async (root, calls) => {
    const { stream, heard, names } = listening(root);
    await stream.follow(RUN, '6.12');
    assert.equal(calls[0].headers['last-event-id'], '6.12');
    assert.equal(heard.text, 'rest');
    assert.ok(!names().includes('accepted'));
  }));

test('204 says that there is no more', () =>
  serving([streaming(META, END), (response) => response.writeHead(204).end()], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.follow(RUN);
    assert.equal(heard.end.kind, 'done');
    assert.deepEqual(calls.map(({ headers }) => headers['last-event-id']), [undefined, '12!']);
  }));

test('reset empties the reply and its position', () =>
  serving([
    streaming(META, frame('old', '3'), frame('', '', 'reset'), frame('', '', 'problem', { message: 'x' })),
    streaming(META, frame('new', '3'), END, DONE),
  ], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.follow(RUN, '99');
    assert.equal(heard.text, 'new');
    assert.deepEqual(calls.map(({ headers }) => headers['last-event-id']), ['99', undefined]);
  }));

test('Retry-After is respected when sending and following', () =>
  serving([
    refusing(503, { code: 'draining' }, { 'Retry-After': '1' }),
    streaming(META),
    refusing(429, { retry_after: 1 }),
    streaming(META, END, DONE),
  ], async (root, calls) => {
    const { stream, heard, names } = listening(root);
    const ended = stream.send(`${root}/c/`, BODY);
    const waits = () => heard.told.filter(([name]) => name === 'disconnected').map(([, wait]) => wait);
    for (const attempts of [1, 3]) {
      await until(() => waits().length === attempts);
      stream.reconnectNow(); // in place of the wait
    }
    await ended;
    assert.equal(calls[0].body, calls[1].body);
    assert.deepEqual(waits().map((wait) => wait >= 1_000), [true, false, true]);
    assert.equal(names().filter((name) => name === 'accepted').length, 1);
  }));

test('a rejection with a long Retry-After is shown at once', () =>
  serving([
    refusing(429, { code: 'throttled', message: 'Later.' }, { 'Retry-After': '60' }),
  ], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.send(`${root}/c/`, BODY);
    const error = { code: 'throttled', message: 'Later.' };
    assert.deepEqual(heard.end, { kind: 'refused', status: 429, error });
    assert.equal(calls.length, 1);
  }));

test('a busy conversation ends with the kind busy', () =>
  serving([refusing(409, { code: 'busy', message: 'Wait.', run: OTHER })], async (root, calls) => {
    const { stream, heard, names } = listening(root);
    await stream.send(`${root}/c/x/messages/`, BODY);
    assert.deepEqual([heard.end.kind, heard.end.error.run], ['busy', OTHER]);
    assert.deepEqual(names(), []);
    assert.equal(calls.length, 1);
  }));

for (const status of [400, 401, 403, 404, 409, 413]) {
  const kind = status === 401 ? 'signed-out' : 'refused';
  test(`${status} is ${kind}, and not asked again`, () =>
    serving([refusing(status, { code: 'c', message: 'm' })], async (root, calls) => {
      for (const follow of [(stream) => stream.send(`${root}/c/`, BODY), (stream) => stream.follow(RUN)]) {
        const { stream, heard } = listening(root);
        await follow(stream);
        assert.deepEqual([heard.end.kind, heard.end.status, heard.end.error.message], [kind, status, 'm']);
      }
      assert.equal(calls.length, 2);
    }));
}

test('signed_out ends the stream, other problems are passed on', () =>
  serving([
    streaming(
      META,
      frame('a', '1'),
      frame('', '', 'problem', { code: 'busy', message: 'Slow.' }),
      frame('', '', 'problem', { code: 'signed_out' }),
    ),
  ], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.follow(RUN);
    assert.equal(heard.end.kind, 'signed-out');
    assert.deepEqual(heard.told.find(([name]) => name === 'problem')[1].message, 'Slow.');
    assert.equal(calls.length, 1);
  }));

test('a reconnect event starts a new connection', () =>
  serving([
    silent(META, frame('a', '1'), frame('', '', 'reconnect')),
    streaming(META, frame('b', '2'), END, DONE),
  ], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.follow(RUN);
    assert.equal(heard.text, 'ab');
    assert.equal(calls.length, 2);
  }));

test('a silent connection is closed, one with pings is not', async (t) => {
  const stalls = stallTimers(t);
  let heard;
  const pinged = async (response) => {
    response.writeHead(200, OPEN);
    for (let n = 0; n < 8; n++) {
      const before = stalls.set;
      response.write(': ping\n\n');
      await until(() => stalls.set > before);
    }
    response.end(META + frame('b', '2'));
  };
  await serving([
    silent(META, frame('a', '1')),
    pinged,
    streaming(META, frame('c', '3'), END, DONE),
  ], async (root, calls) => {
    const listened = listening(root);
    heard = listened.heard;
    const ended = listened.stream.follow(RUN);
    await until(() => heard.text === 'a');
    assert.deepEqual([stalls.waiting.size, calls.length], [1, 1]);
    for (const close of stalls.waiting.values()) close();
    await ended;
    assert.equal(heard.text, 'abc');
    assert.deepEqual([stalls.waiting.size, calls.length], [0, 3]);
  });
});

test('a long message has the time that it takes on a slow line', (t) => {
  const stalls = stallTimers(t);
  return serving([streaming(META, END, DONE)], async (root) => {
    await listening(root).stream.send(`${root}/c/`, { content: 'x'.repeat(90_000) });
    assert.ok(stalls.waits[0] >= TIMINGS.stallMs + 90_000);
    assert.equal(stalls.waits.at(-1), TIMINGS.stallMs);
  });
});

/** Keeps the timers of `stallMs` or more, which nothing but the test ends; `set` counts them. */
function stallTimers(t) {
  const found = { set: 0, waits: [], waiting: new Map() };
  const { setTimeout, clearTimeout } = globalThis;
  globalThis.setTimeout = (then, wait, ...more) => {
    if (!(wait >= TIMINGS.stallMs)) return setTimeout(then, wait, ...more);
    found.waits.push(wait);
    found.waiting.set(++found.set, then);
    return found.set;
  };
  globalThis.clearTimeout = (timer) => void (found.waiting.delete(timer) || clearTimeout(timer));
  t.after(() => Object.assign(globalThis, { setTimeout, clearTimeout }));
  return found;
}

test('a broken frame is read again from the last position', () =>
  serving([
    streaming(META, frame('a', '1'), 'id: 2\ndata: {"respo\n\n'),
    streaming(frame('b', '2'), END, DONE),
  ], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.follow(RUN);
    assert.equal(heard.text, 'ab');
    assert.equal(calls[1].headers['last-event-id'], '1');
  }));

test('a page in place of a stream is no stream', () =>
  serving([
    (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>Sign in'),
    streaming(META, END, DONE),
  ], async (root, calls) => {
    const { stream, names } = listening(root);
    await stream.send(`${root}/c/`, BODY);
    assert.deepEqual(names(), ['disconnected', 'accepted', 'open', 'meta', 'done']);
    assert.equal(calls[0].body, calls[1].body);
  }));

test('a message is given back after maxSends attempts', () =>
  serving([refusing(500)], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.send(`${root}/c/`, BODY);
    assert.equal(heard.end.kind, 'unreachable');
    assert.equal(new Set(calls.map(({ body }) => body)).size, 1);
    assert.equal(calls.length, TIMINGS.maxSends);
  }));

test('an offline message waits until the network is back, and may fail then as any other', () => {
  const network = { onLine: false };
  let stream;
  const back = (response) => {
    network.onLine = true;
    stream.reconnectNow();
    refusing(502)(response);
  };
  const answers = [...Array(8).fill(refusing(502)), back, ...Array(TIMINGS.maxSends - 1).fill(refusing(502))];
  return serving([...answers, streaming(META, END, DONE)], async (root, calls) => {
    const own = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    Object.defineProperty(globalThis, 'navigator', { value: network, configurable: true });
    try {
      const listened = listening(root);
      ({ stream } = listened);
      await stream.send(`${root}/c/`, BODY);
      assert.equal(listened.heard.end.kind, 'done');
      assert.equal(calls.length, answers.length + 1);
    } finally {
      if (own) Object.defineProperty(globalThis, 'navigator', own);
      else delete globalThis.navigator;
    }
  });
});

test('another stream continues from the position of the first', () =>
  serving([
    streaming(META, frame('a', '3'), frame('', '', 'problem', { code: 'signed_out' })),
    streaming(META, frame('b', '4'), END, DONE),
  ], async (root, calls) => {
    const first = listening(root);
    await first.stream.follow(RUN, '2');
    assert.equal(first.stream.position, '3');
    const second = listening(root);
    await second.stream.follow(RUN, first.stream.position);
    assert.equal(second.heard.text, 'b');
    assert.equal(calls[1].headers['last-event-id'], '3');
  }));

test('a run is followed for as long as it takes', () =>
  serving([...Array(8).fill(refusing(502)), streaming(META, END, DONE)], async (root, calls) => {
    const { stream, heard } = listening(root);
    await stream.follow(RUN);
    assert.equal(heard.end.kind, 'done');
    assert.equal(calls.length, 9);
  }));

test('the backoff starts at the retry field and resets with text', () =>
  serving([
    streaming('retry: 4\n\n', META),
    refusing(502),
    refusing(502),
    streaming(META, frame('a', '1')),
    streaming(END, DONE),
  ], async (root) => {
    const { stream, heard } = listening(root, { retryMs: 1_000_000, maxRetryMs: 1_000_000 });
    await stream.follow(RUN);
    const waits = heard.told.filter(([name]) => name === 'disconnected').map(([, wait]) => wait);
    assert.equal(waits.length, 4);
    [4, 8, 16, 4].forEach((most, n) => assert.ok(waits[n] <= most, `${waits[n]} of at most ${most} ms`));
  }));

test('stop is repeated until the server accepts it', () => {
  let writing;
  let stops = 0;
  const stop = (response) => {
    response.writeHead(++stops === 1 ? 503 : 202).end();
    if (stops === 2) writing.end(frame('b', '2') + frame('', '2!', 'done', { status: 'stopped' }) + DONE);
  };
  const start = (response) => void (writing = response.writeHead(200, OPEN)).write(META + frame('a', '1'));
  return serving([start], async (root, calls) => {
    const { stream, heard, ended } = listening(root);
    stream.send(`${root}/c/`, BODY);
    await until(() => heard.text);
    stream.stop();
    stream.stop();
    assert.equal((await ended).kind, 'done');
    assert.equal(heard.text, 'ab');
    assert.deepEqual(calls.map(({ url }) => url), ['/c/', `/runs/${RUN}/stop/`, `/runs/${RUN}/stop/`]);
    assert.equal(calls[1].headers['x-csrftoken'], 'token');
  }, stop);
});

test('stopped before anybody took it, a message is withdrawn', () =>
  serving([refusing(503, {}, { 'Retry-After': '600' })], async (root, calls) => {
    const { stream, ended, names } = listening(root, { maxRetryAfterMs: 600_000 });
    stream.send(`${root}/c/`, BODY);
    await until(() => names().includes('disconnected'));
    stream.stop();
    assert.equal((await ended).kind, 'cancelled');
    assert.equal(calls.length, 1);
  }));

test('a stop that came too soon is repeated when the server says', () => {
  let writing;
  const at = [];
  const stop = (response) => {
    if (at.push(performance.now()) === 1) return refusing(429, { retry_after: 0.3 })(response);
    response.writeHead(202).end();
    return void writing.end(frame('', '1!', 'done', { status: 'stopped' }) + DONE);
  };
  const start = (response) => void (writing = response.writeHead(200, OPEN)).write(META + frame('a', '1'));
  return serving([start], async (root) => {
    const { stream, heard, ended } = listening(root);
    stream.follow(RUN);
    await until(() => heard.text);
    stream.stop();
    assert.equal((await ended).kind, 'done');
    assert.equal(at.length, 2);
    assert.ok(at[1] - at[0] >= 290, `${at[1] - at[0]} ms`);
  }, stop);
});

for (const [status, kind] of [[401, 'signed-out'], [403, 'refused']]) {
  test(`a stop that gets ${status} ends the stream, which says why`, () =>
    serving([silent(META, frame('a', '1'))], async (root, calls) => {
      const { stream, heard, ended } = listening(root);
      stream.follow(RUN);
      await until(() => heard.text);
      stream.stop();
      assert.deepEqual(await ended, { kind, status, error: { message: 'm' } });
      assert.deepEqual([stream.stopping, stream.position, calls.length], [true, '1', 2]);
    }, refusing(status, { message: 'm' })));
}

test('resume continues where pause closed the connection', () => {
  let closed = false;
  const open = (response) => {
    silent(META, frame('a', '1'))(response);
    response.on('close', () => (closed = true));
  };
  return serving([open, streaming(META, frame('b', '2'), END, DONE)], async (root, calls) => {
    const { stream, heard, ended } = listening(root);
    stream.follow(RUN);
    await until(() => heard.text === 'a');
    stream.pause();
    await until(() => closed);
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(calls.length, 1);
    stream.resume();
    assert.equal((await ended).kind, 'done');
    assert.equal(heard.text, 'ab');
    assert.equal(calls[1].headers['last-event-id'], '1');
  });
});

test('reconnectNow during a lost attempt skips the backoff', () => {
  const lost = (response) => {
    stream.reconnectNow();
    response.destroy();
  };
  let stream;
  return serving([lost, streaming(META, END, DONE)], async (root, calls) => {
    const listened = listening(root, { retryMs: 1_000_000, maxRetryMs: 1_000_000 });
    stream = listened.stream;
    stream.follow(RUN);
    assert.equal((await listened.ended).kind, 'done');
    assert.equal(calls.length, 2);
    assert.ok(!listened.names().includes('disconnected'));
  });
});

test('the backoff of a message is at least half of its maximum', () =>
  serving([refusing(502)], async (root) => {
    const { stream, heard } = listening(root, { retryMs: 8, maxRetryMs: 32 });
    await stream.send(`${root}/c/`, BODY);
    const waits = heard.told.filter(([name]) => name === 'disconnected').map(([, wait]) => wait);
    assert.equal(heard.end.kind, 'unreachable');
    assert.equal(waits.length, 2); // none after the last attempt
    [8, 16].forEach((most, n) => assert.ok(waits[n] >= most / 2 && waits[n] <= most, `${waits[n]} of ${most} ms`));
  }));

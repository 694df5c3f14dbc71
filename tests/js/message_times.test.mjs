import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Clock } from '../../static/js/message_times.js';

test('times and days are those of the time zone', () => {
  const at = new Date('2026-11-21T23:05:00Z');
  assert.deepEqual([new Clock('en', 'Asia/Tokyo').day(at), new Clock('en', 'UTC').day(at)], ['2026-11-22', '2026-11-21']);
  assert.deepEqual([new Clock('en', 'Asia/Tokyo').time(at), new Clock('en', 'UTC').time(at)], ['08:05', '23:05']);
  assert.equal(new Clock('en', 'UTC').time(new Date('2026-11-21T00:05:00Z')), '00:05');
});

test('a day is written as the server writes it', () => {
  const dates = ['en', 'de', 'fr'].map((language) => new Clock(language, 'America/Lima').date('2026-11-02'));
  assert.deepEqual(dates, ['2 November 2026', '2. November 2026', '2 novembre 2026']);
});

test('a timestamp is written as the server writes it', () => {
  const at = new Date('2026-11-21T23:05:00Z');
  assert.equal(new Clock('en', 'Europe/Berlin').timestamp(at), '22 November 2026, 00:05 CET');
  assert.equal(new Clock('de', 'UTC').timestamp(at), '21. November 2026, 23:05 UTC');
});

test('today and yesterday have names', () => {
  const clock = new Clock('en', 'Europe/Berlin');
  const now = new Date('2026-11-22T12:00:00Z');
  const names = ['2026-11-23', '2026-11-22', '2026-11-21', '2026-11-20'].map((day) => clock.relativeName(day, now));
  assert.deepEqual(names, ['', 'today', 'yesterday', '']);
});

test('yesterday is the day before, also when it has 23 or 25 hours', () => {
  const clock = new Clock('en', 'Europe/Berlin');
  const afterShortDay = new Date('2026-03-29T22:30:00Z'); // 00:30 on the 30th
  assert.deepEqual([clock.day(afterShortDay), clock.relativeName('2026-03-29', afterShortDay)], ['2026-03-30', 'yesterday']);
  const endOfLongDay = new Date('2026-10-25T22:30:00Z'); // 23:30 on the 25th
  assert.deepEqual([clock.day(endOfLongDay), clock.relativeName('2026-10-24', endOfLongDay)], ['2026-10-25', 'yesterday']);
});

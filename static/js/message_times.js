import { page } from './page.js';

const DAY_MS = 86_400_000;

/**
 * Show when the messages were written, and name the days between them. The server does the same on its page;
 * here it is done again for what was added since.
 * @param {HTMLElement} thread  `data-time-zone`: the reader's
 */
export function updateTimes(thread) {
  const clock = new Clock(document.documentElement.lang, thread.dataset.timeZone);
  const shown = new Set();
  let last = clock.today;
  for (const article of thread.querySelectorAll('.message')) {
    const day = showTime(article, clock);
    if (day !== last) shown.add(nameDay(article, nameOf(day, clock)));
    last = day;
  }
  for (const name of thread.querySelectorAll('.day')) if (!shown.has(name)) name.remove();
}

/** @returns {string} the day on which the message was written: today, until the server has said when */
function showTime(article, clock) {
  const time = article.querySelector('.at');
  if (!time.dateTime) return clock.today;
  const at = new Date(time.dateTime);
  setText(time, clock.time(at));
  return clock.day(at);
}

/** @returns {HTMLElement} the line with the day's name above the message */
function nameDay(article, name) {
  const below = article.previousElementSibling?.matches('.context-start') ? article.previousElementSibling : article;
  let line = below.previousElementSibling;
  if (!line?.matches('.day')) {
    line = document.createElement('p');
    line.className = 'day';
    below.before(line);
  }
  setText(line, name);
  return line;
}

function nameOf(day, clock) {
  const relative = clock.relativeName(day);
  return relative ? page.text(relative) : clock.date(day);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Times and days in a time zone. A day is written as 2026-11-22. */
export class Clock {
  #language;
  #time;
  #day;
  #zoned;

  /** @param {string} [zone]  none: the browser's */
  constructor(language, zone) {
    this.#language = language.replace(/^en$/, 'en-GB'); // the server writes 12 November 2026
    const format = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone };
    this.#time = new Intl.DateTimeFormat(this.#language, format);
    this.#zoned = new Intl.DateTimeFormat(this.#language, { timeZone: zone, timeZoneName: 'short' });
    this.#day = new Intl.DateTimeFormat('sv', { timeZone: zone });
  }

  get today() {
    return this.day(new Date());
  }

  time(at) {
    return this.#time.format(at);
  }

  day(at) {
    return this.#day.format(at);
  }

  /** @returns {string} the day and the time with the zone's short name, as the server writes them */
  timestamp(at) {
    const parts = this.#zoned.formatToParts(at);
    return `${this.date(this.day(at))}, ${this.time(at)} ${parts.find(({ type }) => type === 'timeZoneName').value}`;
  }

  /** @returns {'today'|'yesterday'|''} */
  relativeName(day, now = Date.now()) {
    const today = this.day(now);
    if (day === today) return 'today';
    return Date.parse(day) === Date.parse(today) - DAY_MS ? 'yesterday' : '';
  }

  /** @returns {string} the day in words */
  date(day) {
    const format = new Intl.DateTimeFormat(this.#language, { dateStyle: 'long', timeZone: 'UTC' });
    return format.format(new Date(day));
  }
}

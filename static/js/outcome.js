import { regenerate } from './branches.js';
import { announce, complain } from './answers.js';
import { copyText } from './clipboard.js';
import { surround } from './merge.js';
import { nodesOf } from './transcript.js';

const WITHIN = 3_000; // milliseconds for which the retry button waits for the buttons that belong beside it
const LOOK = 500; // milliseconds between two looks at the clock

/**
 * Explain a reply that did not end well, and offer ways to go on, in words of the server. If these do not
 * come in time, the sentence that came with the end stays, together with the retry button.
 */
export async function tell(chat, article) {
  const html = await wordsOf(chat.page.url('outcome', article.dataset.message)).catch(() => '');
  if (!html) return;
  const fresh = nodesOf(html);
  const outcome = article.querySelector('[data-part=outcome]');
  const held = outcome.contains(document.activeElement);
  renew(outcome, fresh);
  if (held && !outcome.contains(document.activeElement)) outcome.querySelector('button')?.focus({ preventScroll: true });
  // A continuation would use up the tokens again that thinking has used up.
  if (outcome.querySelector('.offers')) article.querySelector('.more')?.remove();
  watch(chat, outcome);
  chat.enable(outcome);
  chat.hold();
}

async function wordsOf(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(WITHIN) });
  return response.ok && !response.redirected ? response.text() : '';
}

/** Keep the retry button as the same element, because it may be pressed at this very moment. */
function renew(outcome, fresh) {
  const [known, again] = [outcome, fresh].map((part) => part.querySelector('[data-action=regenerate]'));
  if (!known || !again) return outcome.replaceChildren(fresh);
  surround(known, again);
  surround(known.form, again.form);
}

/**
 * Show a countdown for as long as a retry is of no use. If the person
 * has pressed the button, the retry follows.
 */
export function watch(chat, root) {
  for (const button of root.querySelectorAll('[data-action=wait][hidden]')) {
    button.hidden = false;
    count(chat, button, performance.now() + button.dataset.seconds * 1_000);
  }
}

function count(chat, button, until) {
  if (!button.isConnected) return;
  const left = Math.ceil((until - performance.now()) / 1_000);
  if (left <= 0) return over(chat, button);
  show(chat, button, left);
  setTimeout(() => count(chat, button, until), LOOK);
}

function show(chat, button, left) {
  const time = chat.page.seconds(left, 0);
  const { wait, waiting } = button.dataset;
  button.textContent = (isPressed(button) ? waiting : wait).replace('{time}', time);
}

function over(chat, button) {
  const wanted = isPressed(button) && !chat.busy;
  const held = button === document.activeElement;
  button.hidden = true;
  if (wanted) regenerate(chat, button);
  else if (held) button.form.querySelector('[data-action=regenerate]')?.focus({ preventScroll: true });
}

function isPressed(button) {
  return button.ariaPressed === 'true';
}

/**
 * Request another version with the parameters in the button's
 * `data-parameters`, which also hold for later replies.
 */
export async function afresh(chat, button) {
  const parameters = JSON.parse(button.dataset.parameters);
  if (!(await regenerate(chat, button, { parameters }))) return;
  const { dataset } = document.getElementById('composer');
  dataset.parameters = JSON.stringify({ ...JSON.parse(dataset.parameters), ...parameters });
  document.getElementById('instructions').ariaDescription = chat.page.say('instructed');
}

/** Ask for a retry after the countdown, or take that back. */
export function wait(chat, button) {
  button.ariaPressed = String(!isPressed(button));
}

/** Open the question of this reply for editing, to shorten or reword it. */
export function reword(chat, button) {
  const article = button.closest('article');
  let question = article;
  while (question && !question.matches('.question')) question = question.previousElementSibling;
  if (question) question.querySelector('[data-action=edit]').click();
  else complain(article, chat.page.say('not-done'));
}

export async function copyRequest(chat, button) {
  const id = button.closest('.request').querySelector('code').textContent;
  const copied = await copyText(id);
  if (copied) announce(chat.page.say('copied'));
  else complain(button.closest('article'), chat.page.say('not-copied'));
}

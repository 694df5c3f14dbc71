import { fetchPart, showError } from './api.js';
import { page } from './page.js';
import { copySiblings, regenerate } from './thread.js';

const OUTCOME_TIMEOUT_MS = 3_000; // how long the retry button waits for the buttons beside it
const TICK_MS = 500; // interval of the countdown

/**
 * Show the sources of a reply, why it did not end well and what can be done about it, rendered by the server. If
 * this does not arrive in time, the error message of the `done` event and the retry button stay.
 */
export async function showOutcome(chat, article) {
  const signal = AbortSignal.timeout(OUTCOME_TIMEOUT_MS);
  const fresh = await fetchPart(page.url('outcome', article.dataset.message), { signal }).catch(() => null);
  if (!fresh) return;
  const outcome = article.querySelector('[data-part=outcome]');
  const hadFocus = outcome.contains(document.activeElement);
  replaceOutcome(outcome, fresh);
  if (hadFocus && !outcome.contains(document.activeElement)) outcome.querySelector('button')?.focus({ preventScroll: true });
  // If thinking has used up all tokens, a continuation would use them up the same way.
  if (outcome.querySelector('.retry-offers')) article.querySelector('.continue')?.remove();
  startCountdowns(chat, outcome);
  chat.updateTurnButtons(outcome);
  chat.followEnd();
}

/** Keep the element of the retry button, because it may just be pressed. */
function replaceOutcome(outcome, fresh) {
  const [oldButton, newButton] = [outcome, fresh].map((part) => part.querySelector('[data-action=regenerate]'));
  if (!oldButton || !newButton) return outcome.replaceChildren(fresh);
  copySiblings(oldButton, newButton);
  copySiblings(oldButton.form, newButton.form);
}

/** Show a countdown while a retry would fail. If the person has pressed the button, the retry follows. */
export function startCountdowns(chat, root) {
  for (const button of root.querySelectorAll('[data-action=wait][hidden]')) {
    const { seconds, wait, waiting } = button.dataset;
    const show = (time) => (button.textContent = (isPressed(button) ? waiting : wait).replace('{time}', time));
    button.hidden = false;
    countDown(button, seconds, show, () => onCountdownEnd(chat, button));
  }
}

/** Do what a refusal of a turn asks for, whose message the notice shows. */
export function onRefused({ message, retry_after: seconds, attachments }) {
  if (seconds) showWait(document.getElementById('notice'), seconds);
  if (attachments) dispatchEvent(new CustomEvent('attachments-missing', { detail: { message, attachments } }));
}

/**
 * Show the seconds that are left in a notice, and remove the notice afterwards.
 * The number is hidden from screen readers, which read the notice once: a number that
 * changes each second would be read each second.
 */
function showWait(notice, seconds) {
  const span = document.createElement('span');
  span.ariaHidden = 'true';
  notice.append(' ', span);
  countDown(span, seconds, (time) => (span.textContent = page.text('again-in', { time })), () => notice.replaceChildren());
}

/** Call `show` with the time that is left as long as the element is on the page, and `onEnd` at the end of that time. */
function countDown(element, seconds, show, onEnd) {
  const until = performance.now() + seconds * 1_000;
  const tick = () => {
    const left = secondsUntil(until);
    if (!element.isConnected) return undefined;
    if (left <= 0) return onEnd();
    show(page.seconds(left, 0));
    return setTimeout(tick, TICK_MS);
  };
  tick();
}

/** Return the whole seconds until a time of `performance.now()`, at least 1 before it. */
export function secondsUntil(time, now = performance.now()) {
  return Math.ceil((time - now) / 1_000);
}

function onCountdownEnd(chat, button) {
  const shouldRetry = isPressed(button) && !chat.busy;
  const hadFocus = button === document.activeElement;
  button.hidden = true;
  if (shouldRetry) regenerate(chat, button);
  else if (hadFocus) button.form.querySelector('[data-action=regenerate]')?.focus({ preventScroll: true });
}

function isPressed(button) {
  return button.ariaPressed === 'true';
}

/**
 * Request another version with the parameters in the button's
 * `data-parameters`, which also hold for later replies.
 */
export async function retryWith(chat, button) {
  const parameters = JSON.parse(button.dataset.parameters);
  if (!(await regenerate(chat, button, { parameters }))) return;
  const { dataset } = document.getElementById('composer');
  dataset.parameters = JSON.stringify({ ...JSON.parse(dataset.parameters), ...parameters });
  if ('thinking' in parameters) showThinking(parameters.thinking);
  document.getElementById('instructions').ariaDescription = page.text('instructed');
}

/** Show in the message box whether the model thinks. */
export function showThinking(checked) {
  const box = document.getElementById('thinking');
  if (box) Object.assign(box, { checked }).dispatchEvent(new Event('change'));
}

/** Request a retry after the countdown, or cancel it. */
export function toggleRetry(chat, button) {
  button.ariaPressed = String(!isPressed(button));
}

/** Open the question of this reply for editing, to shorten or reword it. */
export function editQuestion(chat, button) {
  const article = button.closest('article');
  let question = article;
  while (question && !question.matches('.question')) question = question.previousElementSibling;
  if (question) question.querySelector('[data-action=edit]').click();
  else showError(article, page.text('not-done'));
}

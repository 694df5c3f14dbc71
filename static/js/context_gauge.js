import { fetchText } from './api.js';

/** Show how much of the model's context window the conversation fills. If the request fails, show nothing. */
export async function showContext(page) {
  const gauge = document.getElementById('context');
  gauge.hidden = true;
  if (!page.conversation) return;
  const model = document.getElementById('model')?.value;
  const query = model ? `?${new URLSearchParams({ model })}` : '';
  const answer = await fetchText(page.url('context', page.conversation) + query).catch(() => '');
  if (!answer) return;
  const { tokens, window: size, text } = JSON.parse(answer);
  const meter = gauge.querySelector('meter');
  meter.max = size;
  meter.high = size * meter.dataset.high;
  meter.value = tokens;
  gauge.querySelector('[data-part=context-text]').textContent = text;
  gauge.hidden = false;
}

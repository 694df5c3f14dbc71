import { fetchHtml } from './api.js';
import { parseTrustedHtml } from './page.js';
import { setNumber, valueFor, valueOf } from './parameter_controls.js';

const select = document.getElementById('assistant-model');
const error = document.getElementById('no-parameters');
const chosen = {}; // the values on this form, also of models that were chosen before

select?.addEventListener('change', showParameters);

/** Show the parameters of the chosen model, with the values of the form as near as it takes them. */
async function showParameters() {
  const model = select.value;
  const query = new URLSearchParams({ assistant: '', ...(model && { model }) });
  const html = await fetchHtml(`${select.dataset.parameters}?${query}`).catch(() => '');
  if (model !== select.value) return; // changed again meanwhile
  error.hidden = Boolean(html);
  if (!html) return;
  remember();
  document.getElementById('parameters').replaceWith(parseTrustedHtml(html));
  controls().forEach(restore);
  const details = document.querySelector('#parameters details');
  if (details) details.open = [...details.querySelectorAll('[type=number]')].some((field) => field.value);
}

function controls() {
  return [...document.querySelectorAll('#parameters :is([type=radio], [type=number])')];
}

function remember() {
  for (const control of controls()) {
    if (control.type === 'radio' && !control.checked) continue;
    const value = valueOf(control);
    if (value === null) delete chosen[control.name];
    else chosen[control.name] = value;
  }
}

function restore(control, index, all) {
  const value = valueFor(control, chosen[control.name], all);
  if (control.type === 'radio') control.checked = control.value === value;
  else setNumber(control, value);
}

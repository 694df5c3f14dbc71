import { fetchPart } from './api.js';
import { controlsOf, setNumber, showValues, valueOf } from './parameter_controls.js';
import { deleteUpload, upload } from './upload.js';

const select = document.getElementById('assistant-model');
const error = document.getElementById('no-parameters');
const chosen = {}; // the values on this form, also of models that were chosen before

select?.addEventListener('change', showParameters);
// A browser cannot focus an invalid field in a closed <details>.
select?.form.addEventListener('invalid', ({ target }) => target.closest('details')?.setAttribute('open', ''), { capture: true });

/** Show the parameters of the chosen model, with the values of the form as near as it takes them. */
async function showParameters() {
  const model = select.value;
  const query = new URLSearchParams({ assistant: '', ...(model && { model }) });
  const part = await fetchPart(`${select.dataset.parameters}?${query}`).catch(() => null);
  if (model !== select.value) return; // changed again meanwhile
  error.hidden = part !== null;
  if (!part) return;
  remember();
  document.getElementById('parameters').replaceWith(part);
  showValues(document.getElementById('parameters'), chosen, setNumber);
}

function remember() {
  for (const control of controlsOf(document.getElementById('parameters'))) {
    if (control.type === 'radio' && !control.checked) continue;
    const value = valueOf(control);
    if (value === null) delete chosen[control.name];
    else chosen[control.name] = value;
  }
}

// The documents of the form are uploaded as they are chosen: each may be as large as a file may be, and the form only
// names them. Without this script the form brings them itself.

const fieldset = document.querySelector('#assistant-documents');
const pending = new Set(); // promises of the uploads that go on

if (fieldset) {
  const input = fieldset.querySelector('[type=file]');
  input.addEventListener('change', () => {
    for (const file of [...input.files]) addDocument(file);
    input.value = ''; // else the form would bring the files, too
  });
  fieldset.form.addEventListener('submit', waitForDocuments);
}

async function addDocument(file) {
  const row = fieldset.querySelector('template').content.cloneNode(true).firstElementChild;
  const progress = row.querySelector('progress');
  row.querySelector('bdi').textContent = file.name;
  progress.ariaLabel = file.name;
  fieldset.querySelector('ul').append(row);
  const cancelled = new AbortController();
  row.querySelector('button').addEventListener('click', () => {
    cancelled.abort();
    row.remove();
    fieldset.querySelector('[type=file]').focus();
  });
  const sent = upload(fieldset.dataset.upload, file, progress, cancelled.signal);
  pending.add(sent);
  showDocument(row, await sent);
  pending.delete(sent);
}

function showDocument(row, { status, body }) {
  row.querySelector('progress').remove();
  if (status !== 201 || body.kind !== 'document') {
    if (body.url) deleteUpload(body.url);
    const told = row.querySelector('.error');
    told.textContent = body.error?.message ?? (body.url ? told.dataset.picture : told.dataset.failed);
    told.hidden = false;
    row.querySelector('.option input').remove();
    return;
  }
  row.querySelector('button').remove();
  Object.assign(row.querySelector('input'), { value: body.id, disabled: false, checked: true });
  row.querySelector('bdi').textContent = body.name;
  Object.assign(row.querySelector('a'), { href: body.text_url, hidden: false });
}

async function waitForDocuments(event) {
  if (!pending.size) return;
  event.preventDefault();
  const { submitter } = event;
  await Promise.all(pending);
  event.target.requestSubmit(submitter);
}

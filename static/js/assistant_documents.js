import { Upload } from './upload.js';

/**
 * Upload the documents of an assistant's form as they are chosen: each may be as large as a file may be, and the
 * form only names them. Without this script the form brings them itself.
 */
class AssistantDocuments {
  #fieldset;
  #list;
  #template;
  #page;
  #pending = new Set();

  /** @param {HTMLFieldSetElement} fieldset */
  constructor(fieldset) {
    const { form } = fieldset;
    this.#fieldset = fieldset;
    this.#list = fieldset.querySelector('ul');
    this.#template = fieldset.querySelector('template');
    this.#page = { token: form.elements.csrfmiddlewaretoken.value };
    const input = fieldset.querySelector('[type=file]');
    input.addEventListener('change', () => {
      for (const file of [...input.files]) this.#add(file);
      input.value = ''; // else the form would bring the files, too
    });
    form.addEventListener('submit', (event) => this.#onSubmit(event));
  }

  async #add(file) {
    const row = this.#template.content.cloneNode(true).firstElementChild;
    row.querySelector('bdi').textContent = file.name;
    row.querySelector('progress').ariaLabel = file.name;
    this.#list.append(row);
    const upload = new Upload(this.#page, this.#fieldset.dataset.upload, row.querySelector('progress'));
    row.querySelector('button').addEventListener('click', () => {
      upload.abort();
      row.remove();
      this.#fieldset.querySelector('[type=file]').focus();
    });
    const sent = upload.send(file, 0);
    this.#pending.add(sent);
    this.#show(row, await sent);
    this.#pending.delete(sent);
  }

  #show(row, { status, body }) {
    row.querySelector('progress').remove();
    if (status !== 201 || body.kind !== 'document') {
      if (body.url) this.#delete(body.url);
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

  #delete(url) {
    // If it fails, the daily pruning deletes the file.
    fetch(url, { method: 'DELETE', headers: { 'X-CSRFToken': this.#page.token } }).catch(() => {});
  }

  /** Wait for the documents that are on their way. */
  async #onSubmit(event) {
    if (!this.#pending.size) return;
    event.preventDefault();
    const { submitter } = event;
    await Promise.all(this.#pending);
    event.target.requestSubmit(submitter);
  }
}

const fieldset = document.querySelector('#assistant-documents');
if (fieldset) new AssistantDocuments(fieldset);

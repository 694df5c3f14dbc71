import { SESSION_ENDED } from './attachment_parts.js';

/** The upload of one file. XMLHttpRequest reports its progress, which `fetch` does not. */
export class Upload {
  #page;
  #url;
  #progress;
  #request = null;

  /** @param {HTMLProgressElement} progress */
  constructor(page, url, progress) {
    this.#page = page;
    this.#url = url;
    this.#progress = progress;
  }

  /**
   * Upload the file. A person whose session has ended logs in first.
   * @param {File} file
   * @returns {Promise<{status: number, body: object}>} status 0: no answer
   */
  async send(file, retries = 1) {
    const answer = await this.#send(file);
    if (!retries || !SESSION_ENDED.includes(answer.status)) return answer;
    const { login } = await import('./login_dialog.js');
    return (await login(this.#page)) ? this.send(file, retries - 1) : answer;
  }

  abort() {
    this.#request?.abort();
  }

  #send(file) {
    const request = new XMLHttpRequest();
    const form = new FormData();
    form.append('file', file, file.name);
    this.#request = request;
    request.upload.onprogress = ({ loaded, total }) => Object.assign(this.#progress, { max: total, value: loaded });
    request.open('POST', this.#url);
    request.setRequestHeader('X-CSRFToken', this.#page.token);
    request.setRequestHeader('Accept', 'application/json');
    return new Promise((resolve) => {
      request.onloadend = () => resolve({ status: request.status, body: parseJson(request.responseText) });
      request.send(form);
    });
  }
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

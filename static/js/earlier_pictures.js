import { peekParts, sentence } from './attachment_parts.js';

const CODE = 'blind-above'; // of the notice, which goes when a model that sees is chosen

/**
 * Say above the message box that the chosen model gets no picture of the messages above. The server replaces each
 * by a line with its description, or its name.
 */
export async function explain(page, model) {
  const words = await peekParts(page);
  page.clearNotice(CODE);
  const name = blindModel(JSON.parse(words.dataset.models), model, document.querySelector('#composer .tray .picture') !== null);
  if (name) page.setNotice(sentence(words, 'blindAbove', { model: name }), '', CODE);
}

/**
 * @param {Record<string, {name: string, sees: boolean}>} models  by id: see chat/views/files/attachment_parts.py
 * @param {string} id  of the chosen one
 * @param {boolean} isSaid  the tray says it already of its own pictures, which cannot be sent
 * @returns {string} the name of a model that cannot see; '' if there is nothing to say
 */
export function blindModel(models, id, isSaid) {
  const chosen = models[id];
  return chosen && !chosen.sees && !isSaid ? chosen.name : '';
}

// A field of a prompt: {{name}}, or {{name:default}}. A name has one line, and neither braces nor a colon.
const FIELD = /\{\{[ \t]*([^{}:\s](?:[^{}:\n]*[^{}:\s])?)[ \t]*(?::([^{}]*))?\}\}/gu;

/**
 * Return the fields of a prompt, each once, in the order in which they appear. The first default of a name counts.
 * @param {string} text
 * @returns {{name: string, value: string}[]}  `value` is the default, '' without one
 */
export function fieldsOf(text) {
  const found = new Map();
  for (const [, name, value = ''] of text.matchAll(FIELD)) found.set(name, found.get(name) || value);
  return Array.from(found, ([name, value]) => ({ name, value }));
}

/**
 * Return the text with its fields filled in.
 * @param {string} text
 * @param {Map<string, string>} values  by name; a field without a value stays as it is written
 */
export function fillFields(text, values) {
  return text.replace(FIELD, (written, name) => values.get(name) ?? written);
}

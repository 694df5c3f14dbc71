const SWITCH_VALUES = { on: true, off: false };
const LEVELS = ['low', 'medium', 'high', 'xhigh', 'max'];

/**
 * Add the controls that need scripts to a form of parameters, once for each form: sliders that move with their
 * number fields, and a button at each field that resets it to the model's default.
 */
export function addControls(group) {
  if ('complete' in group.dataset) return;
  group.dataset.complete = '';
  const template = group.querySelector('template').content.firstElementChild;
  for (const field of group.querySelectorAll('[type=number]')) {
    const button = template.cloneNode(true);
    button.ariaLabel = button.ariaLabel.replace('{name}', field.labels[0].textContent);
    const cell = document.createElement('span');
    cell.className = 'number-field';
    field.replaceWith(cell);
    cell.append(button, field);
  }
  group.addEventListener('input', ({ target }) => onInput(target));
  group.addEventListener('click', onClick);
}

/** @returns {HTMLInputElement[]} the controls of a form of parameters */
export function controlsOf(group) {
  return Array.from(group.querySelectorAll('[type=radio], [type=number]'));
}

/**
 * Show chosen values as near as the model of these controls takes them, and unfold what would hide one.
 * @param {(field: HTMLInputElement, value: string) => void} setField  `showNumber` or `setNumber`
 */
export function showValues(group, values, setField) {
  const controls = controlsOf(group);
  for (const control of controls) {
    const value = valueFor(control, values[control.name], controls);
    if (control.type === 'radio') control.checked = control.defaultChecked = control.value === value;
    else setField(control, (control.defaultValue = value));
  }
  const details = group.closest('details');
  details.open ||= controls.some((control) => control.value && (control.type === 'number' || control.checked));
}

/** Show a value in a number field, '' for the model's default. A value beyond the field's range widens it. */
export function showNumber(field, value) {
  setNumber(field, value);
  update(field);
}

/** Set the value of a number field that has no further controls, '' for the model's default. */
export function setNumber(field, value) {
  field.value = value;
  if (value !== '' && Number(value) > Number(field.max)) field.max = value;
  if (value !== '' && Number(value) < Number(field.min)) field.min = value;
}

/**
 * Return a value as the model of these controls gets it: clamped to its range, or the nearest
 * of its levels; '' is the model's default.
 */
function valueFor({ name, dataset }, value, controls) {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') {
    const [least, most] = JSON.parse(dataset.accepts);
    return String(Math.min(Math.max(value, least), most));
  }
  const distance = (level) => Math.abs(LEVELS.indexOf(level) - LEVELS.indexOf(value));
  const levels = controls.filter((control) => control.name === name && control.value);
  return levels.map((control) => control.value).sort((one, other) => distance(one) - distance(other))[0];
}

/** Return the value of a control, null for the model's default. */
export function valueOf({ type, value }) {
  if (value === '') return null;
  return type === 'number' ? Number(value) : (SWITCH_VALUES[value] ?? value);
}

function onInput(control) {
  if (control.type === 'number') update(control);
  if (control.type !== 'range') return;
  const field = document.getElementById(control.dataset.for);
  field.value = control.value;
  update(field);
}

function onClick(event) {
  const button = event.target.closest('[value=reset-one]');
  if (!button) return;
  const field = button.nextElementSibling;
  showNumber(field, '');
  field.focus();
}

/** Update the reset button and the slider of a field after its value has changed. */
function update(field) {
  field.previousElementSibling.hidden = field.value === '';
  const slider = field.closest('.parameter').querySelector('[type=range]');
  if (!slider) return;
  const { rest, unset } = slider.dataset;
  slider.value = field.value || rest;
  slider.classList.toggle('unset', field.value === '');
  slider.ariaValueText = field.value || unset;
}

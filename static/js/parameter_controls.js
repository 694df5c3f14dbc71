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

/** Show a value in a number field, '' for the model's default. A value beyond the field's range widens it. */
export function showNumber(field, value) {
  field.value = value;
  if (value !== '' && Number(value) > Number(field.max)) field.max = value;
  if (value !== '' && Number(value) < Number(field.min)) field.min = value;
  update(field);
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

// How tests find elements: as a person does, by role and name.
const ROLES = {
  article: 'article',
  button: 'button',
  combobox: 'select',
  dialog: 'dialog',
  heading: 'h1, h2',
  link: 'a[href]',
  listitem: 'li',
  menuitem: '[role=menuitem]',
  navigation: 'nav',
  option: '[role=option]',
  radio: '[type=radio]',
  searchbox: '[type=search]',
  textbox: 'input:not([type=hidden], [type=radio]), textarea',
};

function isVisible(element) {
  return element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible';
}

// Not by `element.labels`: WebKitGTK 2.50 aborts when it collects such a list after its page has gone.
function labelOf(element) {
  return document.querySelector(`label[for="${element.id}"]`) ?? element.closest('label');
}

function nameOf(element) {
  return (element.ariaLabel ?? labelOf(element)?.textContent ?? element.textContent).trim();
}

/** The last visible element of this role with this name, or with a name that begins so. */
function find(role, name) {
  const all = Array.from(document.querySelectorAll(ROLES[role])).filter(isVisible).reverse();
  const exact = all.find((element) => nameOf(element) === name);
  return exact ?? all.find((element) => nameOf(element).startsWith(name)) ?? null;
}

function middleOf(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return [Math.round(left + width / 2), Math.round(top + height / 2)];
}

function isInView(element) {
  const hit = document.elementFromPoint(...middleOf(element));
  return element.contains(hit) || hit?.closest('label')?.control === element;
}

/** The point at which a press reaches the element; null: something covers it. */
function place(element) {
  if (!element) return null;
  const [, y] = middleOf(element);
  if (y < 0 || y > innerHeight) element.scrollIntoView({ block: 'center', behavior: 'instant' });
  return isInView(element) ? middleOf(element) : null;
}

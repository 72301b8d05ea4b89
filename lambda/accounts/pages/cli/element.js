/** The element with this id, which index.html has. */
export function byId(/** @type {string} */ id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`index.html has no #${id}`);
  return element;
}

/**
 * The button with this id.
 * @param {string} id
 * @param {() => unknown} onClick
 */
export function onButton(id, onClick) {
  const button = /** @type {HTMLButtonElement} */ (byId(id));
  button.addEventListener('click', onClick);
  return button;
}

/** The field with this id. */
export const inputById = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (byId(id));

/**
 * A new element. Strings become text nodes: no part of the page is made from markup.
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
export function create(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}

/**
 * Fills every place that shows this fact.
 * @param {string} name
 * @param {string} value
 */
export function showFact(name, value) {
  for (const place of document.querySelectorAll(`[data-fact="${name}"]`)) place.textContent = value;
}

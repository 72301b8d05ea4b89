/** Whether a header can carry a text. A line break, for one, would smuggle in another header. */
export function fitsHeader(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text);
}

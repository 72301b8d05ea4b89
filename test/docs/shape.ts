/** The kinds of all values, by their paths; of arrays only the first element. */
export function shapeOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value))
    return [`${path}[]`, ...value.slice(0, 1).flatMap((element) => shapeOf(element, `${path}[]`))];
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([name, member]) => shapeOf(member, `${path}.${name}`));
}

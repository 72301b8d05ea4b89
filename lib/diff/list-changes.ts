/** One changed value; undefined if there was none before, or is none now. */
export interface Change {
  /** The way to it, such as `Environment.Variables.GUEST_LIMIT`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Every single value that differs between two trees. A reference of CloudFormation (`Ref`, `Fn::…`) counts as one value. */
export function listChanges(before: unknown, after: unknown, path = ''): Change[] {
  if (before === after || JSON.stringify(before) === JSON.stringify(after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listElementChanges(before, after, path);
  if (!isTree(before) || !isTree(after)) return [{ path, before, after }];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => listChanges(before[name], after[name], path ? `${path}.${name}` : name));
}

/** What is in both lists is no change, wherever it is. The rest is compared pair by pair. */
function listElementChanges(before: readonly unknown[], after: readonly unknown[], path: string): Change[] {
  const gone = without(before, after);
  const come = without(after, before);
  if (gone.length === 0 && come.length === 0) return [{ path: `${path} (order)`, before, after }];
  if (gone.length === come.length) {
    return come.flatMap((value, index) => listChanges(gone[index], value, `${path}[${after.indexOf(value)}]`));
  }
  return [
    ...gone.map((value) => ({ path: `${path}[]`, before: value, after: undefined })),
    ...come.map((value) => ({ path: `${path}[]`, before: undefined, after: value })),
  ];
}

function without(values: readonly unknown[], others: readonly unknown[]): unknown[] {
  const left = others.map((other) => JSON.stringify(other));
  return values.filter((value) => {
    const index = left.indexOf(JSON.stringify(value));
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

/** Something with parts of its own, other than a list. */
export function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const [name = '', ...others] = Object.keys(value);
  return others.length > 0 || !(name === 'Ref' || name.startsWith('Fn::'));
}

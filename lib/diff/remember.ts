/** The same function, which works out only once what follows from an object: templates and their parts never change. */
export function remember<From extends object, To>(derive: (from: From) => To): (from: From) => To {
  const known = new WeakMap<From, To>();
  return (from) => {
    // A broken template may have a text in an object's place.
    if (typeof from !== 'object') return derive(from);
    const value = known.get(from) ?? derive(from);
    known.set(from, value);
    return value;
  };
}

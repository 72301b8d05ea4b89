/** What a template allows or denies: every principal, every action on every resource. */
export interface Grant {
  readonly principals: readonly string[];
  readonly verb: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** Rendered to follow the sentence; empty without a condition. */
  readonly condition: string;
}

export const sayGrant = ({ principals, verb, actions, resources, condition }: Grant): string =>
  `${principals.join(', ')} ${verb} ${actions.join(', ')} on ${resources.join(', ')}${condition}`;

/**
 * Says what a template newly grants in as few lines as there are decisions. Grants that differ only in principal, action or
 * resource are one line, and so is everything that comes with a new construct, except what anyone may do. Denying access to a new
 * resource takes nothing from anybody, so that is left out.
 */
export function sayGained(grants: readonly Grant[], isNew: (name: string) => boolean): string[] {
  const needed = grants.filter(({ verb, resources }) => verb !== 'may not' || !resources.every(isNew));
  const constructOf = ({ principals, resources }: Grant): string => {
    const [owner = ''] = principals.includes('anyone') ? [] : [...principals, ...resources].filter(isNew);
    return principals.every((one) => isNew(one) || !one.includes('/')) ? (owner.split('/')[0] ?? '') : '';
  };
  return [...Map.groupBy(needed, constructOf)].flatMap(([construct, own]) => {
    const said = mergeAlike(own).map(sayGrant);
    return construct === '' || said.length === 1 ? said : [`with ${construct}: ${said.join('; ')}`];
  });
}

/** One line per principal. */
export const sayLost = (grants: readonly Grant[]): string[] =>
  [...Map.groupBy(mergeAlike(grants), ({ principals }) => principals.join())].map(([, own]) =>
    own.map(sayGrant).join('; '),
  );

const mergeAlike = (grants: readonly Grant[]): readonly Grant[] =>
  (['actions', 'principals', 'resources'] as const).reduce(mergeWhereOnly, grants);

/** Merges grants that differ in only one of their lists. */
function mergeWhereOnly(grants: readonly Grant[], list: 'actions' | 'principals' | 'resources'): readonly Grant[] {
  const groups = Map.groupBy(grants, (grant) => JSON.stringify({ ...grant, [list]: [] }));
  return [...groups.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, [list]: [first, ...others].flatMap((grant) => grant[list]) }] : [],
  );
}

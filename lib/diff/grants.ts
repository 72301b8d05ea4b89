/** What a template allows or denies: all of these may do all of those with all of that. */
export interface Grant {
  readonly principals: readonly string[];
  readonly verb: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** As it follows a sentence; empty if there is none. */
  readonly condition: string;
}

export const sayGrant = ({ principals, verb, actions, resources, condition }: Grant): string =>
  `${principals.join(', ')} ${verb} ${actions.join(', ')} on ${resources.join(', ')}${condition}`;

/**
 * Says what a template comes to allow in as few lines as there are decisions: what differs only in who, what or where is one, and so
 * is all that comes with a new construct, but for what anyone may do. To deny what is new takes nothing from anybody.
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

/** What somebody loses is one line. */
export const sayLost = (grants: readonly Grant[]): string[] =>
  [...Map.groupBy(mergeAlike(grants), ({ principals }) => principals.join())].map(([, own]) =>
    own.map(sayGrant).join('; '),
  );

const mergeAlike = (grants: readonly Grant[]): readonly Grant[] =>
  (['actions', 'principals', 'resources'] as const).reduce(mergeWhereOnly, grants);

/** Joins grants that are alike but for one of their lists. */
function mergeWhereOnly(grants: readonly Grant[], list: 'actions' | 'principals' | 'resources'): readonly Grant[] {
  const groups = Map.groupBy(grants, (grant) => JSON.stringify({ ...grant, [list]: [] }));
  return [...groups.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, [list]: [first, ...others].flatMap((grant) => grant[list]) }] : [],
  );
}

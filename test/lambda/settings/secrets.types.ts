import { createSecrets } from '../../../lambda/settings/secrets.ts';

// Read by the type checker alone: nothing here runs.
declare const dependencies: Parameters<typeof createSecrets>[1];

// @ts-expect-error Who forgets the salt could not hash a network.
createSecrets({ edgeSecretId: undefined }, dependencies);
// @ts-expect-error Who forgets the edge's secret would believe no request that comes through it.
createSecrets({ networkSalt: undefined, networkSaltSecretId: 'the-salt' }, dependencies);

import { createSecrets } from '../../../lambda/settings/secrets.ts';

// Only for the type checker: nothing here runs.
declare const dependencies: Parameters<typeof createSecrets>[1];

// @ts-expect-error Networks can't be hashed without the salt.
createSecrets({ edgeSecretId: undefined }, dependencies);
// @ts-expect-error The CDN can't be authenticated without its secret.
createSecrets({ networkSalt: undefined, networkSaltSecretId: 'the-salt' }, dependencies);

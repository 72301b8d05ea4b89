import type { ReadSecret } from '../secrets.ts';

/** Reads secrets from Secrets Manager; its client is only loaded where there is a secret to read. */
export function createSecretReader(): ReadSecret {
  return async (id) => {
    const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
    const client = new SecretsManagerClient({});
    try {
      const { SecretString: text = '' } = await client.send(new GetSecretValueCommand({ SecretId: id }));
      return text;
    } finally {
      client.destroy();
    }
  };
}

import type { ReadSecret } from '../secrets.ts';

/** Reads secrets from Secrets Manager; its client is only loaded where there is a secret to read. */
export function createSecretReader(): ReadSecret {
  return async (id, version) => {
    const { GetSecretValueCommand, ResourceNotFoundException, SecretsManagerClient } = await import(
      '@aws-sdk/client-secrets-manager'
    );
    const client = new SecretsManagerClient({});
    try {
      const input = { SecretId: id, ...(version && { VersionStage: 'AWSPREVIOUS' }) };
      const { SecretString: text = '' } = await client.send(new GetSecretValueCommand(input));
      return text;
    } catch (error) {
      // A secret that was never replaced has no previous version.
      if (version && error instanceof ResourceNotFoundException) return '';
      throw error;
    } finally {
      client.destroy();
    }
  };
}

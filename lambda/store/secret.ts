import type { ReadSecret } from '../settings/secrets.ts';
import type { CallService } from './call-service.ts';
import { ServiceError } from './service-error.ts';

/** Reads secrets from Secrets Manager. */
export function createSecretReader(callSecretsManager: CallService): ReadSecret {
  return async (id, { version, signal } = {}) => {
    const input = { SecretId: id, ...(version && { VersionStage: 'AWSPREVIOUS' }) };
    try {
      const { SecretString: text = '' } = await callSecretsManager<{ readonly SecretString?: string }>(
        'GetSecretValue',
        input,
        signal,
      );
      return text;
    } catch (error) {
      // A secret that was never replaced has no previous version.
      if (version && error instanceof ServiceError && error.name === 'ResourceNotFoundException') return '';
      throw error;
    }
  };
}

import type { ReadSecret } from '../settings/secrets.ts';
import { type AwsAccess, dynamoDbService, secretsManagerService } from './access.ts';
import { type CallService, createCallService, type Dependencies } from './call-service.ts';
import { ServiceError } from './service-error.ts';

/** The calls to AWS that requests need. */
export interface Aws {
  readonly callDynamoDb: CallService;
  readonly readSecret: ReadSecret;
}

export function createAws(access: AwsAccess, dependencies: Dependencies): Aws {
  return {
    callDynamoDb: createCallService(dynamoDbService, access, dependencies),
    readSecret: createSecretReader(createCallService(secretsManagerService, access, dependencies)),
  };
}

function createSecretReader(callSecretsManager: CallService): ReadSecret {
  return async (id, { version, signal } = {}) => {
    const input = { SecretId: id, ...(version && { VersionStage: 'AWSPREVIOUS' }) };
    try {
      type Secret = { readonly SecretString?: string };
      return (await callSecretsManager<Secret>('GetSecretValue', input, signal)).SecretString ?? '';
    } catch (error) {
      // A secret that was never replaced has no previous version.
      if (version && error instanceof ServiceError && error.name === 'ResourceNotFoundException') return '';
      throw error;
    }
  };
}

import type { ReadSecret } from '../settings/secrets.ts';
import { type CallService, createCallService, type Dependencies } from './call-service.ts';
import { createSecretReader } from './secret.ts';
import { type AwsAccess, dynamoDbService, secretsManagerService } from './service.ts';

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

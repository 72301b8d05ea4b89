/** Replaces the SDK's chain of providers: a function's credentials are always in its environment. */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';

import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { OwnFunction, type OwnFunctionProps } from './own-function.ts';

/** A function that anyone may call, at a URL of its own. */
export class PublicFunction extends OwnFunction {
  readonly url: lambda.FunctionUrl;

  constructor(scope: Construct, id: string, props: OwnFunctionProps) {
    super(scope, id, props);
    // No `cors` block: the function answers CORS itself, and the headers would be sent twice.
    this.url = this.function.addFunctionUrl({
      authType: lambda.FunctionUrlAuthType.NONE, // the function authenticates callers itself
      invokeMode: lambda.InvokeMode.RESPONSE_STREAM,
    });
  }
}

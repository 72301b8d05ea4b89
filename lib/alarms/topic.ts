import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** Encrypted in transit only: at rest it would take a customer-managed key, for a dollar a month, and messages hold no secrets. */
export function createTopic(scope: Construct, email: string | undefined): Topic {
  const topic = new Topic(scope, 'Topic', { enforceSSL: true });
  // `enforceSSL` adds a policy, which replaces the default one: without this, no alarm could publish.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  );
  if (email !== undefined) topic.addSubscription(new EmailSubscription(email));
  return topic;
}

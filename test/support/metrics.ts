import { expect } from '@jest/globals';
import { Ajv } from 'ajv';

/** The `_aws` member of a log line as CloudWatch specifies it, restricted to one dimension at most. */
const validate = new Ajv({ allErrors: true }).compile({
  type: 'object',
  required: ['_aws'],
  properties: {
    _aws: {
      type: 'object',
      required: ['Timestamp', 'CloudWatchMetrics'],
      additionalProperties: false,
      properties: {
        Timestamp: { type: 'integer', minimum: 1_600_000_000_000 },
        CloudWatchMetrics: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['Namespace', 'Dimensions', 'Metrics'],
            additionalProperties: false,
            properties: {
              Namespace: { type: 'string', minLength: 1, maxLength: 1024 },
              Dimensions: {
                type: 'array',
                minItems: 1,
                maxItems: 1,
                items: { type: 'array', maxItems: 1, items: { type: 'string', minLength: 1, maxLength: 250 } },
              },
              Metrics: {
                type: 'array',
                minItems: 1,
                maxItems: 100,
                items: {
                  type: 'object',
                  required: ['Name', 'Unit'],
                  additionalProperties: false,
                  properties: {
                    Name: { type: 'string', minLength: 1, maxLength: 1024 },
                    Unit: { enum: ['Count', 'Milliseconds', 'Percent'] },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
});

type Line = Readonly<Record<string, unknown>>;

interface Embedded {
  readonly _aws: { readonly CloudWatchMetrics: readonly Directive[] };
}

interface Directive {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string }[];
}

/** The metrics that CloudWatch would read from a line, such as `Refusals(rate_limited)`, with their values. */
export function metricsOf(line: Line, namespace = 'InferenceGateway'): Record<string, number> {
  if (line._aws === undefined) return {};
  validate(line);
  expect(validate.errors).toBeNull();
  const { _aws } = line as Line & Embedded;
  const found: Record<string, number> = {};
  for (const { Namespace, Dimensions, Metrics } of _aws.CloudWatchMetrics) {
    expect(Namespace).toBe(namespace);
    const [dimension] = Dimensions[0] ?? [];
    if (dimension !== undefined) expect(line[dimension]).toEqual(expect.stringMatching(/^\w{1,1024}$/));
    for (const { Name } of Metrics) {
      const value = line[Name];
      if (typeof value !== 'number' || value < 0) throw new Error(`${Name} is ${value}`);
      found[dimension === undefined ? Name : `${Name}(${line[dimension]})`] = value;
    }
  }
  return found;
}

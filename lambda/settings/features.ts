import { type Feature, featureNames, features } from '../dialects/names.ts';
import type { Upstream } from './read-upstreams.ts';

/** What no upstream can do, by its settings. */
export function missingFeatures(upstreams: readonly Upstream[]): Feature[] {
  return featureNames.filter((feature) => !upstreams.some((upstream) => offers(upstream, feature)));
}

function offers({ dialects, models, translation }: Upstream, feature: Feature): boolean {
  const needed = features[feature];
  if (needed === undefined) return models.embeddings.embedding !== undefined;
  return dialects.includes(needed) || (feature.startsWith('counts_') && translation.countUrl !== undefined);
}

import type { PublicModel } from '../settings/models.ts';

/** The response format of the models endpoints. */
interface ModelShape {
  describe(model: PublicModel): object;
  list(models: readonly PublicModel[]): object;
}

/** OpenAI's format. Anthropic's SDKs send `anthropic-version`, and get the members of their own format too. */
export function modelShapeFor(headers: Readonly<Record<string, string | undefined>>, ownedBy: string): ModelShape {
  const openAi = openAiShape(ownedBy);
  return headers['anthropic-version'] === undefined ? openAi : withAnthropicMembers(openAi);
}

function openAiShape(ownedBy: string): ModelShape {
  const describe = ({ id }: PublicModel) => ({ id, object: 'model', created: 0, owned_by: ownedBy });
  return { describe, list: (models) => ({ object: 'list', data: models.map(describe) }) };
}

/** All models fit on one page, so `limit` is ignored. */
function withAnthropicMembers(shape: ModelShape): ModelShape {
  const describe = (model: PublicModel) => ({
    ...shape.describe(model),
    type: 'model',
    display_name: model.id,
    created_at: '1970-01-01T00:00:00Z',
  });
  return {
    describe,
    list: (models) => ({
      ...shape.list(models),
      data: models.map(describe),
      has_more: false,
      first_id: models[0]?.id ?? null,
      last_id: models.at(-1)?.id ?? null,
    }),
  };
}

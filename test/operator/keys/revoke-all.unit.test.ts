import { expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../lambda/identity/issued-keys.ts';
import { revokeAll } from '../../../operator/keys/commands.ts';
import type { Target } from '../../../operator/keys/target.ts';

test('a key that was being stored while the keys of a person were listed is revoked too', async () => {
  const stored = new Map<string, KeyRecord>();
  const store = (id: string) => stored.set(id, { id, member: 'ada', hash: id, createdAt: 1 } as unknown as KeyRecord);
  store('key_a');
  const arriving = ['key_b', 'key_c'];
  const keys: Pick<Target['keys'], 'list' | 'revoke'> = {
    list: async () => {
      const listed = [...stored.values()];
      const next = arriving.shift();
      if (next) store(next);
      return listed;
    },
    revoke: async (id) => {
      const record = stored.get(id);
      if (record) stored.set(id, { ...record, revokedAt: 2 });
      return stored.get(id);
    },
  };
  const target = { keys, members: { signOut: async () => {} } } as unknown as Target;
  const { json } = await revokeAll(target, 'ada', 2);
  expect((json as { revoked: { id: string }[] }).revoked.map(({ id }) => id)).toEqual(['key_a', 'key_b', 'key_c']);
});

import { json } from '../../local/upstream/script.ts';
import { startTestGateway } from './gateway.ts';
import { messageOf } from './strict-messages.ts';
import { wire } from './wire.ts';

const roomy = { GUEST_LIMIT: '1000', MEMBER_LIMIT: '900', BURST_LIMIT: '600' };

/** Starts two gateways: one whose upstream speaks every dialect and answers in messages, and one whose upstream speaks only chat. */
export async function startNativeAndTranslating() {
  const native = await startTestGateway({ environment: roomy });
  native.upstream.otherwise(json(200, messageOf([{ text: 'Hi' }])));
  const translating = await startTestGateway({ environment: { ...roomy, UPSTREAM_DIALECTS: 'chat' } });
  translating.upstream.otherwise(json(200, wire.chat.answer));
  const stop = async () => {
    await native[Symbol.asyncDispose]();
    await translating[Symbol.asyncDispose]();
  };
  return { native, translating, stop };
}

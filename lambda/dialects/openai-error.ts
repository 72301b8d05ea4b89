import type { GatewayError } from '../http/errors.ts';

/** The error body that both OpenAI dialects and the models endpoints share. */
export function renderOpenAiError(error: GatewayError): string {
  return JSON.stringify({ error: openAiErrorFields(error) });
}

/** The fields of an OpenAI error object. */
export function openAiErrorFields(error: GatewayError): { message: string; type: string; code: string } {
  return { message: error.message, type: error.openaiType, code: error.code };
}

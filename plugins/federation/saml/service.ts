/** What the first request to a SAML provider loads. */
import type { Context } from 'authkernel/kernel'
import { samlProviderOf } from './finish.ts'
import { fetchMetadata, parseMetadata, writeMetadata } from './metadata.ts'

export { continueSamlSignIn, finishSamlSignIn } from './finish.ts'
export { answerLogout, leaveProvider, postLogoutRequest } from './logout.ts'
export { loadSamlLibrary } from './library.ts'
export { validateProvider } from './options.ts'
export { startSamlSignIn, startStepUp } from './start.ts'
export { fetchMetadata, parseMetadata }

/** `GET /saml/:provider/metadata`. */
export async function answerMetadata(ctx: Context): Promise<Response> {
  return new Response(writeMetadata(ctx, await samlProviderOf(ctx)), {
    headers: { 'Content-Type': 'application/samlmetadata+xml; charset=utf-8' },
  })
}

/** Netlify functions and edge functions: what `auth.fetch` offers, with the address of the client as this host tells it. */
import type { AuthConfig } from 'authkernel'
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type FetchApi, type FetchConfigSource, type FetchHost, hostApi, hostBinding, type LazyFetchApi } from './_fetch.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { FetchApi, FetchConfigSource, LazyFetchApi, WithSession } from './_fetch.ts'

/** The second argument of a function. Its address comes from the edge, not from a header that a client sends. */
const host: FetchHost = {
  name: 'netlify',
  address: (_request, context) =>
    typeof context === 'object' && context !== null && 'ip' in context && typeof context.ip === 'string' ? context.ip : undefined,
}

/** Puts `netlify` on `auth`. */
export function netlifyBinding(options: NoOptions = {}): Plugin<{ netlify: FetchApi }> {
  assertOptions('netlifyBinding', options, {})
  return hostBinding('netlify', host)
}

/** The API of a configuration. */
export function NetlifyAuth(config: AuthConfig, ...plugins: readonly Plugin[]): FetchApi
/** The API of a function of the request, asked once for each: `NetlifyAuth((request, context) => ({ providers: [...] }))`. */
export function NetlifyAuth(source: FetchConfigSource, ...plugins: readonly Plugin[]): LazyFetchApi
export function NetlifyAuth(source: AuthConfig | FetchConfigSource, ...plugins: readonly Plugin[]): FetchApi | LazyFetchApi {
  return hostApi(source, plugins, host)
}

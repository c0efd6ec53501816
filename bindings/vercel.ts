/** Vercel functions on both runtimes: what `auth.fetch` offers, with the address of the client as this host tells it. */
import type { AuthConfig } from 'authkernel'
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type FetchApi, type FetchConfigSource, type FetchHost, hostApi, hostBinding, type LazyFetchApi } from './_fetch.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { FetchApi, FetchConfigSource, LazyFetchApi, WithSession } from './_fetch.ts'

/** Vercel overwrites the header that a client sends. */
const host: FetchHost = {
  name: 'vercel',
  address: (request) => request.headers.get('x-real-ip') ?? undefined,
}

/** Puts `vercel` on `auth`. */
export function vercelBinding(options: NoOptions = {}): Plugin<{ vercel: FetchApi }> {
  assertOptions('vercelBinding', options, {})
  return hostBinding('vercel', host)
}

/** The API of a configuration. */
export function VercelAuth(config: AuthConfig, ...plugins: readonly Plugin[]): FetchApi
/** The API of a function of the request, asked once for each: `VercelAuth((request) => ({ providers: [...] }))`. */
export function VercelAuth(source: FetchConfigSource, ...plugins: readonly Plugin[]): LazyFetchApi
export function VercelAuth(source: AuthConfig | FetchConfigSource, ...plugins: readonly Plugin[]): FetchApi | LazyFetchApi {
  return hostApi(source, plugins, host)
}

/** Web-standard servers (Bun, Deno, workers, service workers): `export default { fetch: auth.fetch.handler }`. */
import type { AuthConfig } from 'authkernel'
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type FetchApi, type FetchConfigSource, type FetchHost, hostApi, hostBinding, type LazyFetchApi } from './_fetch.ts'
import { addressFrom } from './_shared/edge.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { FetchApi, FetchConfigSource, LazyFetchApi, WithSession } from './_fetch.ts'

/** The peer's address as the runtime tells it; srvx puts it on the request. */
const host: FetchHost = {
  name: 'fetch',
  address: (request: Request & { ip?: unknown }, info) =>
    addressFrom(info, request) ?? (typeof request.ip === 'string' ? request.ip : undefined),
}

/** Puts `fetch` on `auth`. */
export function fetchBinding(options: NoOptions = {}): Plugin<{ fetch: FetchApi }> {
  assertOptions('fetchBinding', options, {})
  return hostBinding('fetch', host)
}

/** The API of a configuration. */
export function FetchAuth(config: AuthConfig, ...plugins: readonly Plugin[]): FetchApi
/** The API of a function of the request, asked once for each: `FetchAuth((request, env) => ({ env, providers: [...] }))` on workers. */
export function FetchAuth(source: FetchConfigSource, ...plugins: readonly Plugin[]): LazyFetchApi
export function FetchAuth(source: AuthConfig | FetchConfigSource, ...plugins: readonly Plugin[]): FetchApi | LazyFetchApi {
  return hostApi(source, plugins, host)
}

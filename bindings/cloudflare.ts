/** Cloudflare Workers and Pages: what `auth.fetch` offers, with the address of the client as this host tells it. */
import type { AuthConfig } from 'authkernel'
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type FetchApi, type FetchConfigSource, type FetchHost, hostApi, hostBinding, type LazyFetchApi } from './_fetch.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { FetchApi, FetchConfigSource, LazyFetchApi, WithSession } from './_fetch.ts'

/** The edge of Cloudflare writes the header of each request that a Worker gets. A client cannot. */
const host: FetchHost = {
  name: 'cloudflare',
  address: (request) => request.headers.get('cf-connecting-ip') ?? undefined,
}

/** Puts `cloudflare` on `auth`. */
export function cloudflareBinding(options: NoOptions = {}): Plugin<{ cloudflare: FetchApi }> {
  assertOptions('cloudflareBinding', options, {})
  return hostBinding('cloudflare', host)
}

/** The API of a configuration. */
export function CloudflareAuth(config: AuthConfig, ...plugins: readonly Plugin[]): FetchApi
/** The API of a function of the request, asked once for each: `CloudflareAuth((request, env) => ({ env, providers: [...] }))`. */
export function CloudflareAuth(source: FetchConfigSource, ...plugins: readonly Plugin[]): LazyFetchApi
export function CloudflareAuth(source: AuthConfig | FetchConfigSource, ...plugins: readonly Plugin[]): FetchApi | LazyFetchApi {
  return hostApi(source, plugins, host)
}

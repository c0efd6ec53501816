/** Koa 2 and 3: `app.use(auth.koa.handler)`. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type ConfigSource, kernelsOf } from './_configs.ts'
import { type KoaContext, type KoaApi, koaApi } from './_apis/koa.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type { KoaContext, KoaApi, KoaMiddleware } from './_apis/koa.ts'

/** Puts `koa` on `auth`. */
export function koaBinding(options: NoOptions = {}): Plugin<{ koa: KoaApi }> {
  assertOptions('koaBinding', options, {})
  return { name: 'koa', setup: (kernel) => ({ koa: koaApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the context. */
export function KoaAuth(config: ConfigSource<KoaContext>, ...plugins: readonly Plugin[]): KoaApi {
  return koaApi(kernelsOf('koa', config, { plugins }))
}

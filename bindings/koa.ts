/** Koa 2 and 3: `app.use(auth.koa.handler)`. */
import type { Plugin } from 'authkernel/kernel'
import { type ConfigSource, kernelsOf } from './_configs.ts'
import { type KoaContext, type KoaFace, koaFace } from './_faces/koa.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type { KoaContext, KoaFace, KoaMiddleware } from './_faces/koa.ts'

/** Puts `koa` on `auth`. */
export function koaBinding(): Plugin<{ koa: KoaFace }> {
  return { name: 'koa', setup: (kernel) => ({ koa: koaFace(() => kernel) }) }
}

/** The face of a configuration, or of a function of the context. */
export function KoaAuth(config: ConfigSource<KoaContext>, ...plugins: readonly Plugin[]): KoaFace {
  return koaFace(kernelsOf('koa', config, { plugins }))
}

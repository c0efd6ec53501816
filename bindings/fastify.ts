/** Fastify 4 and 5: `app.register(auth.fastify.plugin, { prefix: '/auth' })`. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type ConfigSource, kernelsOf } from './_configs.ts'
import { type FastifyApi, fastifyApi, type FastifyRequestLike } from './_apis/fastify.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type { FastifyApi, FastifyLike, FastifyReplyLike, FastifyRequestLike } from './_apis/fastify.ts'

/** Puts `fastify` on `auth`. */
export function fastifyBinding(options: NoOptions = {}): Plugin<{ fastify: FastifyApi }> {
  assertOptions('fastifyBinding', options, {})
  return {
    name: 'fastify',
    setup: (kernel) => ({
      fastify: fastifyApi(
        () => kernel,
        () => kernel.entryPoints.rootPaths,
      ),
    }),
  }
}

/** The API of a configuration, or of a function of the request. */
export function FastifyAuth(config: ConfigSource<FastifyRequestLike>, ...plugins: readonly Plugin[]): FastifyApi {
  return fastifyApi(kernelsOf('fastify', config, { plugins }))
}

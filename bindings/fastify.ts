/** Fastify 4 and 5: `app.register(auth.fastify.plugin, { prefix: '/auth' })`. */
import type { Plugin } from 'authkernel/kernel'
import { type ConfigSource, kernelsOf } from './_configs.ts'
import { type FastifyFace, fastifyFace, type FastifyRequestLike } from './_faces/fastify.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type { FastifyFace, FastifyLike, FastifyReplyLike, FastifyRequestLike } from './_faces/fastify.ts'

/** Puts `fastify` on `auth`. */
export function fastifyBinding(): Plugin<{ fastify: FastifyFace }> {
  return { name: 'fastify', setup: (kernel) => ({ fastify: fastifyFace(() => kernel) }) }
}

/** The face of a configuration, or of a function of the request. */
export function FastifyAuth(config: ConfigSource<FastifyRequestLike>, ...plugins: readonly Plugin[]): FastifyFace {
  return fastifyFace(kernelsOf('fastify', config, { plugins }))
}

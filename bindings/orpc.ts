/** oRPC 1 over every adapter: `context: await auth.orpc.createContext({ req: request })`. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type RpcApi, type RpcCall, type RpcCode, rpcApi } from './_rpc.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { RpcApi as OrpcApi, RpcCall as OrpcCall, RpcContext as OrpcContext } from './_rpc.ts'

/** Puts `orpc` on `auth`. */
export function orpcBinding(options: NoOptions = {}): Plugin<{ orpc: RpcApi }> {
  assertOptions('orpcBinding', options, {})
  return { name: 'orpc', setup: (kernel) => ({ orpc: rpcApi('orpc', () => kernel, createError) }) }
}

/** The API of a configuration, or of a function of the call. */
export function OrpcAuth(config: ConfigSource<RpcCall>, ...plugins: readonly Plugin[]): RpcApi {
  return rpcApi('orpc', kernelsOf('orpc', config, { plugins }), createError)
}

async function createError(code: RpcCode, cause?: Error): Promise<Error> {
  const { ORPCError } = await import('@orpc/server')
  return new ORPCError(code, { cause })
}

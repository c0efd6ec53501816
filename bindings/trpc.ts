/** tRPC 11 over every adapter: `createContext: auth.trpc.createContext`. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type RpcApi, type RpcCall, type RpcCode, rpcApi } from './_rpc.ts'
import { type ConfigSource, kernelsOf } from './_shared/kernels.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { RpcApi as TrpcApi, RpcCall as TrpcCall, RpcContext as TrpcContext } from './_rpc.ts'

/** Puts `trpc` on `auth`. */
export function trpcBinding(options: NoOptions = {}): Plugin<{ trpc: RpcApi }> {
  assertOptions('trpcBinding', options, {})
  return { name: 'trpc', setup: (kernel) => ({ trpc: rpcApi('trpc', () => kernel, createError) }) }
}

/** The API of a configuration, or of a function of the call. */
export function TrpcAuth(config: ConfigSource<RpcCall>, ...plugins: readonly Plugin[]): RpcApi {
  return rpcApi('trpc', kernelsOf('trpc', config, { plugins }), createError)
}

async function createError(code: RpcCode, cause?: Error): Promise<Error> {
  const { TRPCError } = await import('@trpc/server')
  return new TRPCError({ code, cause })
}

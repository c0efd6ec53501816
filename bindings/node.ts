/** Plain `node:http`: `createServer(async (req, res) => (await auth.node.handler(req, res)) || …)`. */
import { assertOptions, type NoOptions, type Plugin } from 'authkernel/kernel'
import { type ConfigSource, kernelsOf } from './_configs.ts'
import { type NodeApi, nodeApi } from './_apis/node.ts'
import type { NodeRequest } from './_node.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type { NodeApi } from './_apis/node.ts'

/** Puts `node` on `auth`. */
export function nodeBinding(options: NoOptions = {}): Plugin<{ node: NodeApi }> {
  assertOptions('nodeBinding', options, {})
  return { name: 'node', setup: (kernel) => ({ node: nodeApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the request. */
export function NodeAuth(config: ConfigSource<NodeRequest>, ...plugins: readonly Plugin[]): NodeApi {
  return nodeApi(kernelsOf('node', config, { plugins }))
}

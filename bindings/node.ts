/** Plain `node:http`: `createServer(async (req, res) => (await auth.node.handler(req, res)) || …)`. */
import type { Plugin } from 'authkernel/kernel'
import { type ConfigSource, kernelsOf } from './_configs.ts'
import { type NodeFace, nodeFace } from './_faces/node.ts'
import type { NodeRequest } from './_node.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_actions.ts'
export type { NodeFace } from './_faces/node.ts'

/** Puts `node` on `auth`. */
export function nodeBinding(): Plugin<{ node: NodeFace }> {
  return { name: 'node', setup: (kernel) => ({ node: nodeFace(() => kernel) }) }
}

/** The face of a configuration, or of a function of the request. */
export function NodeAuth(config: ConfigSource<NodeRequest>, ...plugins: readonly Plugin[]): NodeFace {
  return nodeFace(kernelsOf('node', config, { plugins }))
}

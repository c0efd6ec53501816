/** Plain `node:http`: `createServer(async (req, res) => (await auth.node.handler(req, res)) || …)`. */
import { assertOptions, type NoOptions, type Plugin, type Session } from 'authkernel/kernel'
import { type ConfigSource, type Kernels, kernelsOf } from './_shared/kernels.ts'
import { appendCookies, type NodeRequest, type NodeResponse, peerAddress, sendResponse } from './_shared/node-request.ts'
import type { GuardOptions, SignInOptions } from './_shared/actions.ts'
import { createApi } from './_shared/node-api.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'

/** What `auth.node` offers; `res` is where a refreshed cookie and redirects go. */
export interface NodeApi {
  /** Answers the routes of authkernel; `false`: the path is the host's, nothing was answered. Rejects when answering failed. */
  handler(req: NodeRequest, res: NodeResponse): Promise<boolean>
  /** The paths at the origin's root that plugins answer, alone: for servers that call `handler` below a path only. `false` as above. */
  root(req: NodeRequest, res: NodeResponse): Promise<boolean>
  session(req: NodeRequest, res: NodeResponse): Promise<Session | null>
  /** The web request, without its body: for APIs of other plugins, such as `auth.accounts`. */
  request(req: NodeRequest, res: NodeResponse): Request
  /** The session; without one, browsers are redirected to the sign-in page, others get 401 JSON, and the promise holds null. */
  requireSession(req: NodeRequest, res: NodeResponse, options?: GuardOptions): Promise<Session | null>
  /** Signs in from a route of the host. Rejects with `CredentialsSignin` and other `AuthError`s. */
  signIn(req: NodeRequest, res: NodeResponse, provider?: string, options?: SignInOptions): Promise<void>
  signOut(req: NodeRequest, res: NodeResponse, options?: { redirectTo?: string | undefined }): Promise<void>
}

/** Puts `node` on `auth`. */
export function nodeBinding(options: NoOptions = {}): Plugin<{ node: NodeApi }> {
  assertOptions('nodeBinding', options, {})
  return { name: 'node', setup: (kernel) => ({ node: nodeApi(() => kernel) }) }
}

/** The API of a configuration, or of a function of the request. */
export function NodeAuth(config: ConfigSource<NodeRequest>, ...plugins: readonly Plugin[]): NodeApi {
  return nodeApi(kernelsOf('node', config, { plugins }))
}

/** The API over a kernel, or over one for each request. */
function nodeApi(kernels: Kernels<NodeRequest>): NodeApi {
  const api = createApi<readonly [NodeRequest, NodeResponse]>({
    argument: {
      has: ['headers'],
      not: 'bodyUsed',
      say: "node binding: give Node's request and response: `auth.node.session(req, res)`.",
      readArgument: ([req]) => req,
    },
    kernel: ([req]) => kernels(req),
    req: ([req]) => req,
    res: ([, res]) => res,
    edge: () => ({}),
    options: ([req]) => ({ clientAddress: peerAddress(req) }),
    send: ([, res], response) => sendResponse(res, response),
    cookies: ([, res], headers) => appendCookies(res, headers),
  })
  return {
    handler: (req, res) => api.handle([req, res]),
    root: (req, res) => api.root([req, res]),
    session: (req, res) => api.session([req, res]),
    request: (req, res) => api.request([req, res]),
    requireSession: (req, res, options) => api.guard([req, res], options),
    signIn: (req, res, provider, options) => api.signIn([req, res], provider, options),
    signOut: (req, res, options) => api.signOut([req, res], options),
  }
}

/** Plain `node:http`: `createServer(auth.node.handler)`, or beside other routes. */
import type { HandleOptions, Plugin, Session } from 'authkernel/kernel'
import type { SignInOptions } from './_actions.ts'
import { type Face, type GuardOptions, createFace } from './_face.ts'
import { type NodeRequest, type NodeResponse, appendCookies, peerAddress, respond, sendResponse, toRequest } from './_node.ts'
import { isBelow } from './_target.ts'

export { AuthError, CredentialsSignin, customFetch } from 'authkernel/kernel'

/** What `auth.node` offers; `res` is where a refreshed cookie and redirects go. */
export interface NodeFace {
  /** Answers the routes of authkernel; `false`: the path is not below the base path, nothing was answered. Rejects when answering failed. */
  handler(req: NodeRequest, res: NodeResponse): Promise<boolean>
  session(req: NodeRequest, res: NodeResponse): Promise<Session | null>
  user: Face<NodeRequest>['user']
  /** The session; without one, browsers are redirected to the sign-in page, others get 401 JSON, and the promise holds null. */
  requireSession(req: NodeRequest, res: NodeResponse, options?: GuardOptions): Promise<Session | null>
  signIn(req: NodeRequest, res: NodeResponse, provider?: string, options?: SignInOptions): Promise<void>
  signOut(req: NodeRequest, res: NodeResponse, options?: { redirectTo?: string | undefined }): Promise<void>
}

/** Puts `node` on `auth`. */
export function nodeBinding(): Plugin<{ node: NodeFace }> {
  return { name: 'node', setup: (kernel) => ({ node: nodeFace(kernel) }) }
}

function nodeFace(kernel: Parameters<Plugin['setup']>[0]): NodeFace {
  const responses = new WeakMap<NodeRequest, NodeResponse>()
  const options = (req: NodeRequest): HandleOptions => ({ clientAddress: peerAddress(req) })
  const cookies = (req: NodeRequest, headers: Headers): void => {
    const res = responses.get(req)
    if (res && !res.headersSent) appendCookies(res, headers)
  }
  const face = createFace<NodeRequest>(kernel, { request: toRequest, options, cookies })
  const session: NodeFace['session'] = (req, res) => face.session(responses.set(req, res) && req)
  return {
    session,
    user: face.user,
    async handler(req, res) {
      if (!isBelow(req, kernel.config.basePath)) return false
      await respond(req, res, {}, (request) => kernel.doors.handler(request, options(req)))
      return true
    },
    async requireSession(req, res, guard) {
      const found = await session(req, res)
      const refusal = await face.guard(req, guard)
      if (refusal) await sendResponse(res, refusal)
      return refusal ? null : found
    },
    signIn: async (req, res, provider, how) => sendResponse(res, await face.signIn(req, provider, how)),
    signOut: async (req, res, how) => sendResponse(res, await face.signOut(req, how)),
  }
}

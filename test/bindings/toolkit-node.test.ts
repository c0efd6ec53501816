/** The public parts of bindings on Node's own requests: enough for one more server. */
import { createAuth } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import {
  appendCookies,
  createApi,
  type Api,
  type NodeRequest,
  type NodeResponse,
  peerAddress,
  sendResponse,
} from 'authkernel/bindings/toolkit-node'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { fieldsOf } from './_family.ts'
import { serve } from './_http.ts'

type Pair = readonly [NodeRequest, NodeResponse]

function oakBinding(): Plugin<{ oak: Api<Pair> }> {
  return {
    name: 'oak',
    setup: (kernel) => ({
      oak: createApi<Pair>({
        kernel: () => kernel,
        req: ([req]) => req,
        res: ([, res]) => res,
        edge: () => ({}),
        options: ([req]) => ({ clientAddress: peerAddress(req) }),
        send: ([, res], response) => sendResponse(res, response),
        cookies: ([, res], headers) => appendCookies(res, headers),
      }),
    }),
  }
}

testBinding({
  name: 'oak, which a stranger wrote',
  start: (more) => {
    const { oak } = createAuth(bindingConfig(more)).use(oakBinding())
    const answer = async (...pair: Pair): Promise<void> => {
      const [req, res] = pair
      const json = (value: unknown): void => void res.setHeader('content-type', 'application/json').end(JSON.stringify(value))
      switch (new URL(req.url ?? '/', 'http://oak').pathname) {
        case '/page':
          return json(await oak.session(pair))
        case '/guarded': {
          const session = await oak.guard(pair)
          return session ? json(session) : undefined
        }
        case '/login':
          return oak.signIn(pair, 'credentials', { fields: await fieldsOf(req), redirectTo: '/in' })
        case '/logout':
          return oak.signOut(pair, { redirectTo: '/out' })
        default:
          if (!(await oak.handle(pair))) res.writeHead(404).end('the host')
      }
    }
    return serve((req, res) => void answer(req, res).catch(() => res.writeHead(500).end()))
  },
})

/** Plain `node:http`. */
import { createAuth } from 'authkernel'
import { NodeAuth, nodeBinding, type NodeApi } from 'authkernel/bindings/node'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { config } from './_auth.ts'
import { fieldsOf, probe, testFamily } from './_family.ts'
import { serve, type TestServer } from './_http.ts'

testFamily('node', (options) => host(createAuth(config(options)).use(probe).use(nodeBinding()).node), [500, 500])
testFamily('NodeAuth, options by a function of the request', (options) => host(NodeAuth(() => config(options), probe)), [500, 500])

function host(api: NodeApi): Promise<TestServer> {
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<unknown> => {
    const json = (value: unknown): ServerResponse => res.setHeader('content-type', 'application/json').end(JSON.stringify(value))
    switch (new URL(req.url ?? '/', 'http://localhost').pathname) {
      case '/page':
        return json(await api.session(req, res))
      case '/guarded': {
        const session = await api.requireSession(req, res)
        return session && json(session)
      }
      case '/login':
        return api.signIn(req, res, 'credentials', { fields: await fieldsOf(req), redirectTo: '/in' })
      case '/logout':
        return api.signOut(req, res, { redirectTo: '/out' })
      default:
        return (await api.handler(req, res)) || res.writeHead(404).end('the host')
    }
  }
  return serve((req, res) => void answer(req, res).catch(() => res.writeHead(500).end()))
}

it("HTTP/2 through Node's compatibility layer: pseudo-headers are no headers, and the authority is the host", async () => {
  const auth = createAuth(config()).use(probe).use(nodeBinding())
  const listener: RequestListener = (req, res) => void auth.node.handler(req, res)
  const server = createServer(listener as unknown as Parameters<typeof createServer>[1])
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = connect(`http://127.0.0.1:${port}`)
  const ask = (path: string): Promise<{ text: string; cookies: string[] }> =>
    new Promise((resolve, reject) => {
      let [text, cookies]: [string, string[]] = ['', []]
      const stream = client.request({ ':path': path })
      stream.on('response', (headers) => (cookies = headers['set-cookie'] ?? []))
      stream.setEncoding('utf8').on('data', (part: string) => (text += part))
      stream.on('end', () => resolve({ text, cookies })).on('error', reject)
    })
  expect(JSON.parse((await ask('/auth/probe')).text)).toMatchObject({ url: `http://127.0.0.1:${port}/auth/probe` })
  expect((await ask('/auth/csrf?callbackUrl=/x')).cookies).toHaveLength(2)
  client.close()
  await new Promise((resolve) => server.close(resolve))
})

it('headers that a wrapper hands on as lists reach the web request, all of their values', async () => {
  const { node } = createAuth(config()).use(nodeBinding())
  const headers = { host: 'localhost', cookie: 'a=1', 'x-list': ['one', 'two'], 'x-none': undefined }
  const req = { method: 'GET', url: '/', headers, socket: {} } as unknown as IncomingMessage
  const request = node.request(req, {} as ServerResponse)
  expect([...request.headers]).toEqual([
    ['cookie', 'a=1'],
    ['host', 'localhost'],
    ['x-list', 'one, two'],
  ])
})

/** A DPoP proof counts once for a request of the host, however often bindings, guards and routes read the session of it. */
import { expressBinding } from 'authkernel/bindings/express'
import { fetchBinding } from 'authkernel/bindings/fetch'
import { type HonoAuthEnv, honoBinding } from 'authkernel/bindings/hono'
import { createWebApi } from 'authkernel/bindings/toolkit'
import { type Session, setHostRequest } from 'authkernel/kernel'
import express from 'express'
import { Hono } from 'hono'
import { expect, it } from 'vitest'
import { serve } from '../bindings/_http.ts'
import { type DpopWorld, here, world } from './_dpop.ts'

const nameOf = (session: Session | null): string => session?.user?.name ?? 'nobody'

/** Who `/things` of the app is for, and what the app answers to the same headers once more. */
async function askTwice(of: DpopWorld, at: string, ask: (url: string, init: RequestInit) => Promise<Response>, method = 'GET') {
  const { keys, tokens } = await of.app()
  const token = tokens.access_token
  const headers = {
    authorization: `DPoP ${token}`,
    dpop: await of.proof(keys, token, { htu: at, htm: method }),
    ...(method === 'POST' && { 'content-type': 'application/json' }),
  }
  const send = async () => (await ask(at, { method, headers, ...(method === 'POST' && { body: '{}' }) })).text()
  return [await send(), await send()]
}

it('over Express: middleware, guard, its check, the page and a route of authkernel', async () => {
  const of = await world()
  const auth = of.auth.use(expressBinding())
  const seen: string[] = []
  const check = async (request: Request, session: Session) => {
    seen.push(nameOf(await auth.session(request)))
    return session
  }
  const page = async (req: Parameters<typeof auth.express.session>[0], found: Session | null) => {
    seen.push(nameOf(found), nameOf(await auth.express.session(req)))
    for (let i = 0; i < 2; i++) seen.push(nameOf(await auth.session(auth.express.request(req))))
    return seen.splice(0).join()
  }
  const host = express()
    .use(auth.express.middleware)
    .get('/things', auth.express.requireSession({ check }), (req, res, next) => {
      page(req, res.locals.session ?? null).then((text) => void res.send(text), next)
    })
    .use('/auth', auth.express.handler)
  const server = await serve(host)
  try {
    expect(await askTwice(of, `${server.origin}/things`, fetch)).toEqual(['ada,ada,ada,ada,ada', '{"error":"invalid_token"}'])
    const [session, replayed] = await askTwice(of, `${server.origin}/auth/session`, fetch)
    expect([JSON.parse(session!), JSON.parse(replayed!)]).toMatchObject([{ user: { name: 'ada' } }, null])
    // The second one had the same connection, and is another request all the same.
    const parallel = await of.app()
    const token = parallel.tokens.access_token
    const headers = { authorization: `DPoP ${token}`, dpop: await of.proof(parallel.keys, token, { htu: `${server.origin}/things` }) }
    const answers = await Promise.all([1, 2, 3, 4].map(() => fetch(`${server.origin}/things`, { headers })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401])
  } finally {
    await server.close()
  }
})

it('over Hono, where a body that a middleware has read makes another web request', async () => {
  const of = await world()
  const auth = of.auth.use(honoBinding())
  const app = new Hono<HonoAuthEnv>()
    .use(async (c, next) => {
      const before = await auth.session(c.req.raw)
      await c.req.json()
      await next()
      c.header('x-before', nameOf(before))
    })
    .use(auth.hono.middleware)
    .post('/things', auth.hono.requireSession({ check: async (request) => auth.session(request) }), async (c) =>
      c.text([nameOf(c.var.session), nameOf(await auth.hono.session(c)), nameOf(await auth.session(c.req.raw))].join()),
    )
  const befores: unknown[] = []
  const ask = async (url: string, init: RequestInit) => {
    const answer = await app.request(url, init)
    befores.push(answer.headers.get('x-before'))
    return answer
  }
  expect(await askTwice(of, here, ask, 'POST')).toEqual(['ada,ada,ada', '{"error":"invalid_token"}'])
  expect(befores).toEqual(['ada', 'nobody'])
})

it('over fetch: the wrapped handler, the guard and the route', async () => {
  const of = await world()
  const auth = of.auth.use(fetchBinding())
  const page = auth.fetch.protect(
    async (request, session) => {
      const route = await auth.fetch.session(request)
      return new Response([nameOf(session), nameOf(route), nameOf(await auth.session(request))].join())
    },
    { check: async (request) => auth.session(request) },
  )
  expect(await askTwice(of, here, (url, init) => page(new Request(url, init)))).toEqual(['ada,ada,ada', '{"error":"invalid_token"}'])
})

it('over a binding of the host that makes a web request for each question', async () => {
  const of = await world()
  interface Event {
    url: string
    headers: Record<string, string>
  }
  const auth = of.auth.use({
    name: 'own',
    setup: (kernel) => ({
      own: createWebApi<Event>({ kernel: () => kernel, request: ({ url, headers }) => new Request(url, { headers }) }),
    }),
  })
  const ask = async (url: string, init: RequestInit) => {
    const event = { url, headers: init.headers as Record<string, string> }
    const check = async (request: Request) => auth.session(request)
    const found = await auth.own.guard(event, { check })
    return found instanceof Response ? found : new Response([nameOf(found), nameOf(await auth.own.session(event))].join())
  }
  expect(await askTwice(of, here, ask)).toEqual(['ada,ada', '{"error":"invalid_token"}'])
})

it('a web request made of another one with another URL, method or proof is judged by itself', async () => {
  const of = await world()
  const { keys, tokens } = await of.app()
  const token = tokens.access_token
  const request = of.asks(token, await of.proof(keys, token))
  const made = (url: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
    setHostRequest(new Request(url, { ...init, headers: { ...Object.fromEntries(request.headers), ...headers } }), request)
  expect(nameOf(await of.auth.session(request))).toBe('ada')
  expect(nameOf(await of.auth.session(setHostRequest(made(here), made(here))))).toBe('ada')
  for (const other of [
    made(`${here}/other`),
    made(here, { method: 'POST' }),
    made(here, {}, { dpop: 'x' }),
    made(here, {}, { authorization: 'DPoP x' }),
    new Request(here, { headers: request.headers }),
  ])
    expect(nameOf(await of.auth.session(other))).toBe('nobody')
})

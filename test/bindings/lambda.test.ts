/** Events as API Gateway and load balancers write them, from real HTTP requests; results go back onto the wire as those read them. */
import { type AuthConfig, createAuth } from 'authkernel'
import { LambdaAuth, type LambdaApi, lambdaBinding, type LambdaEvent, type LambdaResult } from 'authkernel/bindings/lambda'
import type { Plugin } from 'authkernel/kernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { serve, type TestServer } from './_http.ts'

type Version = '1.0' | '2.0' | 'load balancer'

/** What AWS makes of a request; documented as "payload format version" and "Lambda functions as targets". */
function eventOf(req: IncomingMessage, body: Buffer, version: Version): LambdaEvent {
  const [path = '/', ...rest] = (req.url ?? '/').split('?')
  const query = rest.join('?')
  const peer = req.socket.remoteAddress ?? ''
  const headers = {
    ...Object.fromEntries(Object.entries(req.headersDistinct).map(([name, values]) => [name, values!.join()])),
    'x-forwarded-proto': 'http',
  }
  const encoded = { body: body.length === 0 ? null : body.toString('base64'), isBase64Encoded: body.length > 0 }
  if (version === '2.0') {
    const { cookie, ...others } = headers as Record<string, string>
    return {
      version,
      rawPath: path,
      rawQueryString: query,
      ...(cookie !== undefined && { cookies: cookie.split('; ') }),
      headers: others,
      requestContext: { domainName: 'x.execute-api.example', http: { method: req.method!, sourceIp: peer } },
      ...encoded,
    }
  }
  const decoded = version === '1.0'
  const pairs = query === '' ? [] : decoded ? [...new URLSearchParams(query)] : query.split('&').map((pair) => pair.split('='))
  const parameters: Record<string, string[]> = {}
  for (const [name = '', ...value] of pairs) (parameters[name] ??= []).push(value.join('='))
  const forwarded = [req.headers['x-forwarded-for'], peer].filter(Boolean).join(', ')
  const lists = Object.fromEntries(Object.entries({ ...headers, 'x-forwarded-for': forwarded }).map(([name, value]) => [name, [value]]))
  const requestContext = decoded ? { path, identity: { sourceIp: peer } } : { elb: { targetGroupArn: 'arn' } }
  return {
    path,
    httpMethod: req.method!,
    headers: decoded ? headers : null,
    multiValueHeaders: lists,
    multiValueQueryStringParameters: parameters,
    requestContext,
    ...encoded,
  }
}

/** One that rejects, or answers nothing, is 502 at AWS; an error of the app is 500 here. */
function serveLambda(version: Version, handler: (event: LambdaEvent) => Promise<LambdaResult>): Promise<TestServer> {
  return serve((req, res) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      const result = await handler(eventOf(req, Buffer.concat(chunks), version))
      for (const [name, value] of Object.entries(result.headers ?? {})) res.setHeader(name, value)
      for (const [name, values] of Object.entries(result.multiValueHeaders ?? {})) res.setHeader(name, values)
      if (result.cookies?.length) res.setHeader('set-cookie', result.cookies)
      res.writeHead(result.statusCode).end(Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8'))
    })().catch(() => (res.headersSent ? res.destroy() : res.writeHead(500).end()))
  })
}

function appOf(auth: LambdaApi): (event: LambdaEvent) => Promise<LambdaResult> {
  const page = auth.withSession((_request, session) => Response.json(session))
  const guarded = auth.protect((_request, session) => Response.json(session))
  return async (event) => {
    const own = await auth.route(event)
    if (own) return own
    const request = auth.request(event)
    const { pathname } = new URL(request.url)
    if (pathname === '/page') return page(event)
    if (pathname === '/guarded') return guarded(event)
    if (pathname === '/login') {
      return auth.signIn(event, 'credentials', {
        fields: Object.fromEntries(new URLSearchParams(await request.clone().text())),
        redirectTo: '/in',
      })
    }
    if (pathname === '/logout') return auth.signOut(event, { redirectTo: '/out' })
    return { statusCode: 404, body: 'the host', isBase64Encoded: false }
  }
}

function apiOf(more?: AuthConfig, plugins: readonly Plugin[] = []): LambdaApi {
  const auth = createAuth(bindingConfig(more))
  for (const plugin of plugins) auth.use(plugin)
  return auth.use(lambdaBinding()).lambda
}

for (const version of ['1.0', '2.0', 'load balancer'] as const)
  testBinding({ name: `lambda, ${version}`, rootRoutes: true, start: (more, plugins) => serveLambda(version, appOf(apiOf(more, plugins))) })
testBinding({
  name: 'lambda, options by a function of the event',
  start: (more) => serveLambda('2.0', appOf(LambdaAuth(() => bindingConfig(more)))),
})

describe('events', () => {
  const base: LambdaEvent = { requestContext: { elb: {} }, path: '/auth/session', httpMethod: 'GET' }

  it('the stage of a REST API is part of what the browser sees', async () => {
    const auth = apiOf({ basePath: '/prod/auth' })
    const event = { ...base, version: '1.0', headers: { Host: 'x.example' }, requestContext: { path: '/prod/auth/session', identity: {} } }
    expect([auth.request(event).url, (await auth.handler(event)).body]).toEqual(['https://x.example/prod/auth/session', 'null'])
  })

  it('a host that is none is answered 400', async () => {
    const answer = await apiOf().handler({ ...base, headers: { host: 'x.example@evil.example' } })
    expect([answer.statusCode, answer.body]).toEqual([400, 'Bad request.'])
  })

  it('a load balancer without lists of headers passes one cookie, and several are an error that says what to switch on', async () => {
    const auth = apiOf()
    const headers = { host: 'x.example', 'x-forwarded-proto': 'https' }
    expect(await auth.handler({ ...base, headers })).toMatchObject({
      statusCode: 200,
      body: 'null',
      headers: { 'content-type': 'application/json' },
    })
    await expect(
      auth.handler({ ...base, path: '/auth/csrf', queryStringParameters: { callbackUrl: '%2Fthere' }, headers }),
    ).rejects.toThrow('lambda.multi_value_headers.enabled')
  })

  it('parameters of a load balancer arrive as they were sent', () => {
    const event = { ...base, headers: { host: 'x.example' }, multiValueQueryStringParameters: { a: ['1%262', '3'], b: [''] } }
    expect(apiOf().request(event).url).toBe('https://x.example/auth/session?a=1%262&a=3&b=')
  })

  it('bytes are sent as base64', async () => {
    const image = apiOf().withSession(() => new Response(new Uint8Array([255, 0, 128]), { headers: { 'content-type': 'image/png' } }))
    expect(await image({ ...base, version: '2.0', requestContext: { http: { method: 'GET' } } })).toMatchObject({
      body: '/wCA',
      isBase64Encoded: true,
      cookies: [],
    })
  })
})

/** What fast-check makes up: requests, tokens and discovery documents, each shrunk to the least that fails. */
import { decode, encode } from 'authkernel/jwt'
import { createAuth } from 'authkernel'
import fc from 'fast-check'
import { expect } from 'vitest'
import { LocalOp } from '../rows/_op.ts'
import { baseConfig, Client, secret } from '../_setup.ts'
import { contentTypes, cookieKeys, createTarget, headerNames, names, nasty, segments, send, type Sketch } from './_fuzz.ts'

// Milliseconds on a busy machine. What a stranger sends must not take long.
const slowest = 2_000

const text = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.base64String({ maxLength: 400 }),
)
const name = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 30 }))
const path = fc.oneof(
  fc.array(fc.constantFrom(...segments), { maxLength: 5 }).map((parts) => `/auth/${parts.join('/')}`),
  fc.webPath({ size: 'small' }).map((rest) => `/auth${rest}`),
  fc.string({ maxLength: 60 }).map((rest) => `/${encodeURI(rest.replace(/\p{Cs}/gu, ''))}`),
)
const value: fc.Arbitrary<unknown> = fc.oneof(text, text, fc.jsonValue({ maxDepth: 3 }))
const cookieName = fc.oneof(
  fc.tuple(fc.constantFrom('', '__Secure-', '__Host-'), fc.constantFrom(...cookieKeys)).map(([lead, key]) => `${lead}authkernel.${key}`),
  fc.stringMatching(/^[\w.-]{1,30}$/),
)

/** Any request, with the cookies of a signed-in user or without. */
function requests(own: readonly [string, string][], csrfToken: string): fc.Arbitrary<Sketch> {
  const cookies = fc
    .tuple(fc.subarray([...own]), fc.array(fc.tuple(cookieName, text), { maxLength: 4 }))
    .map((lists) => lists.flat() as [string, string][])
  const fields = fc
    .tuple(fc.boolean(), fc.array(fc.tuple(name, value), { maxLength: 5 }))
    .map(([honest, list]): [string, unknown][] => [...(honest ? [['csrfToken', csrfToken] as [string, unknown]] : []), ...list])
  return fc.record({
    method: fc.constantFrom('GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'),
    path,
    query: fc.array(fc.tuple(name, text), { maxLength: 4 }),
    cookies,
    headers: fc.array(fc.tuple(fc.constantFrom(...headerNames), text), { maxLength: 3 }),
    type: fc.constantFrom(...contentTypes),
    body: fc.oneof(fields, fields, text, fc.json()),
  })
}

/** No 5xx, no leak, no way off the origin, no slow answer. Answers how many requests were sent and the slowest in milliseconds. */
export async function anyRequest(strategy: 'jwt' | 'database', seed: number, numRuns: number): Promise<{ sent: number; slowest: number }> {
  const target = await createTarget(strategy, {})
  let [sent, longest] = [0, 0]
  const property = fc.asyncProperty(requests([...target.own.cookies], target.csrfToken), async (plan) => {
    const started = performance.now()
    const problem = await send(target, plan)
    const took = performance.now() - started
    sent++
    longest = Math.max(longest, took)
    if (problem) throw new Error(problem)
    if (took > slowest) throw new Error(`took ${Math.round(took)} ms`)
  })
  await fc.assert(property, { seed, numRuns, interruptAfterTimeLimit: 3_000_000 })
  return { sent, slowest: longest }
}

/** A session token that was changed anywhere signs no user in. */
export async function anyToken(seed: number, numRuns: number): Promise<void> {
  const salt = 'authkernel.session-token'
  const token = await encode({ token: { sub: '1', name: 'Ada' }, secret, salt, maxAge: 600 })
  const auth = createAuth(baseConfig())
  const changed = fc.oneof(
    fc
      .tuple(fc.nat(token.length - 1), fc.string({ minLength: 1, maxLength: 3 }))
      .map(([at, put]) => token.slice(0, at) + put + token.slice(at + 1)),
    fc.nat(token.length - 1).map((length) => token.slice(0, length)),
    fc.string({ maxLength: 40 }).map((tail) => token + tail),
    fc.array(fc.base64String({ maxLength: 80 }), { minLength: 3, maxLength: 6 }).map((parts) => parts.join('.')),
    text,
  )
  await fc.assert(
    fc.asyncProperty(changed, async (other) => {
      // The last character of base64url may have bits that mean nothing; cookies end at the first semicolon and spaces around do not count.
      if (other.slice(0, -1) === token.slice(0, -1) || other.split(';', 1)[0]!.trim() === token) return
      const claims = await decode({ token: other, secret, salt }).catch(() => null)
      expect(claims).toBeNull()
      const cookie = `${salt}=${other.replace(/[^\x20-\x7E]/g, '')}`
      expect(await auth.session(new Request('http://localhost:3000/', { headers: { cookie } }))).toBeNull()
    }),
    { seed, numRuns },
  )
}

const documentFields = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'response_types_supported',
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
  'id_token_signing_alg_values_supported',
  'authorization_response_iss_parameter_supported',
  'require_pushed_authorization_requests',
  'pushed_authorization_request_endpoint',
  'end_session_endpoint',
  'mtls_endpoint_aliases',
  '__proto__',
  'constructor',
]

/** A discovery document and a token answer with anything in them: an error page or a sign-in, in time, and nothing of the secret. */
export async function anyDocument(seed: number, numRuns: number): Promise<void> {
  const odd = fc.oneof(
    value,
    fc.webUrl(),
    fc.constantFrom('http://127.0.0.1/', 'file:///etc/passwd', 'javascript:alert(1)', 'https://op.example', 'https://op.example/token'),
  )
  const bend = fc.array(fc.tuple(fc.constantFrom(...documentFields), odd), { maxLength: 5 })
  const answer = fc.array(
    fc.tuple(fc.constantFrom('access_token', 'id_token', 'token_type', 'expires_in', 'refresh_token', 'scope', 'error'), odd),
    { maxLength: 4 },
  )
  const whole = fc.option(value, { freq: 10, nil: undefined })
  await fc.assert(
    fc.asyncProperty(bend, answer, whole, whole, async (document, tokens, insteadOfDocument, insteadOfTokens) => {
      const config = baseConfig({ deadlines: { network: 500, store: 500 } })
      const op = new LocalOp(config.runtime.now)
      config.runtime.fetch = op.fetch
      const plain = async (at: string): Promise<Record<string, unknown>> =>
        (await (await op.fetch(`https://op.example${at}`)).json()) as Record<string, unknown>
      const known = await plain('/.well-known/openid-configuration')
      const bent = Object.fromEntries([...Object.entries(known), ...document])
      op.answers['/.well-known/openid-configuration'] = () =>
        new Response(insteadOfDocument === undefined ? JSON.stringify(bent) : String(JSON.stringify(insteadOfDocument)), {
          headers: { 'content-type': 'application/json' },
        })
      if (tokens.length > 0 || insteadOfTokens !== undefined)
        op.answers['/token'] = () =>
          new Response(String(JSON.stringify(insteadOfTokens ?? Object.fromEntries(tokens))), {
            headers: { 'content-type': 'application/json' },
          })
      const auth = createAuth({ ...config, providers: [op.provider('oidc') as never] })
      const client = new Client(auth)
      const started = performance.now()
      const start = await client.post('/signin/oidc')
      const state = new URL(start.headers.get('location') ?? 'http://none/').searchParams.get('state')
      const back = await client.get(`/callback/oidc?code=c&state=${state ?? 'none'}`)
      expect(performance.now() - started).toBeLessThan(slowest)
      for (const response of [start, back]) {
        expect(response.status).toBeLessThan(500)
        const location = response.headers.get('location')
        expect(location ?? '').not.toMatch(/^(?:javascript|file|data):/i)
        expect(`${[...response.headers].join()} ${await response.text()}`).not.toContain(op.clientSecret)
      }
      expect(await client.session()).toBeNull()
      expect((Object.prototype as { polluted?: unknown }).polluted).toBeUndefined()
    }),
    { seed, numRuns },
  )
}

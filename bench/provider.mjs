/**
 * What the provider costs beside oidc-provider, in one run: `node bench/provider.mjs [rounds]`; default 60. One operation is a sign-in of a client whose consent is
 * remembered: the authorization endpoint with PKCE, then the token endpoint with a secret, an ID token and a signed access token (ES256). CPU time of all threads, the
 * lower decile of the turns. Beside it: the two signatures alone, queries of an introspection, and the same with 10,000 clients.
 */
import { mkdirSync } from 'node:fs'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundled, root } from './authkernel.mjs'
import { sideBySide } from './measure.mjs'

const rounds = Number(process.argv[2] ?? 60)
const redirect = 'https://partner.example/cb'
const secret = 's'.repeat(40)
const basic = `Basic ${Buffer.from(`partner:${secret}`).toString('base64')}`
const api = 'https://api.example/'
const require = createRequire(join(root, 'package.json'))
const inject = createRequire(require.resolve('fastify'))('light-my-request')
const { default: OidcProvider } = await import(pathToFileURL(require.resolve('oidc-provider')).href)
const { SignJWT, generateKeyPair, jwtVerify, createLocalJWKSet } = await import(
  pathToFileURL(join(root, 'node_modules/jose/dist/webapi/index.js')).href
)

const folder = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
mkdirSync(folder, { recursive: true })
const entry = `
export { createAuth } from 'authkernel'
export { verifyAccessToken } from 'authkernel/jwt'
export { adapterPlugin } from 'authkernel/plugins/adapter'
export { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
export { jwtPlugin } from 'authkernel/plugins/jwt'
export { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
`
const library = await import(await bundled(entry, `${folder}ak_provider_${Date.now().toString(36)}.mjs`))

const ours = await startOurs(0)
const many = await startOurs(10_000)
const peer = await startPeer()
const signer = await generateKeyPair('ES256')
const sign = (typ) =>
  new SignJWT({
    iss: 'http://localhost:3000/auth',
    sub: 'ada',
    aud: api,
    client_id: 'partner',
    iat: 1,
    exp: 2e9,
    jti: randomBytes(16).toString('base64url'),
  })
    .setProtectedHeader({ alg: 'ES256', typ, kid: 'k' })
    .sign(signer.privateKey)

await check()
const measured = await sideBySide(
  {
    'two signatures alone': () => Promise.all([sign('JWT'), sign('at+jwt')]),
    authkernel: () => ours.signIn(),
    'authkernel, 10,000 stored clients': () => many.signIn(),
    'oidc-provider': () => peer.signIn(),
  },
  { inFlight: 1, rounds, milliseconds: 20 },
)
for (const [name, { cpu, cpuTimes }] of Object.entries(measured))
  console.log(`${name.padEnd(36)} ${cpu.toFixed(0).padStart(6)} µs CPU  ${cpuTimes.toFixed(2).padStart(6)} × the signatures (2.5 wanted)`)

const queries = await ours.countQueries()
console.log(`introspection of an opaque token: ${queries.join(', ')} (one query for the token wanted)`)
console.log(`verifyAccessToken with given keys: ${await ours.countFetches()} requests of the network (0 wanted)`)
process.exit(0)

/** A provider in memory, with a user who is signed in and has allowed the client; `count`: further stored clients. */
async function startOurs(count) {
  const { createAuth, adapterPlugin, authorizationServerPlugin, jwtPlugin, memoryAdapter, memoryData } = library
  const store = memoryAdapter(memoryData())
  const calls = []
  const records = Object.fromEntries(
    Object.entries(store.records).map(([name, value]) => [
      name,
      typeof value === 'function'
        ? (...given) => (calls.push(`${name} ${given[1] ?? ''}`.trim()), value.apply(store.records, given))
        : value,
    ]),
  )
  const auth = createAuth({
    secret: 'a-secret-of-more-than-32-characters-for-a-bench',
    env: false,
    trustHost: true,
    throttle: false,
    session: { strategy: 'database' },
    providers: [{ id: 'credentials', type: 'credentials', name: 'Password', authorize: () => ({ id: 'ada', name: 'Ada' }) }],
  })
    .use(adapterPlugin({ ...store, records }))
    .use(jwtPlugin())
    .use(
      authorizationServerPlugin({
        clients: [{ client_id: 'partner', client_name: 'Partner', client_secret: secret, redirect_uris: [redirect] }],
        resources: [
          { resource: api, scopes: ['read'], format: 'jwt' },
          { resource: 'https://opaque.example/', scopes: ['opaque'], introspectedBy: ['partner'] },
        ],
      }),
    )
  await auth.ready()
  await store.createUser({ id: 'ada', email: 'ada@example.com', name: 'Ada', emailVerified: new Date() })
  for (let at = 0; at < count; at++)
    await auth.authorizationServer.clients.create({ client_name: `Client ${at}`, redirect_uris: [redirect] })
  const base = 'http://localhost:3000/auth'
  const cookies = new Map()
  const send = async (path, fields, headers = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const init = { headers: { ...(cookie !== '' && !headers.authorization && { cookie }), ...headers } }
    const answer = await auth.handler(
      new Request(base + path, fields ? { ...init, method: 'POST', body: new URLSearchParams(fields) } : init),
    )
    for (const line of answer.headers.getSetCookie()) cookies.set(.../^([^=]+)=([^;]*)/.exec(line).slice(1))
    return answer
  }
  const csrf = async () => (await (await send('/csrf')).json()).csrfToken
  await send('/callback/credentials', { user: 'ada', csrfToken: await csrf() })
  const flow = async (scope) => {
    const { verifier, query } = challenge(scope)
    let answer = await send(`/oauth2/authorize?${query}`)
    if (answer.status === 200) {
      const ticket = /name="ticket" value="([^"]+)"/.exec(await answer.text())[1]
      answer = await send('/oauth2/consent', { ticket, decision: 'allow', csrfToken: await csrf() })
    }
    const code = new URL(answer.headers.get('location')).searchParams.get('code')
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier }
    return (await send('/oauth2/token', form, { authorization: basic })).json()
  }
  await flow('openid read')
  await flow('openid opaque')
  return {
    auth,
    signIn: () => flow('openid read'),
    async countQueries() {
      const { access_token: token } = await flow('opaque')
      await send('/oauth2/introspect', { token }, { authorization: basic })
      calls.length = 0
      const answer = await (await send('/oauth2/introspect', { token }, { authorization: basic })).json()
      if (!answer.active) throw new Error('The token is not live.')
      return calls.slice()
    },
    async countFetches() {
      const { access_token: token } = await flow('openid read')
      let count = 0
      const jwks = await auth.jwt.jwks(new Request(base))
      await library.verifyAccessToken(token, {
        issuer: base,
        audience: api,
        algorithms: ['ES256'],
        jwks,
        fetch: () => (count++, Promise.reject(new Error('no network'))),
      })
      return count
    },
  }
}

/** oidc-provider with the same client, resource and algorithms, in memory and without a socket. */
async function startPeer() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const provider = new OidcProvider('http://localhost:3000', {
    clients: [
      {
        client_id: 'partner',
        client_secret: secret,
        redirect_uris: [redirect],
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token'],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    cookies: { keys: ['a key for the cookies of the bench'] },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'read',
          audience: api,
          accessTokenTTL: 600,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    pkce: { required: () => true },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId })
      const known = ctx.oidc.session.grantIdFor('partner')
      if (known) return ctx.oidc.provider.Grant.find(known)
      grant.addOIDCScope('openid')
      grant.addResourceScope(api, 'read')
      await grant.save()
      return grant
    },
  })
  const callback = provider.callback()
  const cookies = new Map()
  const handle = (req, res) =>
    req.url.startsWith('/interaction/') ? provider.interactionFinished(req, res, { login: { accountId: 'ada' } }) : callback(req, res)
  const send = async (method, url, payload, headers = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await inject(handle, {
      method,
      url,
      payload,
      headers: { host: 'localhost:3000', ...(cookie !== '' && { cookie }), ...headers },
    })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  const flow = async () => {
    const { verifier, query } = challenge('openid read')
    let answer = await send('GET', `/auth?${query}`)
    for (let steps = 0; steps < 4 && !answer.headers.location?.startsWith(redirect); steps++) {
      const { pathname, search } = new URL(answer.headers.location, 'http://localhost:3000')
      answer = await send('GET', pathname + search)
    }
    const code = new URL(answer.headers.location).searchParams.get('code')
    const form = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier }).toString()
    return JSON.parse(
      (await send('POST', '/token', form, { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' })).body,
    )
  }
  await flow()
  return { signIn: flow, jwks: async () => JSON.parse((await send('GET', '/jwks')).body) }
}

function challenge(scope) {
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: 'partner',
    redirect_uri: redirect,
    scope,
    state: 's',
    nonce: 'n',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(scope.includes('read') && { resource: api }),
  })
  return { verifier, query }
}

/** Both give what is measured: an ID token and a signed access token. */
async function check() {
  for (const [name, { signIn }, keys] of [
    ['authkernel', ours, await ours.auth.jwt.jwks(new Request('http://localhost:3000/auth'))],
    ['oidc-provider', peer, await peer.jwks()],
  ]) {
    const answer = await signIn()
    for (const text of [answer.id_token, answer.access_token]) {
      const { protectedHeader } = await jwtVerify(text ?? '', createLocalJWKSet(keys)).catch((error) => {
        throw new Error(`${name}: ${JSON.stringify(answer)}`, { cause: error })
      })
      if (protectedHeader.alg !== 'ES256') throw new Error(`${name} signs by ${protectedHeader.alg}.`)
    }
  }
}

/** The two requests of an app: one for a nonce, one with the token. */
import { type AuthError, type Context, HttpError, json, type Kernel, lazily, type Provider } from 'authkernel/kernel'
import { InvalidProvider } from 'authkernel/errors'
import { isCrossSite } from 'authkernel/kernel/protocols'
import type { OAuthProvider } from '../oauth/provider.ts'
import { checkNonce, issueNonce, nonceLifetime, takeNonce, toChallenge } from './nonce.ts'
import type { ResolvedProvider, ResolvedProviders } from './options.ts'

// Loaded by the first token, with jose.
const loadVerification = /* @__PURE__ */ lazily(() => import('./verify.ts'))

type Answer = (ctx: Context, provider: Provider, options: ResolvedProvider, sent: Readonly<Record<string, unknown>>) => Promise<Response>

/** `POST /signin/:provider/nonce` and `POST /signin/:provider/token`. */
export function addRoutes(kernel: Kernel, providers: ResolvedProviders): void {
  addPost(kernel, providers, 'nonce', answerNonce)
  addPost(kernel, providers, 'token', signIn)
}

/** JSON only, from a page of the same origin or from a client that is not a browser. */
function addPost(kernel: Kernel, providers: ResolvedProviders, name: 'nonce' | 'token', answer: Answer): void {
  kernel.route({
    method: 'POST',
    path: `/signin/:provider/${name}`,
    ...(name === 'token' && { flow: 'callback' as const, takes: 'proof' as const }),
    csrf: 'crossSite',
    body: { types: ['json'], bytes: 32_768 },
    failure,
    refusal: (_ctx, error) => json({ error: 'InvalidInput', message: error.message }, error.status),
    async handler(ctx) {
      if (isCrossSite(ctx)) throw new HttpError(403, 'This route answers apps and pages of the same origin.')
      const provider = await ctx.provider()
      const options = providers.get(provider.id)
      if (!options || (provider.type !== 'oidc' && options.issuer === undefined))
        throw new InvalidProvider(`Provider "${provider.id}" takes no ID tokens: \`providers\` of idTokenPlugin does not name it.`)
      return answer(ctx, provider, options, await ctx.body())
    },
  })
}

const answerNonce: Answer = async (ctx, provider, options, { challenge, clientId }) => {
  if (typeof challenge !== 'string' || !/^[\w-]{43}$/.test(challenge))
    throw new HttpError(400, '`challenge` must be the SHA-256 of a verifier of 43 to 128 characters, in base64url (RFC 7636, S256).')
  const owner = { provider: provider.id, clientId: toClientId(options, clientId), challenge }
  return json({ nonce: await issueNonce(ctx, owner), expiresIn: nonceLifetime })
}

const signIn: Answer = async (ctx, provider, options, sent) => {
  const { idToken, nonce, verifier, callbackUrl } = sent
  if (typeof idToken !== 'string' || typeof nonce !== 'string') throw new HttpError(400, '`idToken` and `nonce` must be texts.')
  const clientId = toClientId(options, sent['clientId'])
  const challenge = await toChallenge(verifier)
  if (challenge === undefined) throw new HttpError(400, '`verifier` must be the text that `challenge` was made of.')
  // Nothing is fetched, and nothing used up, for a nonce that is not ours.
  await checkNonce(ctx, nonce, { provider: provider.id, clientId, challenge })
  ctx.useCallbackUrl(typeof callbackUrl === 'string' ? callbackUrl : undefined)
  const { identifyByToken } = await loadVerification()
  const parameters = toParameters(sent['user'])
  const identity = await identifyByToken(ctx, provider as OAuthProvider, options, { idToken, nonce, clientId, parameters })
  await takeNonce(ctx, nonce, provider.id)
  const { headers } = await ctx.complete(identity)
  return json({ url: new URL(headers.get('location') ?? '/', ctx.base).href })
}

function toClientId({ audiences }: ResolvedProvider, given: unknown): string {
  if (given === undefined) return audiences[0] as string
  if (typeof given === 'string' && audiences.includes(given)) return given
  throw new HttpError(400, '`clientId` is not one of the client ids of this app.')
}

// Apple tells the app a name at the first sign-in only, and the app passes it on: unsigned, so `callback` of the provider takes no more than the name.
function toParameters(user: unknown): Record<string, string> {
  if (typeof user === 'string') return { user }
  return typeof user === 'object' && user !== null ? { user: JSON.stringify(user) } : {}
}

function failure(_ctx: Context, error: AuthError): Response {
  return json({ error: error.type }, error.status)
}

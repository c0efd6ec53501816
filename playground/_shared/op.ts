/** A real OpenID Provider on loopback, with people to sign in as and a consent step. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import OpenIDProvider from 'oidc-provider'
import { close, listen } from './listen.ts'
import { OPStore } from './op-store.ts'
import { chooserPage, consentPage, goodbyePage, logoutPage, messagePage } from './op-pages.ts'
import { avatar, people } from './people.ts'

/** An application that may send people to the provider. */
export interface OPClient {
  id: string
  secret: string
  /** Shown on the consent page. */
  name: string
  redirectUris: string[]
  /** Where sign-out may lead. */
  origins?: string[]
  /** Where logout tokens are posted to. */
  backChannel?: string
}
/** A running provider. */
export interface OP {
  issuer: string
  /** Clients may come after the start: their addresses depend on ports that are known later. */
  close(): Promise<void>
}

/** Starts the provider; `clients` is asked once the port is known. Rejects when it cannot listen. */
export async function startOP(port: number, clients: () => Promise<OPClient[]> | OPClient[]): Promise<OP> {
  let answer: (req: IncomingMessage, res: ServerResponse) => Promise<void> = async (_req, res) => void res.writeHead(503).end()
  const server = createServer((req, res) => void answer(req, res).catch((error: unknown) => fail(res, error)))
  const issuer = `http://127.0.0.1:${await listen(server, port)}`
  const provider = new OpenIDProvider(issuer, await configuration(issuer, await clients()))
  const callback = provider.callback()
  answer = (req, res) => (isOurs(req) ? interact(provider, req, res) : callback(req, res))
  return { issuer, close: () => close(server) }
}

async function configuration(issuer: string, clients: OPClient[]): Promise<Record<string, unknown>> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const hour = 3_600
  return {
    clients: clients.map(({ id, secret, name, redirectUris, origins = [], backChannel }) => ({
      client_id: id,
      client_secret: secret,
      client_name: name,
      redirect_uris: redirectUris,
      post_logout_redirect_uris: origins.flatMap((origin) => [`${origin}/`, `${origin}/auth/signed-out`]),
      ...(backChannel && { backchannel_logout_uri: backChannel, backchannel_logout_session_required: true }),
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    })),
    adapter: OPStore,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: 'playground' }] },
    cookies: { keys: [randomBytes(24).toString('hex')] },
    claims: { openid: ['sub'], profile: ['name', 'picture'], email: ['email', 'email_verified'] },
    // The ID token carries the profile, so a sign-in takes one request to the token endpoint.
    conformIdTokenClaims: false,
    findAccount: (_ctx: unknown, sub: string) => account(issuer, sub),
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource: logoutPage, postLogoutSuccessSource: goodbyePage },
    },
    // Its own dispatcher refuses loopback, where the playgrounds receive logout tokens.
    fetch: (url: string, { dispatcher: _own, ...options }: RequestInit & { dispatcher?: unknown }) => fetch(url, options),
    // Also without offline_access, so that users do not consent each time.
    issueRefreshToken: (_ctx: unknown, client: { grantTypeAllowed(type: string): boolean }) => client.grantTypeAllowed('refresh_token'),
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    renderError: (ctx: { type: string; body: string }, out: Record<string, string>) => {
      ctx.type = 'html'
      ctx.body = messagePage('This did not work', out.error_description ?? out.error ?? 'Please try again.').markup
    },
    ttl: {
      AccessToken: hour,
      AuthorizationCode: 60,
      Grant: 24 * hour,
      IdToken: hour,
      Interaction: hour,
      RefreshToken: 24 * hour,
      Session: 24 * hour,
    },
  }
}

function account(issuer: string, sub: string): unknown {
  const person = people.find((candidate) => candidate.sub === sub)
  if (!person) return undefined
  const { name, email, email_verified } = person
  return { accountId: sub, claims: async () => ({ sub, name, email, email_verified, picture: `${issuer}/people/${sub}.svg` }) }
}

function isOurs({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/interaction/') || url.startsWith('/people/') || url === '/'
}

async function interact(provider: OpenIDProvider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [, area, id, step] = (req.url ?? '').split('?')[0]!.split('/')
  if (area === 'people') return picture(res, id?.replace('.svg', ''))
  if (area === '') return page(res, messagePage('Acme ID', 'The OpenID Provider of the playground. Start at the playground itself.').markup)
  const details = await provider.interactionDetails(req, res)
  const client = await provider.Client.find(details.params.client_id ?? '')
  const app = client?.clientName ?? 'An application'
  if (req.method === 'POST') {
    const result =
      step === 'cancel'
        ? cancelled
        : step === 'login'
          ? { login: { accountId: (await form(req)).get('sub') } }
          : { consent: await grant(provider, details) }
    return provider.interactionFinished(req, res, result, { mergeWithLastSubmission: step === 'consent' })
  }
  const person = people.find(({ sub }) => sub === details.session?.accountId)
  page(res, (details.prompt.name === 'login' || !person ? chooserPage(details.uid, app) : consentPage(details.uid, app, person)).markup)
}

const cancelled = { error: 'access_denied', error_description: 'The person pressed Cancel.' }

async function grant(
  provider: OpenIDProvider,
  { grantId, session, params, prompt: { details } }: Awaited<ReturnType<OpenIDProvider['interactionDetails']>>,
): Promise<{ grantId: string }> {
  const existing = grantId === undefined ? undefined : await provider.Grant.find(grantId)
  const granted = existing ?? new provider.Grant({ accountId: session?.accountId ?? '', clientId: params.client_id ?? '' })
  if (details.missingOIDCScope) granted.addOIDCScope(details.missingOIDCScope.join(' '))
  if (details.missingOIDCClaims) granted.addOIDCClaims(details.missingOIDCClaims)
  return { grantId: await granted.save() }
}

async function form(req: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of req) if ((text += String(chunk)).length > 4_096) break
  return new URLSearchParams(text)
}

function picture(res: ServerResponse, sub: string | undefined): void {
  const person = people.find((candidate) => candidate.sub === sub)
  if (!person) return void res.writeHead(404).end()
  res
    .writeHead(200, { 'content-type': 'image/svg+xml', 'cache-control': 'max-age=3600', 'cross-origin-resource-policy': 'cross-origin' })
    .end(avatar(person))
}

function page(res: ServerResponse, markup: string, status = 200): void {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"
  res
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'content-security-policy': policy })
    .end(markup)
}

function fail(res: ServerResponse, error: unknown): void {
  if (res.headersSent) return void res.destroy()
  page(res, messagePage('This did not work', error instanceof Error ? error.message : 'Please start again.').markup, 400)
}

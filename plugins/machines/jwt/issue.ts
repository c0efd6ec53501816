/** One access token (RFC 9068) for the user or the API key of a request. */
import { AccessDenied, type AnyContext, AuthError, type Context, HttpError, type Session, toBase64Url } from 'authkernel/kernel'
import { type CallerKey, jwtIssuer, type ResolvedOptions } from './options.ts'
import { signStatement } from './statements.ts'

/** What a token is for. */
export interface AccessTokenRequest {
  /** The service that the token is for: one, so that no service can use it at another. */
  audience: string
  /** Separated by blanks, or a list. */
  scope?: string | readonly string[] | undefined
}
/** A signed token. */
export interface AccessToken {
  accessToken: string
  /** `DPoP`: it was asked for with a token that is bound to a key, and is bound to the same one. */
  tokenType: 'Bearer' | 'DPoP'
  /** Seconds since the epoch. */
  expiresAt: number
  /** Separated by blanks; what was asked for less what the user or key may not. */
  scope: string
}

const reservedClaims = [
  'iss',
  'exp',
  'aud',
  'sub',
  'client_id',
  'iat',
  'jti',
  'nbf',
  'scope',
  'auth_time',
  'acr',
  'amr',
  'cnf',
  'act',
  'may_act',
  'ses',
  'key',
]

/** Null: the request is signed out. Throws HttpError 400 for an audience or scope that no token may have, AccessDenied for a session that gets none. */
export async function issueToken(
  ctx: Context,
  options: ResolvedOptions,
  { audience, scope = [] }: AccessTokenRequest,
): Promise<AccessToken | null> {
  const session = await ctx.currentSession()
  const subject = session && (await tokenSubject(ctx, session))
  if (!session || !subject) return null
  const scopes = scopesOf(options, audience, scope)
  const allowed = await allowedScopes(ctx, options, session, { audience, scopes, limit: subject.scopes })
  const own = ownClaims(ctx, options)
  const expiresAt = Math.min(own.iat + options.maxAge, Math.floor(new Date(session.expires).getTime() / 1000))
  const more = options.claims ? await options.claims({ session, audience, ctx }) : {}
  const claims = {
    ...Object.fromEntries(Object.entries(more).filter(([name]) => !reservedClaims.includes(name))),
    ...own,
    sub: subject.sub,
    aud: audience,
    client_id: subject.client ?? options.clientId ?? own.iss,
    exp: expiresAt,
    ...(allowed.length > 0 && { scope: allowed.join(' ') }),
    ...(!subject.client && (await signInClaims(ctx))),
    // Else an app could turn a token that is bound to its key into one that every holder may use.
    ...(subject.jkt !== undefined && { cnf: { jkt: subject.jkt } }),
    ...subject.origin,
  }
  const accessToken = await signClaims(ctx, options, claims)
  return { accessToken, tokenType: subject.jkt === undefined ? 'Bearer' : 'DPoP', expiresAt, scope: allowed.join(' ') }
}

/** Throws AccessDenied when a plugin rejects the token. */
export async function signClaims(ctx: AnyContext, options: ResolvedOptions, claims: Record<string, unknown>): Promise<string> {
  if (ctx.has('hook', 'accessToken') && (await ctx.ask('accessToken', { claims })) !== true)
    throw new AccessDenied('jwt.issue: a plugin that answers the hook `accessToken` rejected the token.')
  return signStatement(ctx, options, 'at+jwt', claims)
}

/** What every token of this server says of itself. */
export function ownClaims(ctx: AnyContext, options: ResolvedOptions): { iss: string; iat: number; jti: string } {
  return { iss: jwtIssuer(ctx, options), iat: Math.floor(ctx.now.getTime() / 1000), jti: toBase64Url(ctx.runtime.random(16)) }
}

/** Whose token, and what it carries at most: of an API key, of an app, else of the user. */
interface Subject {
  sub: string
  client?: string
  scopes?: readonly string[]
  jkt?: string
  /** Claims by which the token ends with the app session (`ses`) or the key (`key`), where a resource server asks. */
  origin?: { ses: string } | { key: string }
}

/** Null: a user without an id. */
async function tokenSubject(ctx: Context, session: Session): Promise<Subject | null> {
  if ('actor' in session) throw new AccessDenied('jwt.issue: an administrator who acts as a user gets no tokens of that user.')
  // A signed token would outlive the stop of the agent, and would not count against its budget.
  if ('agent' in session) throw new AccessDenied('jwt.issue: an agent gets no tokens of its owner.')
  const key = apiKeyOf(session)
  if (key) return { sub: ownerText(key), client: key.id, scopes: key.scopes, origin: { key: key.id } }
  const { bearer } = session as { bearer?: { id: string; clientId: string; scopes: readonly string[]; jkt?: string } }
  if (session.user?.id !== undefined && bearer) {
    const { clientId: client, scopes, jkt, id: ses } = bearer
    return { sub: String(session.user.id), client, scopes, ...(jkt !== undefined && { jkt }), origin: { ses } }
  }
  // The cookie may be another user's than the one that a plugin recognized by other means.
  if (ctx.has('hook', 'authenticate') && (await ctx.ask('authenticate', {})) !== undefined)
    return session.user?.id === undefined ? null : { sub: String(session.user.id) }
  // A session whose strategy names no user is not that of a user who signed in: guests, and an admin who acts as another user.
  const user = await ctx.session.user(ctx)
  if (!user) throw new AccessDenied('jwt.issue: the session belongs to a guest or to a user who is gone: there is no token for it.')
  const id = session.user?.id ?? user.id
  return id === undefined ? null : { sub: String(id) }
}

/** The API key of a session. */
export function apiKeyOf(session: Session): CallerKey | undefined {
  return (session as { apiKey?: CallerKey }).apiKey
}

function ownerText({ id, owner }: CallerKey): string {
  const { userId, service } = (owner ?? {}) as { userId?: string; service?: string }
  return userId ?? (service === undefined ? `key:${id}` : `service:${service}`)
}

function scopesOf({ audiences, scopes }: ResolvedOptions, audience: string, scope: string | readonly string[]): string[] {
  if (typeof audience !== 'string' || audience === '' || audience.length > 500)
    throw tokenInputError('`audience` must be 1 to 500 characters.')
  if (audiences && !audiences.includes(audience)) throw tokenInputError('no token is issued for this `audience`.')
  const wanted = [...new Set(typeof scope === 'string' ? scope.split(' ').filter(Boolean) : scope)]
  for (const one of wanted) {
    // RFC 6749 section 3.3.
    const known = scopes ? scopes.includes(one) : typeof one === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(one)
    if (!known) throw tokenInputError(`the scope ${JSON.stringify(String(one).slice(0, 100))} is not one of the plugin's.`)
  }
  return wanted
}

/** A key gives its own scopes at most. */
async function allowedScopes(
  ctx: Context,
  { can }: ResolvedOptions,
  session: Session,
  { audience, scopes, limit }: { audience: string; scopes: readonly string[]; limit: readonly string[] | undefined },
): Promise<string[]> {
  const within = scopes.filter((scope) => !limit || limit.includes(scope))
  const answers = await Promise.all(within.map((scope) => !can || can({ session, audience, scope, ctx })))
  return within.filter((_, index) => answers[index] === true)
}

/** When and how the user signed in (RFC 9068 section 2.2.1), where that is known. */
async function signInClaims(ctx: Context): Promise<Record<string, unknown>> {
  const known = await ctx.session.attributes?.(ctx)
  if (!known) return {}
  return { auth_time: known.authTime, amr: Object.keys(known.methods), ...(known.acr !== undefined && { acr: known.acr }) }
}

function tokenInputError(what: string): HttpError {
  return new HttpError(400, `Access token: ${what}`, {}, new AuthError(`jwt.issue: ${what}`))
}

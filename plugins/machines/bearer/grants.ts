/** What the token endpoint gives: for a code, for a refresh token, and for what other plugins accept. */
import {
  AccessDenied,
  type AppClient,
  type AppGrant,
  type AppTokens,
  type AtomicWrite,
  type Context,
  equal,
  sha256,
  toBase64Url,
  type TokenAnswer,
} from 'authkernel/kernel'
import { AccessEnded } from 'authkernel/kernel/users'
import { appFamilies, createFamily, describeSession, endSession, type Family, readOwner, scopesOf } from './app-sessions.ts'
import { challengeAfter } from './challenge.ts'
import { readProofKey } from './dpop.ts'
import { authenticateClient, metadataMembers } from './endpoints.ts'
import { bearerIssuer, type ResolvedOptions } from './options.ts'
import { rotateRefresh } from './rotation.ts'
import type { AppSession } from './tables.ts'
import { makeAccessToken } from './tokens.ts'

const invalidGrant: TokenAnswer = { error: 'invalid_grant' }
const keyNeeded: TokenAnswer = { error: 'invalid_dpop_proof', error_description: 'This app must send a DPoP proof.' }

/** The service that other plugins decorate. */
export function createAppTokens(options: ResolvedOptions): AppTokens {
  return {
    client: (id) => options.apps.get(id),
    caller: authenticateClient,
    scopes: scopesFor,
    async grant(ctx, client, form) {
      const type = form.get('grant_type')
      if (type === null) return invalidRequest('`grant_type` is missing.')
      if (type === 'authorization_code') return fromCode(ctx, options, client, form)
      return type === 'refresh_token' ? fromRefresh(ctx, options, client, form) : { error: 'unsupported_grant_type' }
    },
    async issue(ctx, grant, together = []) {
      const jkt = await proofKeyOf(ctx, options)
      if (jkt === null && options.bound.has(grant.client.id)) return keyNeeded
      const family = await createFamily(ctx, options, grant, jkt)
      if (!(await readOwner(ctx, options, family.session))) return invalidGrant
      const writes = [...together, { record: 'appSession' as const, create: family.session }]
      return (await isGranted(ctx, grant, family, writes)) ? beginSession(ctx, options, family, grant) : invalidGrant
    },
    metadata: (ctx) => metadataMembers(ctx, options),
    challenge: (ctx, error) => challengeAfter(ctx, options, error),
  }
}

/** Without a text: all that the app may have. */
export function scopesFor(client: AppClient, scope: string | null): readonly string[] | undefined {
  const wanted = [...new Set((scope ?? '').split(' ').filter(Boolean))]
  if (wanted.length === 0) return client.scopes
  return wanted.every((one) => client.scopes.includes(one)) ? wanted : undefined
}

async function fromCode(ctx: Context, options: ResolvedOptions, client: AppClient, form: URLSearchParams): Promise<TokenAnswer> {
  const [code, verifier] = [form.get('code'), form.get('code_verifier')]
  if (!code || !verifier) return invalidRequest('`code` and `code_verifier` are needed.')
  const codes = ctx.records('appCode')
  let row: Awaited<ReturnType<typeof codes.get>> = null
  for (const id of code.length === 43 ? await ctx.digests('bearer.code', code) : []) row ??= await codes.get(id)
  if (!row) return invalidGrant
  if (row.session !== '') return endReusedCode(ctx, row.session)
  const challenge = toBase64Url(await sha256(verifier))
  const jkt = await proofKeyOf(ctx, options)
  if (jkt === null && options.bound.has(client.id)) return keyNeeded
  // RFC 7636 section 4.1: a short verifier could be found by trying.
  const fits =
    /^[\w.~-]{43,128}$/.test(verifier) &&
    row.clientId === client.id &&
    row.redirectUri === form.get('redirect_uri') &&
    equal(challenge, row.challenge)
  if (!fits || row.until <= ctx.now || (row.jkt !== null && row.jkt !== jkt)) {
    // The code was stolen: what belongs to it is missing.
    await codes.delete(row.id)
    return invalidGrant
  }
  const grant: AppGrant = { client, userId: row.userId, attributes: row.attributes, scopes: row.scopes, by: 'code', access: row.access }
  const family = await createFamily(ctx, options, grant, jkt)
  const { session } = family
  if (!(await readOwner(ctx, options, session))) return invalidGrant
  // Both or none: a process that dies in between has used up no code.
  const written = await isGranted(ctx, grant, family, [
    { record: 'appCode', update: row.id, change: { session: session.id }, if: { session: '' } },
    { record: 'appSession', create: session },
  ])
  if (written) return beginSession(ctx, options, family, grant)
  return endReusedCode(ctx, (await codes.get(row.id))?.session ?? '')
}

/** Writes an app session with what is used up for it. False: one of the writes found nothing, or access ended since it was granted. */
async function isGranted(
  ctx: Context,
  { userId, access }: AppGrant,
  { session }: Family,
  writes: readonly AtomicWrite[],
): Promise<boolean> {
  try {
    const stamp = access ?? (await ctx.access.stamp(`user:${userId}`))
    const undo = async (written: boolean | undefined): Promise<void> => {
      if (written !== false) await endSession(ctx, session, 'revoked')
    }
    return await ctx.access.grant(stamp, 'appToken', async () => (await ctx.atomic(writes)) !== false, undo)
  } catch (error) {
    if (error instanceof AccessEnded || error instanceof AccessDenied) return false
    throw error
  }
}

/** RFC 6749 section 4.1.2: a code that is used twice takes back what it gave. */
async function endReusedCode(ctx: Context, id: string): Promise<TokenAnswer> {
  await endSession(ctx, { id }, 'code')
  return invalidGrant
}

async function fromRefresh(ctx: Context, options: ResolvedOptions, client: AppClient, form: URLSearchParams): Promise<TokenAnswer> {
  const token = form.get('refresh_token')
  if (!token) return invalidRequest('`refresh_token` is needed.')
  const scope = form.get('scope')
  if (!scopesFor(client, scope)) return { error: 'invalid_scope' }
  const jkt = await proofKeyOf(ctx, options)
  if (jkt === null && options.bound.has(client.id)) return keyNeeded
  const wanted = [...new Set((scope ?? '').split(' ').filter(Boolean))]
  // Everything that can be refused is refused before the token is used up: the app may try again with the same one.
  let scopes: readonly string[] = []
  const next = await rotateRefresh(ctx, appFamilies(ctx, options), { clientId: client.id, jkt }, token, async (session) => {
    const owner = await readOwner(ctx, options, session)
    if (!owner) return invalidGrant
    if (!wanted.every((one) => session.scopes.includes(one))) return { error: 'invalid_scope' }
    scopes = await scopesOf(ctx, options, owner, wanted.length > 0 ? wanted : session.scopes)
    return undefined
  })
  if (!next) return invalidGrant
  if ('refused' in next) return next.refused
  await ctx.emit('appTokensRefreshed', describeSession(next.session))
  return answerWithTokens(ctx, options, next, scopes)
}

async function beginSession(ctx: Context, options: ResolvedOptions, family: Family, { by }: AppGrant): Promise<TokenAnswer> {
  const { session } = family
  const owner = await readOwner(ctx, options, session)
  if (!owner) return invalidGrant
  await ctx.emit('appSignedIn', { ...describeSession(session), by })
  return answerWithTokens(ctx, options, family, await scopesOf(ctx, options, owner, session.scopes))
}

async function answerWithTokens(
  ctx: Context,
  options: ResolvedOptions,
  { session, refresh }: Family,
  scopes: readonly string[],
): Promise<TokenAnswer> {
  const now = Math.floor(ctx.now.getTime() / 1000)
  const end = Math.min(now + options.tokenAge, Math.floor(session.ends.getTime() / 1000))
  return {
    access_token:
      options.format === 'jwt' ? await signAccessToken(ctx, options, session, scopes, end) : await makeAccessToken(session, scopes, end),
    token_type: session.jkt === null ? 'Bearer' : 'DPoP',
    expires_in: end - now,
    refresh_token: refresh,
    scope: scopes.join(' '),
  }
}

async function signAccessToken(
  ctx: Context,
  options: ResolvedOptions,
  { id, userId, clientId, attributes, jkt }: AppSession,
  scopes: readonly string[],
  exp: number,
): Promise<string> {
  const aud = options.audience ?? bearerIssuer(ctx, options)
  return ctx.service('accessTokens').sign(ctx, {
    sub: userId,
    aud,
    client_id: clientId,
    exp,
    ses: id,
    ...(jkt !== null && { cnf: { jkt } }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(attributes && { auth_time: attributes.authTime, amr: Object.keys(attributes.methods) }),
    ...(attributes?.acr !== undefined && { acr: attributes.acr }),
  })
}

/** The route has looked at the proof before: here it is a good one, or there is none. */
async function proofKeyOf(ctx: Context, options: ResolvedOptions): Promise<string | null> {
  const proof = await readProofKey(ctx, options)
  return 'jkt' in proof ? proof.jkt : null
}

function invalidRequest(error_description: string): TokenAnswer {
  return { error: 'invalid_request', error_description }
}

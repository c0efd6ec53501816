/** What the token endpoint gives: for a code, for a refresh token, and for what other plugins accept. */
import {
  type AppClient,
  type AppGrant,
  type AppTokens,
  type Context,
  equal,
  sha256,
  toBase64Url,
  type TokenAnswer,
} from 'authkernel/kernel'
import { clientOf } from './client.ts'
import { endSession, newSession, rotate, told } from './family.ts'
import { metadata } from './metadata.ts'
import { issuerOf, type ResolvedOptions } from './options.ts'
import { personOf, rightsOf } from './person.ts'
import type { AppSession } from './table.ts'
import { accessToken, refreshToken } from './tokens.ts'

const invalidGrant: TokenAnswer = { error: 'invalid_grant' }

/** The service that other plugins decorate. */
export function appTokens(options: ResolvedOptions): AppTokens {
  return {
    client: (id) => options.apps.get(id),
    caller: clientOf,
    scopes: scopesFor,
    async grant(ctx, client, form) {
      const type = form.get('grant_type')
      if (type === null) return invalid('`grant_type` is missing.')
      if (type === 'authorization_code') return fromCode(ctx, options, client, form)
      return type === 'refresh_token' ? fromRefresh(ctx, options, client, form) : { error: 'unsupported_grant_type' }
    },
    async issue(ctx, grant, together = []) {
      const session = await newSession(ctx, options, grant)
      if (!(await personOf(ctx, options, session))) return invalidGrant
      if (!(await ctx.atomic([...together, { record: 'appSession', create: session }]))) return invalidGrant
      return begin(ctx, options, session, grant)
    },
    metadata: (ctx) => metadata(ctx, options),
  }
}

/** Without a text: all that the app may have. */
export function scopesFor(client: AppClient, asked: string | null): readonly string[] | undefined {
  const wanted = [...new Set((asked ?? '').split(' ').filter(Boolean))]
  if (wanted.length === 0) return client.scopes
  return wanted.every((scope) => client.scopes.includes(scope)) ? wanted : undefined
}

async function fromCode(ctx: Context, options: ResolvedOptions, client: AppClient, form: URLSearchParams): Promise<TokenAnswer> {
  const [code, verifier] = [form.get('code'), form.get('code_verifier')]
  if (!code || !verifier) return invalid('`code` and `code_verifier` are needed.')
  const codes = ctx.records('appCode')
  let row: Awaited<ReturnType<typeof codes.get>> = null
  for (const id of code.length === 43 ? await ctx.digests('bearer.code', code) : []) row ??= await codes.get(id)
  if (!row) return invalidGrant
  if (row.session !== '') return reused(ctx, row.session)
  const challenge = toBase64Url(await sha256(verifier))
  const fits = row.clientId === client.id && row.redirectUri === form.get('redirect_uri') && equal(challenge, row.challenge)
  if (!fits || row.until <= ctx.now) {
    // Somebody has the code without what belongs to it.
    await codes.delete(row.id)
    return invalidGrant
  }
  const grant: AppGrant = { client, userId: row.userId, attributes: row.attributes, scopes: row.scopes, by: 'code' }
  const session = await newSession(ctx, options, grant)
  if (!(await personOf(ctx, options, session))) return invalidGrant
  // Both or none: a process that dies in between has used up no code.
  const written = await ctx.atomic([
    { record: 'appCode', update: row.id, change: { session: session.id }, if: { session: '' } },
    { record: 'appSession', create: session },
  ])
  if (written) return begin(ctx, options, session, grant)
  return reused(ctx, (await codes.get(row.id))?.session ?? '')
}

/** RFC 6749 section 4.1.2: a code that is used twice takes back what it gave. */
async function reused(ctx: Context, id: string): Promise<TokenAnswer> {
  await endSession(ctx, { id }, 'code')
  return invalidGrant
}

async function fromRefresh(ctx: Context, options: ResolvedOptions, client: AppClient, form: URLSearchParams): Promise<TokenAnswer> {
  const token = form.get('refresh_token')
  if (!token) return invalid('`refresh_token` is needed.')
  const asked = form.get('scope')
  if (!scopesFor(client, asked)) return { error: 'invalid_scope' }
  const session = await rotate(ctx, options, client.id, token)
  const person = session && (await personOf(ctx, options, session))
  if (!session || !person) return invalidGrant
  const wanted = [...new Set((asked ?? '').split(' ').filter(Boolean))]
  if (!wanted.every((scope) => session.scopes.includes(scope))) return { error: 'invalid_scope' }
  const scopes = await rightsOf(ctx, options, person, wanted.length > 0 ? wanted : session.scopes)
  await ctx.emit('appTokensRefreshed', told(session))
  return answer(ctx, options, session, scopes)
}

async function begin(ctx: Context, options: ResolvedOptions, session: AppSession, { by }: AppGrant): Promise<TokenAnswer> {
  const person = await personOf(ctx, options, session)
  if (!person) return invalidGrant
  await ctx.emit('appSignedIn', { ...told(session), by })
  return answer(ctx, options, session, await rightsOf(ctx, options, person, session.scopes))
}

async function answer(ctx: Context, options: ResolvedOptions, session: AppSession, scopes: readonly string[]): Promise<TokenAnswer> {
  const now = Math.floor(ctx.now.getTime() / 1000)
  const end = Math.min(now + options.tokenAge, Math.floor(session.ends.getTime() / 1000))
  return {
    access_token: options.format === 'jwt' ? await signed(ctx, options, session, scopes, end) : await accessToken(session, scopes, end),
    token_type: 'Bearer',
    expires_in: end - now,
    refresh_token: await refreshToken(session),
    scope: scopes.join(' '),
  }
}

async function signed(
  ctx: Context,
  options: ResolvedOptions,
  { id, userId, clientId, attributes }: AppSession,
  scopes: readonly string[],
  exp: number,
): Promise<string> {
  const aud = options.audience ?? issuerOf(ctx, options)
  return ctx.service('accessTokens').sign(ctx, {
    sub: userId,
    aud,
    client_id: clientId,
    exp,
    ses: id,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(attributes && { auth_time: attributes.authTime, amr: Object.keys(attributes.methods) }),
    ...(attributes?.acr !== undefined && { acr: attributes.acr }),
  })
}

function invalid(error_description: string): TokenAnswer {
  return { error: 'invalid_request', error_description }
}

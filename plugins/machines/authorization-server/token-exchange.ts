/** Token exchange (RFC 8693): a client gets a token of a user for itself, from one that it was sent, never with more than that one. */
import type { Context, TokenAnswer } from 'authkernel/kernel'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import { createGrant, describeGrant, writeGrant } from './grants.ts'
import { assertionTokenType, issueAssertion } from './identity-assertion-issue.ts'
import { scopesNow } from './introspection.ts'
import { canonicalResource, openidScopes, type ResolvedOptions } from './options.ts'
import { readOwner } from './rights.ts'
import type { ActClaim, OAuthGrant } from './tables.ts'
import type { GrantCall } from './token-answer.ts'
import { findLiveToken, findResource, isSignedFor, type LiveToken, makeToken } from './tokens.ts'

/** `delegation`: the new token says who acts (`act`). `impersonation`: it speaks as the user alone. */
export type ExchangeMode = 'delegation' | 'impersonation'
/** What the hook `tokenExchange` decides. */
export interface ExchangeQuestion {
  /** `client_id` of the client that asks. */
  client: string
  /** Whom the new token speaks for: `userId` is null for a client that has the token for itself. */
  subject: { userId: string | null; clientId: string; scopes: readonly string[] }
  /** Who would act: the subject of `actor_token`, else the client that asks. */
  actor: { sub: string; userId: string | null; clientId: string }
  /** `delegation`: the client brought an `actor_token`. */
  wanted: ExchangeMode
  scopes: readonly string[]
  audiences: readonly string[]
}

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const jwtType = 'urn:ietf:params:oauth:token-type:jwt'
/** Actors in one chain. A loop of services would make tokens longer each time. */
const maxActors = 8

/** Throws OAuthRefusal `invalid_request` for tokens that cannot be exchanged, `invalid_scope`, `invalid_target`, and `access_denied` when no handler allows it. */
export async function exchangeToken(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt } = call
  if (form.get('requested_token_type') === assertionTokenType) return issueAssertion(call)
  if (client.metadata.token_endpoint_auth_method === 'none')
    throw new OAuthRefusal('unauthorized_client', 'Only a client that authenticates may exchange tokens.')
  const subject = await readSubjectToken(call)
  const { grant: source } = subject
  const access = source.userId === null ? null : await ctx.access.stamp(`user:${source.userId}`)
  const held = await scopesNow(ctx, options, subject)
  if (!held) throw invalidToken('subject_token')
  const actor = await readActor(call)
  assertMayAct(source, actor.sub)
  const audiences = narrowTargets(options, subject, form)
  if (form.get('requested_token_type') === jwtType && !isSignedFor(options, client, audiences))
    throw new OAuthRefusal('invalid_request', 'This resource has no JWTs: ask for an access token.')
  const scopes = narrowScopes(options, client, held, audiences, form)
  const mode = await askPolicy(ctx, { client, source, held, actor, scopes, audiences })
  const act = mode === 'delegation' ? appendActor(actor.sub, source.act) : source.act
  const { session: fresh } = await createGrant(call, {
    userId: source.userId,
    scopes,
    audiences,
    attributes: source.attributes,
    session: '',
  })
  const ends = new Date(Math.min(fresh.ends.getTime(), ctx.now.getTime() + options.tokenAge * 1000, subject.end * 1000, actor.end * 1000))
  const grant: OAuthGrant = {
    ...fresh,
    ends,
    expires: ends,
    act,
    organizationId: fresh.organizationId ?? source.organizationId,
    parent: source.id,
    actor: actor.grantId,
    provider: source.provider,
    sub: source.sub,
    sid: source.sid,
  }
  await writeExchange(ctx, client, grant, access, [source, ...(actor.grant ? [actor.grant] : [])])
  await ctx.emit('clientTokenExchanged', { ...describeGrant(grant), from: source.clientId, actor: act?.sub ?? null })
  const made = await makeToken(ctx, options, client, grant, scopes, audiences)
  return {
    access_token: made.text,
    issued_token_type: form.get('requested_token_type') ?? accessTokenType,
    token_type: jkt === null ? 'Bearer' : 'DPoP',
    expires_in: made.seconds,
    scope: made.scopes.join(' '),
  }
}

/** The token that is exchanged. It must be one that the client got itself, or was sent as a resource server. */
async function readSubjectToken({ ctx, options, client, form, jkt, x5t }: GrantCall): Promise<LiveToken> {
  const wanted = form.get('requested_token_type')
  if (wanted !== null && wanted !== accessTokenType && wanted !== jwtType)
    throw new OAuthRefusal('invalid_request', `\`requested_token_type\` must be ${accessTokenType}.`)
  const live = await readToken(ctx, options, form, 'subject_token')
  const { grant } = live
  const isOwn = grant.clientId === client.id
  if (!isOwn && !isRecipient(options, client, live)) throw invalidToken('subject_token')
  // A token that is bound to a key gives no token that every holder may use; and the client that owns it shows that it still has the key.
  if (grant.jkt !== null && (jkt === null || (isOwn && jkt !== grant.jkt)))
    throw new OAuthRefusal('invalid_request', 'The token is bound to a key: send a DPoP proof.')
  if (live.x5t !== null && (isOwn ? x5t !== live.x5t : x5t === null && jkt === null))
    throw new OAuthRefusal('invalid_request', 'The token is bound to a certificate: send it, or a DPoP proof.')
  return live
}

interface Actor {
  sub: string
  userId: string | null
  clientId: string
  /** Null: no token, the client is the actor. */
  grant: OAuthGrant | null
  grantId: string | null
  /** Seconds since the epoch. */
  end: number
  wanted: ExchangeMode
}

async function readActor({ ctx, options, client, form, jkt, x5t }: GrantCall): Promise<Actor> {
  if (!form.has('actor_token')) {
    if (form.has('actor_token_type')) throw new OAuthRefusal('invalid_request', '`actor_token_type` stands beside `actor_token`.')
    return { sub: client.id, userId: null, clientId: client.id, grant: null, grantId: null, end: Infinity, wanted: 'impersonation' }
  }
  const live = await readToken(ctx, options, form, 'actor_token')
  const { grant, end } = live
  // Else a client that was sent a token could act as its sender.
  const isHeld = (grant.jkt === null || grant.jkt === jkt) && (live.x5t === null || live.x5t === x5t)
  if (grant.clientId !== client.id || !isHeld || !(await scopesNow(ctx, options, live))) throw invalidToken('actor_token')
  const { userId, clientId } = grant
  return { sub: userId ?? clientId, userId, clientId, grant, grantId: grant.id, end, wanted: 'delegation' }
}

async function readToken(ctx: Context, options: ResolvedOptions, form: URLSearchParams, name: string): Promise<LiveToken> {
  const [text, type] = [form.get(name), form.get(`${name}_type`)]
  if (!text || !type) throw new OAuthRefusal('invalid_request', `\`${name}\` and \`${name}_type\` are needed.`)
  if (type !== accessTokenType && type !== jwtType)
    throw new OAuthRefusal('invalid_request', `\`${name}_type\` must be ${accessTokenType}: this server exchanges its own access tokens.`)
  const live = await findLiveToken(ctx, options, text)
  if (!live || (live.grant.userId !== null && !(await readOwner(ctx, live.grant)))) throw invalidToken(name)
  return live
}

/** Whether the client is a resource server that the token is for. */
function isRecipient(options: ResolvedOptions, { id }: Client, { audiences }: LiveToken): boolean {
  return audiences.some((audience) => findResource(options, audience)?.introspectedBy.includes(id))
}

/** The token itself may name who may act (RFC 8693 section 4.4). */
function assertMayAct({ mayAct }: OAuthGrant, sub: string): void {
  if (mayAct !== null && mayAct.sub !== sub)
    throw new OAuthRefusal('invalid_request', 'The `subject_token` names another actor (`may_act`).')
}

/** Some of the audiences of the token; userinfo is not among them. */
function narrowTargets(options: ResolvedOptions, { audiences, grant }: LiveToken, form: URLSearchParams): string[] {
  const held = audiences.filter((audience) => audience !== grant.issuer)
  const names = [...form.getAll('resource'), ...form.getAll('audience')]
  const named = names.map((name) => options.resources.get(canonicalResource(name))?.resource)
  if (named.some((name) => name === undefined || !held.includes(name)))
    throw new OAuthRefusal('invalid_target', 'The token is not for this resource.')
  const wanted = named.length > 0 ? [...new Set(named as string[])] : held
  if (wanted.length === 0) throw new OAuthRefusal('invalid_target', 'The token is for no resource.')
  return wanted
}

function narrowScopes(
  options: ResolvedOptions,
  { metadata }: Client,
  held: readonly string[],
  audiences: readonly string[],
  form: URLSearchParams,
): string[] {
  const own = metadata.scope?.split(' ')
  const offered = audiences.flatMap((audience) => findResource(options, audience)?.scopes ?? [])
  const within = held.filter((scope) => !openidScopes.includes(scope) && offered.includes(scope) && (own?.includes(scope) ?? true))
  const wanted = form.get('scope')?.split(' ').filter(Boolean)
  if (wanted && !wanted.every((scope) => within.includes(scope)))
    throw new OAuthRefusal('invalid_scope', 'The token, the client or the resource does not have one of these scopes.')
  return [...new Set(wanted ?? within)]
}

interface Exchange {
  client: Client
  source: OAuthGrant
  held: readonly string[]
  actor: Actor
  scopes: readonly string[]
  audiences: readonly string[]
}

async function askPolicy(ctx: Context, { client, source, held, actor, scopes, audiences }: Exchange): Promise<ExchangeMode> {
  const { sub, userId, clientId, wanted } = actor
  const answer = ctx.has('hook', 'tokenExchange')
    ? await ctx.ask('tokenExchange', {
        client: client.id,
        subject: { userId: source.userId, clientId: source.clientId, scopes: held },
        actor: { sub, userId, clientId },
        wanted,
        scopes,
        audiences,
      })
    : undefined
  if (answer !== 'delegation' && answer !== 'impersonation')
    throw new OAuthRefusal('access_denied', 'No policy of this server allows the exchange.')
  return answer
}

/** The newest actor stands outside (RFC 8693 section 4.1). */
function appendActor(sub: string, before: ActClaim | null): ActClaim {
  let count = 1
  for (let one = before; one; one = one.act ?? null) count++
  if (count > maxActors) throw new OAuthRefusal('invalid_request', `The chain has more than ${maxActors} actors.`)
  return before ? { sub, act: before } : { sub }
}

/** In one write with the grants that it rests on: what ends one of them ends the new one, or comes first. */
async function writeExchange(
  ctx: Context,
  client: Client,
  grant: OAuthGrant,
  access: Parameters<typeof writeGrant>[3],
  rests: readonly OAuthGrant[],
): Promise<void> {
  const unchanged = [...new Map(rests.map((one) => [one.id, one])).values()].map(({ id, clientId }) => ({
    record: 'oauthGrant' as const,
    update: id,
    change: { clientId },
    if: { clientId },
  }))
  const writes = [...unchanged, { record: 'oauthGrant' as const, create: grant }]
  if (!(await writeGrant(ctx, client, grant, access, writes))) throw invalidToken('subject_token')
}

function invalidToken(name: string): OAuthRefusal {
  return new OAuthRefusal('invalid_request', `The \`${name}\` is no live token, or not one that this client may exchange.`)
}

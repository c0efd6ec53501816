/** Back-channel logout as provider (OpenID Connect Back-Channel Logout 1.0): clients learn that a session ended. */
import { type AnyContext, AuthError, boundedFetch, toBase64Url } from 'authkernel/kernel'
import { subjectFor } from './claims.ts'
import { type Client, findClient } from './clients.ts'
import type { ResolvedOptions } from './options.ts'
import type { OAuthGrant } from './tables.ts'
import { algorithmFor, sidOf } from './tokens.ts'

const event = 'http://schemas.openid.net/event/backchannel-logout'
const seconds = 120
const deadline = 5_000
const maxAnswer = 65_536

/** Sends one token for each client and session that wants one. The response of the user does not wait for the clients. */
export async function sendLogoutTokens(ctx: AnyContext, options: ResolvedOptions, grants: readonly OAuthGrant[]): Promise<void> {
  const seen = new Set<string>()
  for (const grant of grants) {
    const key = JSON.stringify([grant.clientId, grant.userId, grant.session])
    if (grant.userId === null || grant.session === '' || !grant.scopes.includes('openid') || seen.has(key)) continue
    seen.add(key)
    const client = await findHostClient(ctx, options, grant.clientId)
    const uri = client?.metadata.backchannel_logout_uri
    if (client && uri !== undefined) post(ctx, uri, await makeLogoutToken(ctx, options, client, grant, grant.userId))
  }
}

/** No client of a document: reading it would call its server. */
async function findHostClient(ctx: AnyContext, options: ResolvedOptions, id: string): Promise<Client | undefined> {
  return id.startsWith('https://') ? undefined : findClient(ctx, options, id)
}

async function makeLogoutToken(
  ctx: AnyContext,
  options: ResolvedOptions,
  client: Client,
  grant: OAuthGrant,
  userId: string,
): Promise<string> {
  const now = Math.floor(ctx.now.getTime() / 1000)
  const keys = ctx.service('signingKeys')
  // As ID tokens (Back-Channel Logout section 2.4).
  const algorithm = algorithmFor(keys, client.metadata.id_token_signed_response_alg)
  const claims = {
    iss: grant.issuer,
    sub: await subjectFor(options, client, userId),
    aud: client.id,
    iat: now,
    exp: now + seconds,
    jti: toBase64Url(ctx.runtime.random(16)),
    sid: await sidOf(grant),
    events: { [event]: {} },
  }
  return keys.sign(ctx, 'logout+jwt', claims, { algorithm })
}

/** Nothing waits for it: a client that is away delays no sign-out. */
function post(ctx: AnyContext, uri: string, token: string): void {
  boundedFetch({ fetch: ctx.runtime.fetch, deadline, limit: maxAnswer })(uri, {
    method: 'POST',
    body: new URLSearchParams({ logout_token: token }),
  })
    .then(({ status }) => {
      if (status >= 300) throw new AuthError(`Plugin "authorization-server": ${new URL(uri).host} answered a logout token with ${status}.`)
    })
    .catch((error: unknown) => ctx.logger.error(error as Error))
}

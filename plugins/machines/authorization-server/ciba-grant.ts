/** The grant of CIBA: the client polls, or was pinged, and gets the tokens of the user who allowed it (sections 10.1 and 11). */
import type { TokenAnswer } from 'authkernel/kernel'
import { findBackchannel } from './ciba-request.ts'
import { OAuthRefusal } from './errors.ts'
import { createGrant, describeGrant, writeGrant } from './grants.ts'
import { answerEarlyPoll } from './polling.ts'
import { readOwner } from './rights.ts'
import { answerWithTokens, type GrantCall, invalidGrant, narrowAudiences, narrowDetails } from './token-answer.ts'

/** Throws OAuthRefusal `authorization_pending`, `slow_down`, `expired_token`, `access_denied` and `invalid_grant`. Of several polls one gets the tokens. */
export async function redeemBackchannel(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt } = call
  const id = form.get('auth_req_id')
  if (!id) throw new OAuthRefusal('invalid_request', '`auth_req_id` is needed.')
  const row = await findBackchannel(ctx, id)
  if (!row || row.clientId !== client.id) throw invalidGrant()
  if (row.until <= ctx.now) throw new OAuthRefusal('expired_token', 'The request is too old. Ask again.')
  if (row.status === 'denied') throw new OAuthRefusal('access_denied', 'The user said no.')
  if (row.status === 'pending') throw await answerEarlyPoll(ctx, 'oauthBackchannel', row)
  const audiences = narrowAudiences(options, row.audiences, form)
  narrowDetails(row.details, form)
  const { userId, scopes, details, attributes, access } = row
  const family = await createGrant(
    ctx,
    options,
    client,
    { userId, scopes, audiences: row.audiences, details, attributes, session: '' },
    jkt,
  )
  const { session: grant } = family
  if (!(await readOwner(ctx, grant))) throw invalidGrant()
  const isWritten = await writeGrant(ctx, client, grant, access, [
    { record: 'oauthBackchannel', take: row.id, if: { status: 'approved' } },
    { record: 'oauthGrant', create: grant },
  ])
  if (!isWritten) throw invalidGrant()
  await ctx.emit('clientGranted', describeGrant(grant))
  return answerWithTokens(call, family, { scopes: grant.scopes, audiences, nonce: null })
}

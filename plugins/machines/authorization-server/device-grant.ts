/** The grant of RFC 8628 (sections 3.4 and 3.5): the device polls, and gets the tokens of the user who allowed it. */
import type { TokenAnswer } from 'authkernel/kernel'
import { findDeviceCode } from './device-request.ts'
import { OAuthRefusal } from './errors.ts'
import { createGrant, describeGrant, writeGrant } from './grants.ts'
import { answerEarlyPoll } from './polling.ts'
import { readOwner } from './rights.ts'
import { answerWithTokens, type GrantCall, invalidGrant, narrowAudiences, narrowDetails } from './token-answer.ts'

/** Throws OAuthRefusal `authorization_pending`, `slow_down`, `expired_token`, `access_denied` and `invalid_grant`. Of several polls one gets the tokens. */
export async function redeemDevice(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt } = call
  const code = form.get('device_code')
  if (!code) throw new OAuthRefusal('invalid_request', '`device_code` is needed.')
  const row = code.length === 43 ? await findDeviceCode(ctx, 'device', code) : null
  if (!row || row.clientId !== client.id) throw invalidGrant()
  if (row.until <= ctx.now) throw new OAuthRefusal('expired_token', 'The code is too old. Ask for another one.')
  if (row.status === 'denied') throw new OAuthRefusal('access_denied', 'The user said no.')
  if (row.status === 'pending') throw await answerEarlyPoll(ctx, 'oauthDeviceCode', row)
  const { id, userId, scopes, details, attributes, access } = row
  if (userId === null) throw invalidGrant()
  const audiences = narrowAudiences(options, row.audiences, form)
  narrowDetails(details, form)
  const source = { userId, scopes, audiences: row.audiences, details, attributes, session: '' }
  const family = await createGrant(ctx, options, client, source, jkt)
  const { session: grant } = family
  if (!(await readOwner(ctx, grant))) throw invalidGrant()
  const isWritten = await writeGrant(ctx, client, grant, access, [
    { record: 'oauthDeviceCode', take: id, if: { status: 'approved', userId } },
    { record: 'oauthGrant', create: grant },
  ])
  if (!isWritten) throw invalidGrant()
  await ctx.emit('clientGranted', describeGrant(grant))
  return answerWithTokens(call, family, { scopes: grant.scopes, audiences, nonce: null })
}

/** Grants of a user who answers apart from the client, which polls for the answer: CIBA (sections 10.1 and 11) and devices (RFC 8628 sections 3.4 and 3.5). */
import type { AtomicWrite, TokenAnswer } from 'authkernel/kernel'
import { countPoll, type PolledTable } from '../device-flow/limits.ts'
import { findBackchannel } from './ciba-request.ts'
import { findDeviceCode } from './device-request.ts'
import { OAuthRefusal } from './errors.ts'
import { createGrant, describeGrant, writeGrant } from './grants.ts'
import { scopesWithoutPage } from './organization-consent.ts'
import { readOwner } from './rights.ts'
import type { OAuthBackchannelRecord, OAuthDeviceCode } from './tables-polled.ts'
import { answerWithTokens, type GrantCall, invalidGrant, narrowAudiences, narrowDetails } from './token-answer.ts'

/** Throws OAuthRefusal `authorization_pending`, `slow_down`, `expired_token`, `access_denied` and `invalid_grant`. Of several polls one gets the tokens. */
export async function redeemBackchannel(call: GrantCall): Promise<TokenAnswer> {
  const { ctx } = call
  return redeem(call, await findBackchannel(ctx, readId(call, 'auth_req_id')), {
    table: ctx.records('oauthBackchannel'),
    useUp: (id) => ({ record: 'oauthBackchannel', take: id, if: { status: 'approved' } }),
  })
}

/** Throws what `redeemBackchannel` throws. */
export async function redeemDevice(call: GrantCall): Promise<TokenAnswer> {
  const { ctx } = call
  return redeem(call, await findDeviceCode(ctx, 'device', readId(call, 'device_code')), {
    table: ctx.records('oauthDeviceCode'),
    useUp: (id) => ({ record: 'oauthDeviceCode', take: id, if: { status: 'approved' } }),
  })
}

const pollTexts = { authorization_pending: 'The user has not answered.', slow_down: 'Poll less often.' }

function readId({ form }: GrantCall, name: string): string {
  const id = form.get(name)
  if (!id) throw new OAuthRefusal('invalid_request', `\`${name}\` is needed.`)
  return id
}

async function redeem(
  call: GrantCall,
  row: OAuthBackchannelRecord | OAuthDeviceCode | null,
  { table, useUp }: { table: PolledTable; useUp(id: string): AtomicWrite },
): Promise<TokenAnswer> {
  const { ctx, options, client, form } = call
  if (!row || row.clientId !== client.id) throw invalidGrant()
  if (row.until <= ctx.now) throw new OAuthRefusal('expired_token', 'The request is too old. Ask again.')
  if (row.status === 'denied') throw new OAuthRefusal('access_denied', 'The user said no.')
  if (row.status === 'pending') {
    const error = await countPoll(ctx, table, row)
    throw new OAuthRefusal(error, pollTexts[error])
  }
  const { id, userId, details, attributes, access } = row
  if (userId === null || !(await readOwner(ctx, { userId }))) throw invalidGrant()
  const audiences = narrowAudiences(options, row.audiences, form)
  narrowDetails(details, form)
  // An administrator may have taken back for all what the user allowed with it.
  const scopes = await scopesWithoutPage(ctx, options, client, userId, row.scopes)
  const source = { userId, scopes, audiences: row.audiences, details, attributes, session: '' }
  const family = await createGrant(call, source)
  const { session: grant } = family
  const isWritten = await writeGrant(ctx, client, grant, access, [useUp(id), { record: 'oauthGrant', create: grant }])
  if (!isWritten) throw invalidGrant()
  await ctx.emit('clientGranted', describeGrant(grant))
  return answerWithTokens(call, family, { scopes, audiences, nonce: null })
}

/** A code becomes the first tokens of a grant (RFC 6749 section 4.1.3). */
import type { Context, TokenAnswer } from 'authkernel/kernel'
import { readCode } from './codes.ts'
import { createGrant, describeGrant, endGrant, writeGrant } from './grants.ts'
import { readOwner } from './rights.ts'
import { answerWithTokens, type GrantCall, invalidGrant, narrowAudiences, narrowDetails } from './token-answer.ts'

/** Of several exchanges of one code at the same moment one gives tokens. */
export async function redeemCode(call: GrantCall): Promise<TokenAnswer> {
  const { ctx, options, client, form, jkt } = call
  const found = await readCode(ctx, client, form, jkt)
  if ('reused' in found) return endReused(ctx, found.reused)
  const { row } = found
  const audiences = narrowAudiences(options, row.audiences, form)
  narrowDetails(row.details, form)
  const family = await createGrant(call, row)
  const { session: grant } = family
  if (!(await readOwner(ctx, grant))) throw invalidGrant()
  // Both or none: a process that dies in between has used up no code.
  const written = await writeGrant(ctx, client, grant, row.access, [
    { record: 'oauthCode', update: row.id, change: { grant: grant.id }, if: { grant: '' } },
    { record: 'oauthGrant', create: grant },
  ])
  if (!written) return endReused(ctx, (await ctx.records('oauthCode').get(row.id))?.grant ?? '')
  await ctx.emit('clientGranted', describeGrant(grant))
  return answerWithTokens(call, family, { scopes: grant.scopes, audiences, nonce: row.nonce })
}

/** RFC 6749 section 4.1.2: a code that is used twice takes back what it gave. */
async function endReused(ctx: Context, id: string): Promise<never> {
  if (id !== '') await endGrant(ctx, id, 'code')
  throw invalidGrant()
}

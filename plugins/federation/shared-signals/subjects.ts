/** Whom a stream is about: all users of the organization, or those that the receiver added (Shared Signals Framework 1.0 section 8.1.3). */
import { type AnyContext, HttpError, type Row, sha256, toAddress, toHex } from 'authkernel/kernel'
import { isJsonObject } from 'authkernel/kernel/protocols'
import type {} from 'authkernel/plugins/organizations'
import type { SignalStreamRow } from './tables.ts'

/** Which users a stream has that the receiver said nothing of. */
export type DefaultSubjects = 'all' | 'none'

// Identifiers inside of `aliases`.
const maxAliases = 10

/** Whether the stream is about a user. */
export async function isSubject(
  ctx: AnyContext,
  stream: Row<SignalStreamRow>,
  userId: string,
  defaults: DefaultSubjects,
): Promise<boolean> {
  const chosen = await ctx.records('signalSubject').get(await rowIdOf(stream.id, userId))
  return chosen ? chosen.included : defaults === 'all'
}

/** Throws HttpError 400 for a subject that is malformed, and 404 for a user who is not of the organization of the stream. The words are the same as for an unknown user. */
export async function setSubject(ctx: AnyContext, stream: Row<SignalStreamRow>, subject: unknown, included: boolean): Promise<void> {
  const userId = await findUser(ctx, stream, subject)
  if (userId === undefined || !(await isMember(ctx, stream, userId))) throw new HttpError(404, 'There is no such subject.')
  await ctx.records('signalSubject').put({ id: await rowIdOf(stream.id, userId), streamId: stream.id, userId, included })
}

/** Undefined: there is no such user here. */
async function findUser(ctx: AnyContext, stream: Row<SignalStreamRow>, subject: unknown, depth = 0): Promise<string | undefined> {
  if (!isJsonObject(subject) || depth > 1) throw wrongSubject()
  const { format, iss, sub, id, email, identifiers, user } = subject
  if (format === 'iss_sub' && typeof iss === 'string') return iss === stream.issuer ? readId(sub) : undefined
  if (format === 'opaque') return readId(id)
  if (format === 'email' && typeof email === 'string')
    return (await ctx.store?.getUserByEmail(toAddress(email) ?? email.trim().toLowerCase()))?.id
  if (format === 'complex' || (format === undefined && user !== undefined)) return findUser(ctx, stream, user, depth + 1)
  if (format === 'aliases' && Array.isArray(identifiers) && identifiers.length <= maxAliases) {
    for (const one of identifiers) {
      const found = await findUser(ctx, stream, one, depth + 1)
      // The others may be names of the same user elsewhere.
      if (found !== undefined && (await isMember(ctx, stream, found))) return found
    }
    return undefined
  }
  if (
    typeof format === 'string' &&
    ['account', 'phone_number', 'did', 'uri', 'jwt_id', 'saml_assertion_id', 'ip-addresses'].includes(format)
  )
    return undefined
  throw wrongSubject()
}

async function isMember(ctx: AnyContext, stream: Row<SignalStreamRow>, userId: string): Promise<boolean> {
  return (await ctx.service('organizations').findMember(ctx, { ...stream, userId })) !== null
}

function readId(value: unknown): string {
  if (typeof value === 'string' && value !== '' && value.length <= 255) return value
  throw wrongSubject()
}

function wrongSubject(): HttpError {
  return new HttpError(400, '`subject` must be a subject identifier of RFC 9493, such as { "format": "email", "email": "…" }.')
}

/** One row for each user of a stream, also when two requests write it. */
async function rowIdOf(streamId: string, userId: string): Promise<string> {
  return toHex(await sha256(JSON.stringify([streamId, userId]))).slice(0, 40)
}

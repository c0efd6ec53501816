/** Who a signal is about: subject identifiers of RFC 9493 and complex subjects of the Shared Signals Framework 1.0. */
import { type AnyContext, toAddress } from 'authkernel/kernel'
import { isJsonObject, type JsonObject } from 'authkernel/kernel/protocols'
import { subOf } from './users.ts'

/** The user and the session, by their names at the sender. */
export interface Subject {
  sub?: string
  sid?: string
}
/** Who says it. */
export interface Teller {
  provider: string
  issuer: string
  /** Whether it may name users by this address, wherever in the subject the address stands. Default: by each that the user has proved. */
  speaksFor?(email: string): Promise<boolean>
}
const maxAliases = 10

/** Nothing in it: no user whom this sender has signed in here. */
export async function findSubject(ctx: AnyContext, sender: Teller, subject: JsonObject, session: boolean): Promise<Subject> {
  // RFC 9493, and the form before it, which Google sends.
  const format = String(subject['format'] ?? subject['subject_type']).replaceAll('-', '_')
  if (format === 'iss_sub') return subject['iss'] === sender.issuer ? nameIn('sub', subject['sub']) : {}
  // The id of a person, or in `session-revoked` (CAEP 1.0 section 3.1) that of a session.
  if (format === 'opaque') return { ...nameIn('sub', subject['id']), ...(session && nameIn('sid', subject['id'])) }
  if (format === 'email') return byAddress(ctx, sender, subject['email'])
  if (format === 'aliases') return firstSubject(ctx, sender, subject['identifiers'], session)
  if (format === 'complex' || format === 'undefined') return complexSubject(ctx, sender, subject)
  return {}
}

// A device, a tenant or a group cannot be told here, so the person counts.
async function complexSubject(ctx: AnyContext, sender: Teller, { user, session }: JsonObject): Promise<Subject> {
  const simple = (value: unknown): value is JsonObject => isJsonObject(value) && value['format'] !== 'complex' && 'format' in value
  const person = simple(user) ? await findSubject(ctx, sender, user, false) : {}
  if (!simple(session)) return person
  const { sid } = await findSubject(ctx, sender, session, true)
  return sid === undefined ? {} : { sid }
}

async function firstSubject(ctx: AnyContext, sender: Teller, identifiers: unknown, session: boolean): Promise<Subject> {
  if (!Array.isArray(identifiers)) return {}
  for (const identifier of identifiers.slice(0, maxAliases) as unknown[]) {
    // RFC 9493 section 3.2.8: aliases have no aliases.
    if (!isJsonObject(identifier) || identifier['format'] === 'aliases' || identifier['format'] === 'complex') continue
    const found = await findSubject(ctx, sender, identifier, session)
    if (Object.keys(found).length > 0) return found
  }
  return {}
}

/** Only a proved address, and only a user who has an account at this sender. */
async function byAddress(ctx: AnyContext, sender: Teller, email: unknown): Promise<Subject> {
  const { provider, speaksFor } = sender
  const { store } = ctx
  if (typeof email !== 'string' || email.length > 254) return {}
  if (speaksFor && !(await speaksFor(email))) return {}
  if (!store?.supports('getUserByEmail') || !store.supports('listAccountsByUserId')) return {}
  const user = await store.getUserByEmail(toAddress(email) ?? email.trim().toLowerCase())
  if (!user?.emailVerified) return {}
  for (const account of await store.listAccountsByUserId(user.id)) {
    const sub = account.provider === provider ? await subOf(ctx, sender, account) : undefined
    if (sub !== undefined) return { sub }
  }
  return {}
}

function nameIn<K extends 'sub' | 'sid'>(key: K, value: unknown): Subject {
  return typeof value === 'string' && value !== '' && value.length <= 255 ? { [key]: value } : {}
}

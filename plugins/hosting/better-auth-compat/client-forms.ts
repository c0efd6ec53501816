/** Sessions and users in the form that the client of better-auth reads. */
import { type Context, randomHex, sha256, toHex } from 'authkernel/kernel'
import type { FindRow } from './source.ts'

/** What `/get-session` answers. */
export interface SessionForms {
  session: { token: string; userId: string } & Record<string, unknown>
  user: Record<string, unknown>
}
type Row = Readonly<Record<string, unknown>>

// Of the plugins of better-auth. A column of the app is shown where the host says so, in the hook `session`.
const pluginColumns =
  'twoFactorEnabled username displayUsername role banned banReason banExpires phoneNumber phoneNumberVerified isAnonymous lastLoginMethod'.split(
    ' ',
  )
const flags = new Set(['twoFactorEnabled', 'banned', 'phoneNumberVerified', 'isAnonymous'])

/** Null: the session has ended. */
export async function describeSession(ctx: Context, findRow: FindRow, token: string): Promise<SessionForms | null> {
  const found = await ctx.service('store').getSessionAndUser(token)
  if (!found) return null
  const { session, user } = found
  const row = await findRow('session', 'token', token)
  const more = await findRow('user', 'id', user.id)
  const begun = dateOf(row['createdAt'] ?? session.createdAt) ?? ctx.now.toISOString()
  const extra = pluginColumns
    .filter((name) => more[name] !== undefined)
    .map((name) => [name, flags.has(name) ? isTrue(more[name]) : more[name]])
  return {
    session: {
      id: String(row['id'] ?? toHex(await sha256(token)).slice(0, 32)),
      token,
      userId: user.id,
      expiresAt: session.expires.toISOString(),
      createdAt: begun,
      updatedAt: dateOf(row['updatedAt']) ?? begun,
      ipAddress: row['ipAddress'] ?? null,
      userAgent: row['userAgent'] ?? null,
    },
    user: {
      id: user.id,
      name: user.name ?? '',
      email: user.email,
      emailVerified: Boolean(user.emailVerified),
      image: user.image ?? null,
      createdAt: dateOf(more['createdAt']) ?? begun,
      updatedAt: dateOf(more['updatedAt']) ?? begun,
      ...Object.fromEntries(extra),
    },
  }
}

/** A user who is not stored before the mail is opened: the same for every address. */
export function describeVisitor(ctx: Context, { email, name, image }: { email: string; name: unknown; image: unknown }): Row {
  const now = ctx.now.toISOString()
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return {
    id: randomHex(ctx.runtime, 16),
    name: text(name) ?? '',
    email: email.toLowerCase(),
    emailVerified: false,
    image: text(image),
    createdAt: now,
    updatedAt: now,
  }
}

function dateOf(value: unknown): string | undefined {
  const date = value instanceof Date ? value : typeof value === 'string' || typeof value === 'number' ? new Date(value) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function isTrue(value: unknown): boolean {
  return value === true || value === 't' || Number(value) === 1
}

/** Consents: what a user allowed a client, remembered until the user takes it back. */
import { type AnyContext, RecordConflict, type Row } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import type { OAuthConsentRow } from './tables.ts'

/** Adds scopes and audiences to what a user has allowed a client. */
export async function rememberConsent(
  ctx: AnyContext,
  { userId, clientId, name, scopes, audiences }: Pick<OAuthConsentRow, 'userId' | 'clientId' | 'name' | 'scopes' | 'audiences'>,
): Promise<void> {
  const consents = ctx.records('oauthConsent')
  const before = await findConsent(ctx, userId, clientId)
  const more = {
    scopes: union(before?.scopes, scopes),
    audiences: union(before?.audiences, audiences),
    name: name.slice(0, 100),
    used: ctx.now,
  }
  if (before) {
    await consents.update(before.id, more)
    return
  }
  try {
    await consents.create({ userId, clientId, ...more, created: ctx.now })
  } catch (error) {
    // Two tabs at once: the second adds to what the first wrote.
    if (!(error instanceof RecordConflict)) throw error
    const other = await findConsent(ctx, userId, clientId)
    if (other)
      await consents.update(other.id, { ...more, scopes: union(other.scopes, scopes), audiences: union(other.audiences, audiences) })
  }
}

/** What a user has allowed a client; null: nothing. */
export async function findConsent(ctx: AnyContext, userId: string, clientId: string): Promise<Row<OAuthConsentRow> | null> {
  return ctx.records('oauthConsent').get({ userId, clientId })
}

/** What a user has allowed, oldest first. */
export async function listConsents(ctx: AnyContext, userId: string): Promise<Row<OAuthConsentRow>[]> {
  return listRows(ctx.records('oauthConsent'), { where: { userId } })
}

/** False: the user had allowed the client nothing. */
export async function deleteConsent(ctx: AnyContext, userId: string, clientId: string): Promise<boolean> {
  return (await ctx.records('oauthConsent').take({ userId, clientId })) !== null
}

/** When the client came back. */
export async function noteConsentUse(ctx: AnyContext, userId: string, clientId: string): Promise<void> {
  const consent = await findConsent(ctx, userId, clientId)
  if (consent) await ctx.records('oauthConsent').update(consent.id, { used: ctx.now })
}

function union(before: readonly string[] | undefined, more: readonly string[]): string[] {
  return [...new Set([...(before ?? []), ...more])]
}

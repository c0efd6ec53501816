/** Passkeys stay in the table of better-auth: whether the app reads them there is seen by a look at one of them. */
import { AdapterError, type AnyContext, fromBase64, toBase64 } from 'authkernel/kernel'
import type { ImportProblem } from '../import/report.ts'
import type { SourceFields } from './source.ts'
import type { Move } from './users.ts'

/** Empty: there is none. Writes nothing. */
export async function describePasskeys({ ctx, source }: Move): Promise<ImportProblem[]> {
  const count = source.has('passkey') ? await source.count('passkey') : 0
  if (count === 0) return []
  const lacks = await findLack(ctx, (await source.pages('passkey').next()).value as SourceFields[])
  return [
    lacks === undefined
      ? { name: 'passkeys', level: 'note', count, message: `Passkeys: ${count}. They stay in their table, and sign in.` }
      : { name: 'passkeys', level: 'loss', count, message: `${count} passkeys stay behind: ${lacks}` },
  ]
}

/** What it takes to sign in with them; undefined: nothing. */
async function findLack(ctx: AnyContext, rows: readonly SourceFields[]): Promise<string | undefined> {
  if (![...ctx.app.providers.values()].some(({ type }) => type === 'webauthn'))
    return 'add the provider `passkey()` of authkernel/providers/passkey, and `betterAuthNames({ passkeys: true })`.'
  const lack = 'give `names: betterAuthNames({ passkeys: true })` to sqlAdapter.'
  const { store } = ctx
  if (!store?.supports('getAuthenticator')) return lack
  for (const row of rows.slice(0, 10)) {
    const id = toBase64(fromBase64(String(row['credentialID']).replaceAll('-', '+').replaceAll('_', '/')))
    try {
      if ((await store.getAuthenticator(id))?.userId === String(row['userId'])) return undefined
    } catch (error) {
      // The adapter's own table of passkeys is not made yet.
      if (error instanceof AdapterError) return lack
      throw error
    }
  }
  return lack
}

/** Whose account a request names, in one spelling: what limits and suspicion count by. */
import type { Context } from '../contract/context.ts'
import { countedName } from '../http/mail-address.ts'

const fields = ['email', 'username', 'identifier', 'phone', 'name', 'login']

/**
 * The names that were typed. On a route of a provider only the first field of its form counts, because only that one is checked: another field beside it
 * would dodge the count of the real one, or fill that of another person. Elsewhere all fields that name people. Empty for a GET.
 */
export async function typedNames(ctx: Context): Promise<string[]> {
  if (ctx.request.method === 'GET') return []
  // A body that cannot be read names no user; the route says what is wrong with it.
  const body = await ctx.body().catch((): Record<string, unknown> => ({}))
  const names = ctx.params['provider'] === undefined ? fields : await ownField(ctx)
  const values = names.map((name) => oneSpelling(body[name])).filter((value) => value !== '')
  return [...new Set(values)]
}

async function ownField(ctx: Context): Promise<string[]> {
  try {
    const provider = await ctx.provider()
    const form = ctx.flow(provider).form?.(provider)
    // Other steps of the flow take no name: a code, or the answer of a provider.
    if (!form || (form.post === 'callback') !== (ctx.route?.flow === 'callback')) return []
    return Object.entries(form.fields ?? {})
      .filter(([, { type }]) => type !== 'password' && type !== 'hidden')
      .map(([name]) => name)
      .slice(0, 1)
  } catch {
    return []
  }
}

function oneSpelling(value: unknown): string {
  if (value === undefined || value === null) return ''
  // JSON may wrap a name, ["ann"], which many a query reads as the name: it counts as the name.
  const text = typeof value === 'string' ? value : JSON.stringify(value).replace(/[[\]{}"]/g, '')
  return text.trim() === '' ? '' : countedName(text)
}

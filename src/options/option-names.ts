/** Finds options of a provider that its type does not know: a misspelt one would be left out in silence. */
import type { ProviderFlow } from '../contract/flow.ts'
import type { Provider } from '../contract/provider.ts'
import { didYouMean, nearest } from '../errors/did-you-mean.ts'
import { InvalidProvider } from '../errors/index.ts'

/**
 * Throws InvalidProvider for a name that is neither an option of the type nor one of the preset's own.
 * Presets and open types have further options of their own; there, only names close to a known one are refused.
 */
export function checkOptionNames(written: Provider, flow: ProviderFlow<never> | undefined): void {
  if (!flow?.options) return
  const { options, ...own } = written as Provider & { options?: object }
  const known = ['id', 'name', 'type', 'signinUrl', 'callbackUrl', 'options', ...Object.keys(flow.options)]
  const open = options !== undefined || flow.open?.(written as never) === true
  const names = options ? [...known, ...Object.keys(own)] : known
  for (const [name, value] of Object.entries(options ?? own)) {
    if (value === undefined || names.includes(name) || (open && nearest(name, names, 1 / 5) === undefined)) continue
    const who = `Provider "${(options as { id?: string } | undefined)?.id ?? own.id}" (${written.type})`
    throw new InvalidProvider(`${who} has no option "${name}".${didYouMean(name, names) || ` Its options: ${sorted(known)}.`}`)
  }
}

function sorted(names: readonly string[]): string {
  return [...new Set(names)].sort().join(', ')
}

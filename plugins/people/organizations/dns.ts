/** Looking for TXT records, and what a public suffix is. */
import { AuthError, withTimeout } from 'authkernel/kernel'
import type { DomainOptions } from './options.ts'

/** Under the domain, so that records of others are not in the way. */
export function recordName(domain: string): string {
  return `_authkernel.${domain}`
}
export function recordText(value: string): string {
  return `authkernel-domain=${value}`
}

/** `unknown`: the servers did not answer, which says nothing. */
export async function findRecord(
  { resolveTxt = resolveSystemTxt }: DomainOptions,
  domain: string,
  value: string,
): Promise<'there' | 'gone' | 'unknown'> {
  try {
    const records = await withTimeout(resolveTxt(recordName(domain)), 5000, () => new Error('DNS did not answer within 5 seconds.'))
    return records.some((parts) => parts.join('') === recordText(value)) ? 'there' : 'gone'
  } catch (error) {
    return ['ENOTFOUND', 'ENODATA'].includes((error as { code?: string }).code ?? '') ? 'gone' : 'unknown'
  }
}

async function resolveSystemTxt(name: string): Promise<string[][]> {
  const { resolveTxt } = await import('node:dns/promises')
  return resolveTxt(name)
}

/** Whether every user may register a name below it. Throws AuthError when nothing can tell. */
export async function isPublicDomain({ isPublicSuffix = isListedSuffix }: DomainOptions, domain: string): Promise<boolean> {
  return (await isPublicSuffix(domain)) !== false
}

async function isListedSuffix(domain: string): Promise<boolean> {
  const { getPublicSuffix } = await importTldts()
  return getPublicSuffix(domain, { allowPrivateDomains: true }) === domain
}

async function importTldts(): Promise<typeof import('tldts')> {
  try {
    return await import('tldts')
  } catch (error) {
    throw new AuthError(
      'organizationsPlugin needs tldts to reject public suffixes such as co.uk: npm install tldts, or give `domains.isPublicSuffix`.',
      { cause: { err: error as Error } },
    )
  }
}

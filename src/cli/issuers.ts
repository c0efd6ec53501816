/** Asks the issuers of an app's OpenID Providers for their discovery documents, as the first sign-in would. */
import type { Provider } from 'authkernel/kernel'
import type { Finding } from './report.ts'

const patience = 5_000

/** What is wrong with the issuers; all are asked at once. */
export async function askIssuers(providers: Iterable<Provider>, fetch: typeof globalThis.fetch): Promise<Finding[]> {
  const answers = await Promise.all([...providers].map((provider) => (provider.type === 'oidc' ? askIssuer(provider, fetch) : [])))
  return answers.flat()
}

async function askIssuer(provider: Provider & { type: 'oidc' }, fetch: typeof globalThis.fetch): Promise<Finding[]> {
  const { id, issuer, wellKnown } = provider
  const url = wellKnown ?? (issuer ? `${issuer.replace(/(?<!\/)\/+$/, '')}/.well-known/openid-configuration` : undefined)
  if (url === undefined) return []
  const finding = (message: string): Finding[] => [{ level: 'error', code: 'issuer', message: `Provider "${id}": ${message}` }]
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(patience),
      redirect: 'manual',
      headers: { Accept: 'application/json' },
    })
    if (!response.ok) return finding(`${url} answered ${response.status}. Check the option \`issuer\`.`)
    const { issuer: said } = (await response.json()) as { issuer?: string }
    // Issuers with a tenant in a template say so themselves.
    return issuer === undefined || said === issuer || said?.includes('{')
      ? []
      : finding(`${url} calls itself ${JSON.stringify(said)}, the option \`issuer\` says ${JSON.stringify(issuer)}.`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return finding(`${url} does not answer (${reason}). Check the address, the network and the certificate.`)
  }
}

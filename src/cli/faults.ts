/** What stops an app: mistakes of the configuration, missing packages and tables, no address. */
import type { Auth, AuthError, Context } from 'authkernel/kernel'
import type { Finding } from './report.ts'

/** What `auth.ready()` throws, each fault on its own; a store that does not answer is one, too. */
export async function findFaults(auth: Auth): Promise<Finding[]> {
  try {
    await auth.ready()
    return []
  } catch (error) {
    const { fault } = auth.inspect()
    if (fault !== undefined) return [{ level: 'error', code: 'configuration', message: fault }]
    const errors = ((error as AuthError).cause?.['errors'] as Error[] | undefined) ?? [error as Error]
    return errors.map((each) => ({ level: 'error', code: codeOf(each), message: each.message }))
  }
}

function codeOf({ cause }: Error): string {
  return (cause as AuthError['cause'])?.['remedy'] === 'migrate' ? 'migrate' : 'missing'
}

/** Without an address that counts, requests of other machines get status 500: a mistake in production, and worth a warning before. */
export function findUnreachable(ctx: Context, env: Record<string, string | undefined>): Finding[] {
  const { settings, config } = ctx.app
  if (settings.origin !== '' || config.trustHost || ctx.has('hook', 'settings') || (config.allowedHosts && config.trustHost !== false))
    return []
  const isLocalOnly = config.trustHost === undefined
  const message =
    `The app has no address: ${isLocalOnly ? 'every request that does not come to localhost' : 'every request'} gets status 500 UntrustedHost. ` +
    'Set AUTH_URL=https://your-app.example in the environment of the server, or list `allowedHosts`. ' +
    'Behind a proxy that checks the Host header, AUTH_TRUST_HOST=true will do.'
  return [{ level: isLocalOnly && env['NODE_ENV'] !== 'production' ? 'warning' : 'error', code: 'origin', message }]
}
